"""What ``docs/labs.md`` shows: lab 1 graded with ``=`` instead of ``+=`` in one line."""

from __future__ import annotations

import contextlib
import io
import tempfile
from pathlib import Path

from rich.console import Console

from whygrad.learn.lab.catalogue import find
from whygrad.learn.lab.grading import grade
from whygrad.learn.lab.show import GradingScreen
from whygrad.learn.lab.workspace import make, opened
from whygrad.learn.language import Language

__all__ = ["sample"]

_SEED = 7


def sample(language: Language) -> str:
    """The verdicts as they are printed."""
    lab = find("value")
    printed = io.StringIO()
    console = Console(file=printed, width=90, color_system=None)
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        make(lab, Path(), language)
        for name, text in lab.solution(language).items():
            fault = text.replace("self.grad += (1 - out.data**2)", "self.grad = (1 - out.data**2)")
            Path(name).write_text(fault)
        work = opened(Path())
        assert work is not None
        screen = GradingScreen(console, work)
        screen.title()
        report = grade(lab, Path(), language=language, seed=_SEED, hear=screen.check)
        screen.end(report)
    return "\n".join(line.rstrip() for line in printed.getvalue().strip().splitlines())
