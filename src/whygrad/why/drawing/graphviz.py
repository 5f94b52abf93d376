"""The same picture as source for Graphviz."""

from __future__ import annotations

import re
import shutil
import subprocess
from xml.sax.saxutils import escape

from whygrad.why.drawing.amounts import number
from whygrad.why.drawing.content import MOST, Picture, compose
from whygrad.why.drawing.layout import flows_down
from whygrad.why.drawing.look import INK, PAPER, Look, card_look, wire_look
from whygrad.why.flow import Flow

__all__ = ["run_dot", "source", "to_dot"]

_SECONDS = 60  # for the dot program
_TYPE = {"fontname": "Helvetica", "fontsize": "11", "fontcolor": INK}


def to_dot(flow: Flow, *, most: int = MOST) -> str:
    """The flow in the DOT language, for Graphviz and whatever else reads it."""
    return source(compose(flow, most))


def source(picture: Picture) -> str:
    """Cards as boxes, wires as edges, the legend as the graph's label."""
    lines = [
        "digraph {",
        f"  rankdir={'TB' if flows_down(picture) else 'LR'};",
        f"  graph {_attributes(label=_legend(picture), labelloc='b', bgcolor=PAPER, **_TYPE)};",
        f"  node {_attributes(shape='box', **_TYPE)};",
        f"  edge {_attributes(**_TYPE)};",
    ]
    for index, card in enumerate(picture.cards):
        look = card_look(card, picture.scale)
        kinds = ["filled", *(["rounded"] if look.rounded else []), *_pattern(look)]
        lines.append(
            f"  b{index} "
            + _attributes(
                label="\n".join([card.title, *card.lines]),
                tooltip=card.hint,
                style=",".join(kinds),
                fillcolor=look.fill,
                color=look.stroke,
                penwidth=f"{look.thickness:g}",
                peripheries="2" if look.double else "1",
            )
            + ";"
        )
    for wire in picture.wires:
        look = wire_look(wire, picture.scale)
        lines.append(
            f"  b{wire.source} -> b{wire.consumer} "
            + _attributes(
                label="" if wire.label is None else f" {wire.label} ",
                style=",".join(_pattern(look)) or "solid",
                color=look.stroke,
                penwidth=f"{look.thickness:g}",
            )
            + ";"
        )
    return "\n".join([*lines, "}"]) + "\n"


def _pattern(look: Look) -> list[str]:
    return [] if look.pattern == "solid" else [look.pattern]


def _attributes(**values: str) -> str:
    return "[" + ", ".join(f"{name}={_quoted(value)}" for name, value in values.items()) + "]"


def _quoted(text: str) -> str:
    """Within quotes Graphviz reads backslash escapes, and HTML entities in labels."""
    plain = text.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;")
    return '"' + plain.replace("\n", "\\n") + '"'


def _legend(picture: Picture) -> str:
    lines = [picture.title]
    if picture.left_out is not None:
        lines.append(f"{picture.left_out}; dotted: by way of them")
    lines.append("arrows: forward; numbers on them: what flowed back")
    if picture.scale is not None:
        low, high = number(picture.scale.low), number(picture.scale.high)
        lines.append(f"the darker, the larger: {low} to {high}, log scale")
    lines.append("grey: exactly 0; dashed: not computed; yellow: NaN or inf")
    lines.append("round: leaf; double border: backward started here; thick border: asked about")
    return "\n".join(lines)


def run_dot(picture: Picture, kind: str) -> bytes | None:
    """What the ``dot`` program makes of it; None if there is none or it does not manage."""
    program = shutil.which("dot")
    if program is None:
        return None
    try:
        done = subprocess.run(
            [program, f"-T{kind}"],
            input=source(picture).encode(),
            capture_output=True,
            timeout=_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    if kind != "svg":
        return done.stdout
    words = f"<title>{escape(picture.title)}</title><desc>{escape(picture.summary)}</desc>"
    text = done.stdout.decode("utf-8", "replace")
    opened = re.sub(
        r"<svg\b([^>]*)>", lambda tag: f'<svg role="img"{tag[1]}>{words}', text, count=1
    )
    return opened.encode()
