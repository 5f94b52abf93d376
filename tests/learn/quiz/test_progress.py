"""While programs are run for an export, a terminal says how far that is."""

from __future__ import annotations

import io

from rich.console import Console

from whygrad.learn.content import quizzes
from whygrad.learn.quiz.progress import run_programs
from whygrad.learn.quiz.words import Speech


def said(*, terminal: bool) -> str:
    out = io.StringIO()
    run_programs(quizzes(), Speech("en"), Console(file=out, force_terminal=terminal, width=80))
    return out.getvalue()


def test_a_terminal_shows_the_count() -> None:
    assert "Running the programs of the questions: 2 of 2" in said(terminal=True)


def test_a_file_or_pipe_gets_nothing() -> None:
    assert said(terminal=False) == ""
