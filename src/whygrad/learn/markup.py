"""The notation of the course's texts and its renderings.

A text is made of paragraphs (separated by an empty line), lists (lines that begin with ``- ``) and
fenced programs; inside a line stand ```code```, ``**strong**``, ``*stressed*`` and ``$maths$``.  It
is parsed once, so that no rendering (terminal, HTML, Markdown, Anki) sees the others' special
characters.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from whygrad.learn.mathtext import unicode_math

if TYPE_CHECKING:
    from rich.console import Group, RenderableType
    from rich.text import Text

__all__ = [
    "Block",
    "Span",
    "Style",
    "fenced",
    "parse",
    "to_anki",
    "to_html",
    "to_markdown",
    "to_plain",
    "to_screen",
    "to_terminal",
]

Style = Literal["plain", "code", "strong", "stressed", "math"]
_SPAN = re.compile(
    r"``(?P<code2>.+?)``|`(?P<code>[^`]+)`"
    r"|(?<![\w*])\*\*(?P<strong>\S(?:.*?[^\s*])??)\*\*(?![\w*])"
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
    language: str = ""  # of a program, as written after its fence


def parse(source: str) -> tuple[Block, ...]:
    """The blocks of a text."""
    blocks: list[Block] = []
    at = 0
    for fence in _FENCE.finditer(source):
        blocks += _prose(source[at : fence.start()])
        blocks.append(Block("program", (Span("code", fence[2].rstrip("\n")),), fence[1]))
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


def _spans(text: str, outside: Style = "plain") -> tuple[Span, ...]:
    """The pieces of a line; inside a stressed one, code and maths keep their own style."""
    spans: list[Span] = []
    at = 0
    for found in _SPAN.finditer(text):
        if found.start() > at:
            spans.append(Span(outside, _unescaped(text[at : found.start()])))
        style = found.lastgroup
        if style == "strong":
            spans += _spans(found[style], "strong")
        elif style == "stressed":
            spans += _spans(found[style], "stressed")
        elif style == "math":
            spans.append(Span("math", found[style]))
        else:
            spans.append(Span("code", found["code"] or found["code2"].strip()))
        at = found.end()
    if at < len(text):
        spans.append(Span(outside, _unescaped(text[at:])))
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


_TERMINAL: Mapping[Style, str] = {
    "plain": "",
    "code": "cyan",
    "strong": "bold",
    "stressed": "italic",
    "math": "italic",
}


def to_terminal(source: str) -> Text:
    """For rich, as one text that can stand in a line or in a table."""
    from rich.text import Text

    out = Text()
    blocks = parse(source)
    for number, block in enumerate(blocks):
        if number:
            out.append("\n" if _is_tight(blocks[number - 1], block) else "\n\n")
        if block.kind == "item":
            out.append("• ")
        if block.kind == "program":
            lines = block.spans[0].text.splitlines()
            out.append("\n".join(f"    {line}" for line in lines), _TERMINAL["code"])
        else:
            out.append(_line(block))
    return out


def to_screen(source: str) -> Group:
    """For rich, over the whole width: lists hang, programs have colours."""
    from rich.console import Group
    from rich.padding import Padding
    from rich.syntax import Syntax
    from rich.table import Table

    shown: list[RenderableType] = []
    blocks = parse(source)
    for number, block in enumerate(blocks):
        if number and not _is_tight(blocks[number - 1], block):
            shown.append("")
        if block.kind == "item":
            grid = Table.grid()
            grid.add_column(no_wrap=True)
            grid.add_column(overflow="fold")
            grid.add_row("• ", _line(block))
            shown.append(grid)
        elif block.kind == "program":
            language = "text" if block.language == "text" else "python"
            code = Syntax(block.spans[0].text, language, theme="ansi_dark", word_wrap=True)
            shown.append(Padding(code, (0, 0, 0, 4)))
        else:
            shown.append(_line(block))
    return Group(*shown)


def _is_tight(before: Block, block: Block) -> bool:
    """Whether no empty line belongs between the two."""
    return block.kind == "item" and before.kind in ("item", "paragraph")


def _line(block: Block) -> Text:
    from rich.text import Text

    return Text.assemble(
        *(
            (unicode_math(span.text) if span.style == "math" else span.text, _TERMINAL[span.style])
            for span in block.spans
        )
    )


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


_MARKDOWN_SIGNS = re.compile(r"[\\`*_\[<$]|~(?=~)|&(?=#?\w+;)")


def to_markdown(source: str) -> str:
    """For a page on a code host: maths as Unicode, which every viewer shows."""
    out: list[str] = []
    blocks = parse(source)
    for number, block in enumerate(blocks):
        if number:
            tight = block.kind == "item" and blocks[number - 1].kind == "item"
            out.append("\n" if tight else "\n\n")
        if block.kind == "program":
            out.append(fenced(block.spans[0].text, "text" if block.language == "text" else "py"))
            continue
        line = "".join(map(_markdown_span, block.spans))
        if start := re.match(r"(?:[#>+-]+|\d+[.)])(?=\s)", line):
            line = line[: start.end() - 1] + "\\" + line[start.end() - 1 :]
        out.append(f"- {line}" if block.kind == "item" else line)
    return "".join(out)


def fenced(program: str, language: str) -> str:
    """A program between fences that are longer than any inside it.

    ``py`` has the colours of ``python`` and is not run by the tests of the documents.
    """
    longest = max((len(run) for run in re.findall(r"`{3,}", program)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{program.rstrip()}\n{fence}"


def _markdown_span(span: Span) -> str:
    if span.style == "code":
        fence = "``" if "`" in span.text else "`"
        room = " " if span.text.startswith("`") or span.text.endswith("`") else ""
        return f"{fence}{room}{span.text}{room}{fence}"
    text = unicode_math(span.text) if span.style == "math" else span.text
    text = _MARKDOWN_SIGNS.sub(lambda sign: f"\\{sign[0]}", text)
    if span.style in ("strong", "stressed"):
        mark = "**" if span.style == "strong" else "*"
        inner = text.strip()
        return text.replace(inner, f"{mark}{inner}{mark}", 1) if inner else text
    return text
