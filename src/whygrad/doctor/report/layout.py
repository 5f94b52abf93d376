"""A report set in lines of a given width.

A line is a list of spans, a span is text and the name of a style.  Without the styles it is plain
text; the terminal printer gives the styles colours.  Setting the lines here and not there means
that the report is the same with and without colour, and with and without rich.
"""

from __future__ import annotations

import re
import textwrap
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

__all__ = ["Line", "cut_front", "plain", "set_lines"]

Span = tuple[str, str]
Line = list[Span]

_CODE = re.compile(r"`([^`]+)`")
_SMALLEST = 40  # columns; on narrower paper lines are cut off by whoever shows them
_INDENT = 2
_NAME = 14  # letters of a name at the head of a column of numbers, at least
_MARKS = {"healthy": "✓", "open": "?"}  # of a headline that stands in one line


def plain(sections: Iterable[Section], width: int = 80) -> str:
    """The report as text without any style."""
    lines = ("".join(text for text, _ in line).rstrip() for line in set_lines(sections, width))
    return "\n".join(lines) + "\n"


def set_lines(sections: Iterable[Section], width: int) -> Iterator[Line]:
    """All lines of a report."""
    width = max(width, _SMALLEST)
    for at, section in enumerate(sections):
        if at:
            yield []
        if section.key != "verdict":
            yield _ruled(section.title, width)
        yield from _blocks(section.blocks, width)


def _ruled(title: str, width: int) -> Line:
    return [("── ", "rule"), (title, "title"), (" " + "─" * (width - len(title) - 4), "rule")]


def _blocks(blocks: Iterable[Block], width: int) -> Iterator[Line]:
    before: Block | None = None
    for block in blocks:
        if before is not None and _apart(before, block):
            yield []
        yield from _block(block, width)
        before = block


def _apart(before: Block, block: Block) -> bool:
    """Whether an empty line belongs between two blocks."""
    if isinstance(before, Label) or (isinstance(before, Headline) and before.mood in _MARKS):
        return False
    return not (isinstance(before, (Items, Text)) and type(before) is type(block))


def _block(block: Block, width: int) -> Iterator[Line]:
    match block:
        case Headline():
            yield from _headline(block, width)
        case Text():
            yield from _wrapped(block.text, width, "faint" if block.faint else "")
        case Label():
            yield [(block.text, "label")]
        case Items():
            yield from _items(block, width)
        case Code():
            yield from _code(block, width)
        case Table():
            yield from _table(block, width)
        case Fold():
            yield [(block.title, "label")]
            yield from _blocks(block.blocks, width)
        case Figure():
            yield from _wrapped(block.description, width, "")


def _headline(block: Headline, width: int) -> Iterator[Line]:
    if block.mood in _MARKS:
        title = f"{_MARKS[block.mood]} {block.title} · {' · '.join(block.facts)}"
        yield from _wrapped(title, width, block.mood)
        return
    yield from _wrapped(f"✗ {block.title}", width, block.mood)
    rule = [f"[{block.rule}]"] if block.rule else []
    facts = " · ".join([*rule, *block.facts])
    yield from _wrapped(facts, width, "faint", _INDENT)


def _items(block: Items, width: int) -> Iterator[Line]:
    for at, item in enumerate(block.items):
        bullet = f"{at + 1:>2}. " if block.numbered else "  · "
        style = "marked" if at in block.marked else ""
        lines = list(_wrapped(item, width, style, len(bullet)))
        lines[0][0] = (bullet, style or "faint")
        yield from lines


def _wrapped(text: str, width: int, style: str, indent: int = 0) -> Iterator[Line]:
    """A paragraph in lines; what stands in backticks keeps its style over line ends."""
    margin: Span = (" " * indent, "")
    pieces = _CODE.split(text)
    bare = "".join(pieces)
    is_code = [at % 2 == 1 for at, piece in enumerate(pieces) for _ in piece]
    at = 0
    for row in textwrap.wrap(bare, width - indent, break_on_hyphens=False) or [""]:
        at = bare.index(row[:1], at) if row else at
        line: Line = [margin]
        for letter, code in zip(row, is_code[at : at + len(row)], strict=True):
            wanted = "code" if code else style
            if len(line) > 1 and line[-1][1] == wanted:
                line[-1] = (line[-1][0] + letter, wanted)
            else:
                line.append((letter, wanted))
        at += len(row)
        yield line


def _code(block: Code, width: int) -> Iterator[Line]:
    if block.caption:
        yield from _wrapped(block.caption, width, "faint", _INDENT)
    digits = max((len(str(line.number)) for line in block.lines if line.number), default=0)
    for line in block.lines:
        style = line.kind or "source"
        if line.number is None:
            for piece in _folded(line.text, width - 4):
                yield [("    ", ""), (piece, style)]
        else:
            head = f"{'  > ' if line.kind == 'marked' else '    '}{line.number:>{digits}} │ "
            margin = "marked" if line.kind == "marked" else "faint"
            yield [(head, margin), (_cut(line.text, width - len(head)), style)]


def _folded(text: str, width: int) -> list[str]:
    """A line of code on as many lines as it takes: advice is to be copied, so nothing is cut."""
    return textwrap.wrap(
        text,
        width,
        subsequent_indent="    ",
        replace_whitespace=False,
        drop_whitespace=False,
        break_on_hyphens=False,
    ) or [""]


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: max(1, width - 1)] + "…"


def cut_front(text: str, width: int) -> str:
    """Of a path or a dotted name the end tells more."""
    return text if len(text) <= width else "…" + text[len(text) - width + 1 :]


def _table(block: Table, width: int) -> Iterator[Line]:
    columns = _columns_that_fit(block, width)
    widths = {column: _width(block, column) for column in columns}
    _squeeze(widths, block, width)
    yield _row(block, columns, widths, block.head, "head")
    for at, row in enumerate(block.rows):
        yield _row(block, columns, widths, row, "marked" if at in block.marked else "")
    caption = [block.caption] if block.caption else []
    left_out = len(block.head) - len(columns)
    if left_out:
        caption.append(f"no room for {left_out} more column{'' if left_out == 1 else 's'}")
    if caption:
        yield from _wrapped("; ".join(caption), width, "faint", _INDENT)


def _width(block: Table, column: int) -> int:
    return max(len(row[column]) for row in (block.head, *block.rows))


def _least(block: Table, column: int) -> int:
    """How narrow a column may become: long names are cut, numbers are not."""
    if column in block.words:
        return _width(block, column)
    return max(min(len(block.head[column]), _NAME), *(len(row[column]) for row in block.rows))


def _columns_that_fit(block: Table, width: int) -> list[int]:
    columns = list(range(len(block.head)))
    for expendable in block.expendable:
        if sum(_least(block, column) + 2 for column in columns) <= width:
            break
        columns.remove(expendable)
    return columns


def _squeeze(widths: dict[int, int], block: Table, width: int) -> None:
    """Narrow the widest columns until the rows fit."""
    while sum(each + 2 for each in widths.values()) > width:
        widest = max(widths, key=lambda column: widths[column])
        if widths[widest] <= 4:
            return
        widths[widest] -= 1


def _row(
    block: Table, columns: list[int], widths: dict[int, int], cells: tuple[str, ...], style: str
) -> Line:
    line: Line = []
    for column in columns:
        text = cut_front(cells[column], widths[column])
        words = column in block.words
        text = text.ljust(widths[column]) if words else text.rjust(widths[column])
        line.append(("  " + text, style))
    return line
