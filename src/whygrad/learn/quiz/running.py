"""What a program of a "predict" question prints: found by running it, never typed in.

An export runs the programs of its quizzes ahead, with a word about how far that is.
"""

from __future__ import annotations

import contextlib
import functools
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from rich.console import Console

import whygrad
from whygrad.learn.content import Quiz
from whygrad.learn.quiz.words import Speech

__all__ = ["SECONDS", "CannotRun", "output_of", "run_programs"]

SECONDS = 20.0
"""The time that a program has."""

_NAME = "program.py"
_AT_ONCE = min(4, os.cpu_count() or 1)  # each may import PyTorch


class CannotRun(Exception):
    """The program did not come to its end here; the text says why in a line."""


@functools.cache
def output_of(program: str, seconds: float = SECONDS) -> str:
    """What the program prints, run by this Python in an empty folder."""
    path = (str(Path(whygrad.__file__).parents[1]), os.environ.get("PYTHONPATH"))
    environment = {
        **os.environ,
        "NO_COLOR": "1",
        "PYTHONHASHSEED": "0",
        "PYTHONIOENCODING": "utf-8",
        "PYTHONPATH": os.pathsep.join(filter(None, path)),
    }
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, _NAME).write_text(program, encoding="utf-8")
        try:
            done = subprocess.run(
                [sys.executable, _NAME],
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                encoding="utf-8",
                errors="replace",
                timeout=seconds,
            )
        except subprocess.TimeoutExpired:
            raise CannotRun(f"it takes longer than {seconds:g} s") from None
        except OSError as error:
            raise CannotRun(str(error)) from error
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        raise CannotRun(last)
    return done.stdout


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
