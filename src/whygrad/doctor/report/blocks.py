"""What a report is made of, whoever prints it.

A report is a list of sections, a section a list of blocks.  The text, Markdown and HTML printers
all walk the same blocks, so they cannot say different things.  In the text of a block, `backticks`
mark code; that is the only markup.
"""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["Block", "Code", "CodeLine", "Figure", "Fold", "Headline", "Items", "Label", "Legend",
           "Section", "Table", "Text"]  # fmt: skip


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    text: str
    faint: bool = False


@dataclass(frozen=True)
class Label:
    """A small heading inside a section: what the blocks after it are."""

    text: str


@dataclass(frozen=True)
class Headline:
    """What is wrong, in one line, and where."""

    title: str
    rule: str
    facts: tuple[str, ...] = ()  # place, step, certainty
    mood: str = "cause"  # or "healthy", "open", "unclear"


@dataclass(frozen=True)
class Items:
    """A list of sentences."""

    items: tuple[str, ...]
    numbered: bool = False
    marked: frozenset[int] = frozenset()  # places of those that matter most


@dataclass(frozen=True)
class CodeLine:
    text: str
    number: int | None = None
    kind: str = ""  # "marked", "added", "removed"


@dataclass(frozen=True)
class Code:
    """Lines of a program, numbered if they are an excerpt."""

    lines: tuple[CodeLine, ...]
    caption: str = ""


@dataclass(frozen=True)
class Table:
    """Cells as text."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""
    marked: frozenset[int] = frozenset()  # rows that matter most
    words: frozenset[int] = frozenset()  # columns of words: set to the left
    expendable: tuple[int, ...] = ()  # columns that narrow paper can do without, least needed first


@dataclass(frozen=True)
class Legend:
    """What a colour of a figure stands for; ``tone`` is a CSS class of the style sheet."""

    name: str
    tone: str


@dataclass(frozen=True)
class Figure:
    """A drawing, and the sentence that stands for it where it cannot be seen."""

    title: str
    svg: str
    description: str
    legend: tuple[Legend, ...] = ()


@dataclass(frozen=True)
class Fold:
    """Blocks that are closed at first, where paper can be folded."""

    title: str
    blocks: tuple[Block, ...]


Block = Text | Label | Headline | Items | Code | Table | Figure | Fold


@dataclass(frozen=True)
class Section:
    key: str  # "verdict", "timeline", …
    title: str
    blocks: tuple[Block, ...] = field(default=())
