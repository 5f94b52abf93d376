"""Running the programs of some quizzes ahead of an export, with a word about how far that is."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from rich.console import Console

from whygrad.learn.content import Quiz
from whygrad.learn.quiz.running import CannotRun, output_of
from whygrad.learn.quiz.words import Speech

__all__ = ["run_programs"]

_AT_ONCE = min(4, os.cpu_count() or 1)  # each may import PyTorch


def run_programs(quizzes: Sequence[Quiz], say: Speech, console: Console | None = None) -> None:
    """After this ``output_of`` answers at once; a terminal shows the count while it lasts."""
    programs = [each.code for quiz in quizzes for each in quiz.questions if each.kind == "predict"]
    console = console or Console(stderr=True)
    text = say("running", done=0, total=len(programs))
    with contextlib.ExitStack() as stack:
        status = stack.enter_context(console.status(text)) if console.is_terminal else None
        pool = stack.enter_context(ThreadPoolExecutor(_AT_ONCE))
        for done, _ in enumerate(pool.map(_tried, programs), 1):
            if status is not None:
                status.update(say("running", done=done, total=len(programs)))


def _tried(program: str) -> None:
    with contextlib.suppress(CannotRun):  # told where its output is wanted
        output_of(program)
