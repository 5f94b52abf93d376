"""Lines of the user's program, and advice that is one."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from itertools import groupby

from whygrad.doctor.report.blocks import Block, Code, CodeLine, Text
from whygrad.doctor.report.words import is_code
from whygrad.source import Where

__all__ = ["advice", "excerpt"]

_AROUND = 2  # lines before and after


def excerpt(where: Where | None, caption: str = "") -> Code | None:
    """The lines around a place, that one marked; None if they cannot be read any more."""
    if where is None:
        return None
    source, line = where.source, where.line
    if not 0 < line <= len(source):
        return None
    first = max(1, line - _AROUND)
    shown = source[first - 1 : line + _AROUND]
    texts = textwrap.dedent("".join(each.expandtabs(4) for each in shown)).splitlines()
    # blank lines at the ends say nothing
    numbered = [
        CodeLine(text.rstrip(), at, "marked" if at == line else "")
        for at, text in enumerate(texts, first)
    ]
    while numbered and not numbered[0].text:
        numbered.pop(0)
    while numbered and not numbered[-1].text:
        numbered.pop()
    return Code(tuple(numbered), caption)


def advice(text: str) -> list[Block]:
    """Sentences as paragraphs, programs and diffs as code.

    Code is what stands between fences, is indented by four, is a line of a diff (``+ …``, ``- …``),
    or is nothing but a program.
    """
    lines = textwrap.dedent(text).strip().splitlines()
    if is_code("\n".join(lines)):
        return [_code(lines)]
    blocks: list[Block] = []
    for kind, group in groupby(_classified(lines), key=lambda each: each[0]):
        found = [line for _, line in group]
        if kind == "code":
            blocks.append(_code(found))
        elif kind == "prose":
            blocks.append(Text(" ".join(line.strip() for line in found)))
    return blocks


def _classified(lines: list[str]) -> Iterator[tuple[str, str]]:
    """Each line with what it is: code, prose, or a gap between paragraphs."""
    adds = any(line.startswith("+ ") for line in lines)
    fenced = False
    for line in lines:
        if line.lstrip().startswith("```"):
            fenced = not fenced
            yield "gap", line
        elif fenced or line.startswith(("+ ", "    ")) or is_code(line.strip()):
            yield "code", line
        elif line.startswith("- "):  # of a diff, or of a list of sentences
            yield "code" if adds or is_code(line[2:].strip()) else "prose", line
        else:
            yield "prose" if line.strip() else "gap", line


def _code(lines: list[str]) -> Code:
    is_diff = any(line.startswith(("+ ", "- ")) for line in lines)
    if not is_diff:
        lines = textwrap.dedent("\n".join(lines)).splitlines()
    kinds = {"+": "added", "-": "removed"} if is_diff else {}
    return Code(tuple(CodeLine(line.rstrip(), None, kinds.get(line[:1], "")) for line in lines))
