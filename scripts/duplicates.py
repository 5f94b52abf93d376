"""Find code that stands twice: ``python -m scripts.duplicates``.

Lines are compared without their indent; imports and ``__all__`` are left out, and what is generated
(stubs, tables of names) is not looked at.  A run of more than :data:`LONGEST` equal lines is one
place too many: it wants to be a function, a base class or a table.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

__all__ = ["LONGEST", "Repeat", "main", "repeats"]

SOURCE = Path(__file__).parent.parent / "src" / "whygrad"
LONGEST = 12  # lines that may stand twice
GENERATED = ("whygrad/ops/late_names.py",)


class Line(NamedTuple):
    file: Path
    number: int
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.number}"


class Repeat(NamedTuple):
    """Two runs of equal lines, by their first lines."""

    first: Line
    second: Line
    length: int

    def __str__(self) -> str:
        return f"{self.length} lines: {self.first}  and  {self.second}"


def repeats(folder: Path = SOURCE) -> list[Repeat]:
    """Every run of more than :data:`LONGEST` lines that stands twice, the longest first."""
    lines = [line for file in sorted(folder.rglob("*.py")) for line in _code(file)]
    window = LONGEST + 1
    seen: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for start in range(len(lines) - window + 1):
        if lines[start].file == lines[start + window - 1].file:
            seen[tuple(line.text for line in lines[start : start + window])].append(start)
    pairs = {(places[0], each) for places in seen.values() for each in places[1:]}
    found = []
    for first, second in pairs:
        if (first - 1, second - 1) not in pairs:  # where the run begins
            length = window
            while (first + length - LONGEST, second + length - LONGEST) in pairs:
                length += 1
            found.append(Repeat(lines[first], lines[second], length))
    return sorted(found, key=lambda each: (-each.length, each.first, each.second))


def _code(file: Path) -> Iterator[Line]:
    """The lines without their indent, and without blocks of imports and ``__all__``."""
    if file.as_posix().endswith(GENERATED):
        return
    inside = ""  # what closes the block that is left out
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        text = line.strip()
        if inside:
            inside = "" if text.startswith(inside) else inside
        elif text.startswith(("import ", "from ", "__all__ ")):
            inside = ")" if text.endswith("(") else "]" if text.endswith("[") else ""
        else:
            yield Line(file, number, text)


def main() -> int:
    """Print them; fail if there are any."""
    found = repeats()
    for each in found:
        print(each)
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
