"""Lines of the learner's files: short enough for an 80-column terminal, or nearly so.

Texts are kept in lab.yaml without regard to where they will stand; here they are broken anew, at
words, for the place where they do.  What has a form of its own (tables, code, aligned columns)
keeps its lines.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator

__all__ = ["COLUMNS", "above", "broken", "markdown"]

_README = 80
COLUMNS = 88
_FENCE = re.compile(r"\s*```")
_ITEM = re.compile(r"\s*(?:[-*]|\d+\.) +")
_FORMED = re.compile(r"\s*(?:[#|>]|<!--)|    ")  # headings, tables, quotes, code
_ALIGNED = re.compile(r"\S {2,}\S|^ |^- ")


def markdown(text: str) -> str:
    """A README with its paragraphs and list items broken anew."""
    return "\n".join(_markdown_lines(text.split("\n")))


def _markdown_lines(lines: list[str]) -> Iterator[str]:
    waiting: list[str] = []
    is_code = False
    for line in lines:
        item = _ITEM.match(line)
        continues = waiting and not item and line.strip() and not _FENCE.match(line)
        formed = _FORMED.match(line) and not (continues and line.startswith(" "))
        if is_code or _FENCE.match(line) or not line.strip() or formed:
            yield from _paragraph(waiting)
            waiting = []
            is_code ^= bool(_FENCE.match(line))
            yield line
        else:
            if item:
                yield from _paragraph(waiting)
                waiting = []
            waiting.append(line)
    yield from _paragraph(waiting)


def _paragraph(lines: list[str]) -> list[str]:
    if not lines:
        return []
    sign = _ITEM.match(lines[0])
    first = sign[0] if sign else lines[0][: len(lines[0]) - len(lines[0].lstrip())]
    text = " ".join([lines[0][len(first) :].strip(), *map(str.strip, lines[1:])])
    return _wrapped(text, _README, first, " " * len(first))


def broken(text: str, before: str, lead: str, after: str) -> str:
    """A text that stands after ``before`` in its line; further lines begin with ``lead``.

    ``after`` follows it in the same line if it ends there.  A paragraph that fits stays as it is.
    """
    paragraphs = text.strip("\n").split("\n\n")
    lines: list[str] = []
    for number, paragraph in enumerate(paragraphs):
        start = lead if number else before
        lines += [lead.rstrip()] if number else []
        written = paragraph.split("\n")
        placed = [start + written[0], *(lead + line for line in written[1:])]
        closing = len(after) if len(paragraphs) == len(written) == 1 else 0
        if max(map(len, placed)) <= COLUMNS - closing:
            lines += placed
        elif any(_ALIGNED.search(line) for line in written):
            for place, line in enumerate(written):
                indent = lead + line[: len(line) - len(line.lstrip())]
                first = indent if place else start
                lines += _wrapped(line.strip(), COLUMNS, first, f"{indent}  ")
        else:
            joined = " ".join(line.strip() for line in written)
            found = _wrapped(joined, COLUMNS, start, lead)
            # what would just fit without the closing quotes is broken as well
            lines += found if len(found) > 1 else _wrapped(joined, COLUMNS - closing, start, lead)
    return "\n".join(line.rstrip() for line in lines).removeprefix(before)


def above(line: str, comment: str) -> str:
    """A line of code with its comment after it or, where there is no room, above it."""
    whole = f"{line}  # {comment}"
    if len(whole) <= COLUMNS and "\n" not in comment:
        return whole
    lead = line[: len(line) - len(line.lstrip())] + "# "
    return f"{lead}{broken(comment, lead, lead, '')}\n{line}"


def _wrapped(text: str, columns: int, first: str, further: str) -> list[str]:
    lines = textwrap.wrap(
        _kept_together(text),
        columns,
        initial_indent=first,
        subsequent_indent=further,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace("\0", " ") for line in lines]


def _kept_together(text: str) -> str:
    """``code`` is not broken over two lines."""
    return re.sub(r"`[^`]+`", lambda found: found[0].replace(" ", "\0"), text)
