"""Programs of questions run apart, for a limited time, and say what they print.

While they are run for an export, a terminal says how far that is.
"""

from __future__ import annotations

import io
import os

import pytest
from rich.console import Console

from whygrad.learn.content import quizzes
from whygrad.learn.quiz.running import CannotRun, output_of, run_programs
from whygrad.learn.quiz.words import Speech


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


def said(*, terminal: bool) -> str:
    out = io.StringIO()
    run_programs(quizzes(), Speech("en"), Console(file=out, force_terminal=terminal, width=80))
    return out.getvalue()


def test_a_terminal_shows_the_count() -> None:
    assert "Running the programs of the questions: 2 of 2" in said(terminal=True)


def test_a_file_or_pipe_gets_nothing() -> None:
    assert said(terminal=False) == ""
