"""Labs 2 to 5: classic mistakes fail the check that is about them, and the message names them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from whygrad import Value
from whygrad.learn.lab import Bench, Check, find
from whygrad.learn.lab.bench import Check as Verdict
from whygrad.learn.language import LANGUAGES, Language

SEED = 7


def first_failing(
    name: str, folder: Path, *changes: tuple[str, str], language: Language = "en"
) -> Verdict:
    """The first verdict that is not a pass, for the solution with some of its lines changed."""
    lab = find(name)
    files = lab.solution(language)
    for old, new in changes:
        homes = [file for file, text in files.items() if old in text]
        assert len(homes) == 1, f"{old!r} is in {homes}"
        files[homes[0]] = files[homes[0]].replace(old, new)
    for file, text in files.items():
        (folder / file).write_text(text, encoding="utf-8")
    bench = Bench(lab, folder, language, SEED)
    checks = lab.grader().grade(bench)
    return next((check for check in checks if not check.passed), Check("none", True))


Mistake = tuple[str, str, str, str]  # what is replaced, by what, the check that fails, its message

BY_HAND: dict[str, Mistake] = {
    "the 2 of the square": (
        '"dL/du": 14',
        '"dL/du": 7',
        "square-numbers",
        "dL/du: the 2 of the square is missing",
    ),
    "the outer slope alone": (
        '"dL/dx": du * w',
        '"dL/dx": du',
        "square",
        "dL/dx: that is what arrives at the product",
    ),
    "the factor itself": (
        '"dL/dw": du * x',
        '"dL/dw": du * w',
        "square",
        "dL/dw: in a product the slope of each factor is the other factor",
    ),
    "one path lost": ("return x + x + 1", "return x + x", "twice", "dy/dx: a path is missing"),
    "a product of slopes": ("return x + x + 1", "return 1 * 1 + 1", "twice", "not the product"),
    "overwritten": ("(a + a)\n", "a\n", "twice", "dy/da: a path is missing"),
    "the last path of the diamond": (
        '"dL/da": 4,',
        '"dL/da": 10,',
        "diamond-numbers",
        "dL/da: a path is missing",
    ),
    "a minus lost": ('"dL/dc": de - df', '"dL/dc": de + df', "diamond", "c stands with a minus"),
    "a number left out": ('"L": -20,', '"L": None,', "diamond-numbers", "DIAMOND still has None"),
    "finite differences": (
        "    return x + x + 1",
        "    y = lambda x: x * x + x\n    return (y(x + 1) - y(x - 1)) / 2",
        "by-hand",
        "something is called or imported",
    ),
}
MISTAKES = {
    f"{lab}: {title}": (lab, *each)
    for lab, table in {"by-hand": BY_HAND}.items()
    for title, each in table.items()
}


@pytest.mark.parametrize(("lab", "old", "new", "check", "words"), MISTAKES.values(), ids=MISTAKES)
def test_mistake(tmp_path: Path, lab: str, old: str, new: str, check: str, words: str) -> None:
    verdict = first_failing(lab, tmp_path, (old, new))
    assert verdict.id == check
    assert words in verdict.message


def test_by_hand_shows_target_and_yours_of_the_wrong_part(tmp_path: Path) -> None:
    verdict = first_failing("by-hand", tmp_path, ('"dL/db": du}', '"dL/db": 0}'), language="es")
    assert verdict.message.startswith("dL/db: es una entrada como las demás")
    assert verdict.difference is not None
    assert verdict.difference.place == "dL/db"
    assert verdict.difference.yours == 0
    assert "from by_hand import square" in verdict.example


def test_by_hand_does_without_engines(tmp_path: Path) -> None:
    change = ("SQUARE = {", "from whygrad import Value\n\nSQUARE = {")
    verdict = first_failing("by-hand", tmp_path, change)
    assert (verdict.id, verdict.kind) == ("square-numbers", "forbidden")
    assert "whygrad" in verdict.message


def test_by_hand_names_the_line_that_calls(tmp_path: Path) -> None:
    change = ("return x + x + 1", "return pow(x, 1) * 2 + 1")
    verdict = first_failing("by-hand", tmp_path, change)
    assert verdict.id == "by-hand"
    assert re.fullmatch(r"by_hand\.py:\d+: pow\(x, 1\)", verdict.where)


def test_the_example_of_by_hand() -> None:
    first, second = Value(5.0), Value(5.0)
    s = first + 3
    q = s * second
    q.backward()
    assert (s.data, q.data) == (8, 40)
    assert (s.grad, second.grad, first.grad) == (5, 8, 5)
    for language in LANGUAGES:
        readme = find("by-hand").readme[language]
        for claim in ("s = m1 + 3 = 8", "q = s·m2 = 40", "dq/ds = m2 = 5", "dq/dm = 5 + 8 = 13"):
            assert claim in readme
