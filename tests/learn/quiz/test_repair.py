"""A repair as it is shown: what goes and what comes, without what only programs read."""

from __future__ import annotations

from dataclasses import replace

from tests.learn.quiz.course import fixture_quiz
from whygrad.learn.quiz.repair import repair

BUG = next(question for question in fixture_quiz().questions if question.kind == "bug")


def test_lines_left_out_are_marked() -> None:
    lines = [f"line {number}" for number in range(1, 21)]
    changed = ["first", *lines[1:19], "last"]
    shown = repair(replace(BUG, code="\n".join(lines), fix="\n".join(changed)))
    assert shown.splitlines() == [
        "-line 1", "+first", " line 2", " line 3", " …",
        " line 18", " line 19", "-line 20", "+last",
    ]  # fmt: skip
