"""The programs inside questions, for the proofs: run one and see what it prints and leaves."""

from __future__ import annotations

import contextlib
import io
from difflib import SequenceMatcher
from typing import Any

from whygrad.learn.content import Question, quizzes

__all__ = ["changed_lines", "names", "printed", "question"]


def question(name: str) -> Question:
    """The question with this id."""
    return next(each for quiz in quizzes() for each in quiz.questions if each.id == name)


def changed_lines(asked: Question) -> tuple[int, ...]:
    """The lines of a faulty program that its repair replaces."""
    matcher = SequenceMatcher(None, asked.code.splitlines(), asked.fix.splitlines(), False)
    return tuple(
        number + 1
        for _, start, end, _, _ in (code for code in matcher.get_opcodes() if code[0] != "equal")
        for number in range(start, end)
    )


def printed(program: str) -> str:
    """What a program prints, without the last line break."""
    return _run(program)[0]


def names(program: str) -> dict[str, Any]:
    """The variables of a program after it has run."""
    return _run(program)[1]


def _run(program: str) -> tuple[str, dict[str, Any]]:
    variables: dict[str, Any] = {"__name__": "__main__"}
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(program, "program.py", "exec"), variables)
    return out.getvalue().rstrip("\n"), variables
