"""What the programs of the course say: the same in both languages, and nothing in vain."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from whygrad.learn.content import phrases

ROOT = Path(__file__).parents[2]
SOURCES = {
    "drill": ("src/whygrad/cli/drill.py", "src/whygrad/learn/drill/*.py"),
    "journal": ("src/whygrad/cli/course.py",),
    "lab": ("src/whygrad/cli/lab.py", "src/whygrad/learn/lab/*.py"),
    "pages": ("scripts/mirrors.py",),
    "quiz": (
        "src/whygrad/cli/quiz.py",
        "src/whygrad/learn/quiz/*.py",
        "src/whygrad/learn/quiz/page/*.js",
    ),
}
MADE_UP = {  # keys that the program puts together: of a kind, an ending, a topic
    "drill": r"$",
    "journal": r"$",
    "lab": r"(forbidden|state|trouble|unequal)_",
    "pages": r"about_",
    "quiz": r"(how|kind|ask|stopped|topic|move)_",
}


@pytest.mark.parametrize("part", SOURCES)
def test_both_languages_have_the_same_details_in_every_phrase(part: str) -> None:
    english, spanish = phrases(part, "en"), phrases(part, "es")
    for key in english:
        details = [sorted(re.findall(r"\{(\w+)\}", each[key])) for each in (english, spanish)]
        assert details[0] == details[1], key


@pytest.mark.parametrize("part", SOURCES)
def test_no_phrase_is_left_over(part: str) -> None:
    paths = [path for pattern in SOURCES[part] for path in ROOT.glob(pattern)]
    text = "".join(path.read_text(encoding="utf-8") for path in paths)
    keys = [key for key in phrases(part, "en") if not re.match(MADE_UP[part], key)]
    assert [key for key in keys if not re.search(rf"[\"']{key}[\"']", text)] == []
