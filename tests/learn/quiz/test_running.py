"""Programs of questions run apart, for a limited time, and say what they print."""

from __future__ import annotations

import os

import pytest

from whygrad.learn.content import quizzes
from whygrad.learn.quiz.running import CannotRun, output_of


def test_a_program_prints() -> None:
    program = "from whygrad import Value\nx = Value(2.0)\n(x * x).backward()\nprint(x.grad, 'ñ')\n"
    assert output_of(program) == "4.0 ñ\n"


def test_it_runs_in_an_empty_folder_without_input() -> None:
    program = "import os, sys\nprint(os.listdir('.'), repr(sys.stdin.read()))\n"
    assert output_of(program) == "['program.py'] ''\n"
    assert output_of("import os\nprint(os.getcwd())") != os.getcwd()


def test_a_program_that_raises_says_so() -> None:
    with pytest.raises(CannotRun, match=r"^ModuleNotFoundError: No module named 'nosuchthing'$"):
        output_of("import nosuchthing")


def test_a_program_without_end_is_stopped() -> None:
    with pytest.raises(CannotRun, match=r"longer than 0\.5 s"):
        output_of("while True: pass", seconds=0.5)


def test_a_program_that_leaves_is_noticed() -> None:
    with pytest.raises(CannotRun, match="exit code 3"):
        output_of("import os; os._exit(3)")


def test_the_programs_of_the_fixture_run() -> None:
    for question in quizzes()[0].questions:
        if question.kind == "predict":
            assert output_of(question.code)
