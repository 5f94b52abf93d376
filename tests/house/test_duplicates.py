"""No long run of lines stands twice in the source, and the script that says so sees one."""

from __future__ import annotations

from pathlib import Path

from scripts.duplicates import LONGEST, repeats


def test_no_run_of_lines_stands_twice() -> None:
    found = repeats()
    assert not found, "\n".join(map(str, found))


def _written(folder: Path, name: str, lines: list[str]) -> None:
    (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")


def test_a_planted_run_is_found_whole(tmp_path: Path) -> None:
    run = [f"line_{number} = {number}" for number in range(LONGEST + 3)]
    _written(tmp_path, "a.py", ["first = 1", *run, "last = 1"])
    _written(tmp_path, "b.py", ["other = 1", "if other:", *(f"    {each}" for each in run)])
    (found,) = repeats(tmp_path)
    assert found.length == LONGEST + 3
    assert (found.first.file.name, found.first.number) == ("a.py", 2)
    assert (found.second.file.name, found.second.number) == ("b.py", 3)


def test_short_runs_and_imports_are_no_matter(tmp_path: Path) -> None:
    names = [f"    name_{number}," for number in range(2 * LONGEST)]
    run = [f"line_{number} = {number}" for number in range(LONGEST)]
    for file in "ab":
        _written(tmp_path, f"{file}.py", ["from m import (", *names, ")", f"{file} = 1", *run])
    assert not repeats(tmp_path)
