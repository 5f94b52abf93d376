"""The report as Markdown, for an issue or a pull request."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from whygrad.doctor.report.blocks import (
    Block,
    Code,
    Figure,
    Fold,
    Headline,
    Items,
    Label,
    Section,
    Table,
    Text,
)

__all__ = ["block_text", "escaped", "markdown"]

_SPECIAL = re.compile(r"([\\*\[\]<>|#]|(?<!\w)_|_(?!\w))")
_CODE = re.compile(r"(`[^`]+`)")


def markdown(title: str, sections: Iterable[Section]) -> str:
    """The whole report."""
    paragraphs = [f"# whygrad doctor: {escaped(title)}"]
    for section in sections:
        paragraphs.append(f"## {section.title}")
        for block in section.blocks:
            paragraphs += block_text(block)
    return "\n\n".join(paragraphs) + "\n"


def block_text(block: Block, language: str = "") -> Iterator[str]:
    """The paragraphs of a block; ``language`` is that of code, if it is not to be guessed."""
    match block:
        case Headline():
            yield f"### {escaped(block.title)}"
            rule = [f"`{block.rule}`"] if block.rule else []
            yield " · ".join([*rule, *map(escaped, block.facts)])
        case Text():
            yield f"_{escaped(block.text)}_" if block.faint else escaped(block.text)
        case Label():
            yield f"**{escaped(block.text)}**"
        case Items():
            yield "\n".join(_items(block))
        case Code():
            if block.caption:
                yield escaped(block.caption)
            yield _code(block, language)
        case Table():
            yield _table(block)
            if block.caption:
                yield f"_{escaped(block.caption)}_"
        case Fold():
            yield f"<details><summary>{escaped(block.title)}</summary>"
            for each in block.blocks:
                yield from block_text(each, language)
            yield "</details>"
        case Figure():
            yield f"_{escaped(block.description)}_"


def _items(block: Items) -> Iterator[str]:
    for at, item in enumerate(block.items):
        bullet = f"{at + 1}." if block.numbered else "-"
        text = escaped(item)
        yield f"{bullet} **{text}**" if at in block.marked else f"{bullet} {text}"


def _code(block: Code, language: str) -> str:
    diff = any(line.kind in ("added", "removed") for line in block.lines)
    numbered = any(line.number is not None for line in block.lines)
    lines = []
    for line in block.lines:
        head = f"{'>' if line.kind == 'marked' else ' '} {line.number:>4} " if numbered else ""
        lines.append(f"{head}{line.text}".rstrip())
    language = language or ("diff" if diff else "text" if numbered else "python")
    fence = "````" if any("```" in line for line in lines) else "```"
    return "\n".join((f"{fence}{language}", *lines, fence))


def _table(block: Table) -> str:
    rows = ["| " + " | ".join(map(escaped, block.head)) + " |"]
    sides = (":---" if at in block.words else "---:" for at in range(len(block.head)))
    rows.append("| " + " | ".join(sides) + " |")
    for at, row in enumerate(block.rows):
        cells = [f"**{escaped(cell)}**" if at in block.marked else escaped(cell) for cell in row]
        rows.append("| " + " | ".join(cells) + " |")
    return "\n".join(rows)


def escaped(text: str) -> str:
    """Text that Markdown shows as it is; code in backticks stays code."""
    pieces = _CODE.split(text)
    return "".join(
        piece if at % 2 else _SPECIAL.sub(r"\\\1", piece) for at, piece in enumerate(pieces)
    )
