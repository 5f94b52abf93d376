"""The notation of the course's texts and its renderings.

A text is made of paragraphs (separated by an empty line), lists (lines that begin with ``- ``) and
fenced programs; inside a line stand ```code```, ``**strong**``, ``*stressed*`` and ``$maths$``.  It
is parsed once, so that no rendering (terminal, HTML, Anki) sees the others' special characters.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from whygrad.learn.mathtext import unicode_math

if TYPE_CHECKING:
    from rich.text import Text

__all__ = ["Block", "Span", "parse", "to_anki", "to_html", "to_plain", "to_terminal"]

Style = Literal["plain", "code", "strong", "stressed", "math"]
_SPAN = re.compile(
    r"``(?P<code2>.+?)``|`(?P<code>[^`]+)`|\*\*(?P<strong>.+?)\*\*"
    r"|(?<![\w*])\*(?P<stressed>[^*\s](?:[^*]*[^*\s])?)\*(?![\w*])|(?<!\\)\$(?P<math>[^$]+)\$"
)
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```\s*$", re.S | re.M)


@dataclass(frozen=True)
class Span:
    style: Style
    text: str


@dataclass(frozen=True)
class Block:
    """A paragraph, one item of a list, or a program (whose single span is its text)."""

    kind: Literal["paragraph", "item", "program"]
    spans: tuple[Span, ...]


def parse(source: str) -> tuple[Block, ...]:
    """The blocks of a text."""
    blocks: list[Block] = []
    at = 0
    for fence in _FENCE.finditer(source):
        blocks += _prose(source[at : fence.start()])
        blocks.append(Block("program", (Span("code", fence[2].rstrip("\n")),)))
        at = fence.end()
    return (*blocks, *_prose(source[at:]))


def _prose(source: str) -> list[Block]:
    blocks: list[Block] = []
    for paragraph in re.split(r"\n\s*\n", source.strip()):
        for part in re.split(r"\n(?=- )", paragraph):
            text = " ".join(part.split())
            if text.startswith("- "):
                blocks.append(Block("item", _spans(text[2:])))
            elif text:
                blocks.append(Block("paragraph", _spans(text)))
    return blocks


def _spans(text: str) -> tuple[Span, ...]:
    spans: list[Span] = []
    at = 0
    for found in _SPAN.finditer(text):
        if found.start() > at:
            spans.append(Span("plain", _unescaped(text[at : found.start()])))
        style = found.lastgroup or "plain"
        inner = found[style]
        spans.append(Span("code" if style == "code2" else style, inner))  # type: ignore[arg-type]
        at = found.end()
    if at < len(text):
        spans.append(Span("plain", _unescaped(text[at:])))
    return tuple(spans)


def _unescaped(text: str) -> str:
    return text.replace(r"\$", "$")


def to_plain(source: str) -> str:
    """Without any styling, maths as Unicode."""
    lines = []
    for block in parse(source):
        text = "".join(unicode_math(s.text) if s.style == "math" else s.text for s in block.spans)
        lines.append(("- " if block.kind == "item" else "") + text)
    return "\n".join(lines)


def to_terminal(source: str) -> Text:
    """For rich."""
    from rich.text import Text

    styles = {"plain": "", "code": "cyan", "strong": "bold", "stressed": "italic", "math": "italic"}
    out = Text()
    blocks = parse(source)
    for number, block in enumerate(blocks):
        if number:
            tight = block.kind == "item" and blocks[number - 1].kind in ("item", "paragraph")
            out.append("\n" if tight else "\n\n")
        if block.kind == "item":
            out.append("• ")
        for span in block.spans:
            text = unicode_math(span.text) if span.style == "math" else span.text
            if block.kind == "program":
                text = "\n".join("    " + line for line in text.splitlines())
            out.append(text, styles[span.style])
    return out


def to_html(source: str) -> str:
    """For a page of ours: maths as Unicode, so that the page needs nothing else."""
    return _as_html(
        source, lambda formula: f'<span class="math">{html.escape(unicode_math(formula))}</span>'
    )


def to_anki(source: str) -> str:
    """For a field of an Anki note: HTML with maths for MathJax."""
    return _as_html(source, lambda formula: rf"\({html.escape(formula)}\)")


def _as_html(source: str, math: Callable[[str], str]) -> str:
    tags = {"code": "code", "strong": "strong", "stressed": "em"}
    out: list[str] = []
    inside_list = False
    for block in parse(source):
        if (block.kind == "item") != inside_list:
            out.append("</ul>" if inside_list else "<ul>")
            inside_list = not inside_list
        text = "".join(
            math(span.text)
            if span.style == "math"
            else html.escape(span.text)
            if span.style == "plain"
            else f"<{tags[span.style]}>{html.escape(span.text)}</{tags[span.style]}>"
            for span in block.spans
        )
        frame = {"paragraph": f"<p>{text}</p>", "item": f"<li>{text}</li>"}
        out.append(frame.get(block.kind, f"<pre>{text}</pre>"))
    if inside_list:
        out.append("</ul>")
    return "".join(out)
