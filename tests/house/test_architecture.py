"""The walks of docs/architecture.md lead through files that are there, and are short."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
# At most so many files each; the first two are one line of Python.
WALKS = {"A value": 5, "A gradient": 5, "A question": 12, "A verdict": 20}


def section(title: str) -> str:
    return TEXT.split(f"## {title}")[1].split("\n## ")[0]


@pytest.mark.parametrize("title", WALKS)
def test_a_walk_is_short_and_its_files_are_there(title: str) -> None:
    steps = re.findall(r"^\d+\. (.*?):", section(title), re.M)
    files = [name for step in steps for name in re.findall(r"`([^`]+)`", step)]
    assert len(files) == len(set(files)) > 0
    assert len(files) <= WALKS[title]
    for name in re.findall(r"`([a-z_/]+(?:\.py|/))`", section(title)):
        inside = [ROOT / "src" / "whygrad" / name, ROOT / "src" / "whygrad" / "doctor" / name,
                  ROOT / "src" / "whygrad" / "why" / name]  # fmt: skip
        assert any(each.exists() for each in inside), name


def test_every_room_is_in_the_table() -> None:
    rooms = set(re.findall(r"`([a-z_]+)/?`", section("Rooms")))
    package = ROOT / "src" / "whygrad"
    missing = {each.parent.name for each in package.glob("*/__init__.py")} - rooms
    assert missing == set()
