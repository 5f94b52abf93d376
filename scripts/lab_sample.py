"""What ``docs/labs.md`` shows: lab 1 graded with ``=`` instead of ``+=`` in one line."""

from __future__ import annotations

import io
import tempfile
from pathlib import Path

from rich.console import Console

from whygrad.learn.content import phrases
from whygrad.learn.lab.catalogue import find
from whygrad.learn.lab.grading import grade
from whygrad.learn.lab.show import show_check, show_report_end
from whygrad.learn.language import Language

__all__ = ["sample"]

_SEED = 7


def sample(language: Language) -> str:
    """The verdicts as they are printed."""
    lab = find("value")
    printed = io.StringIO()
    console = Console(file=printed, width=90, color_system=None)
    with tempfile.TemporaryDirectory() as folder:
        for name, text in lab.solution(language).items():
            fault = text.replace("self.grad += (1 - out.data**2)", "self.grad = (1 - out.data**2)")
            Path(folder, name).write_text(fault)
        report = grade(lab, Path(folder), language=language, seed=_SEED)
    title = phrases("lab", language)["grading"]
    console.print(title.format(number=lab.number, title=lab.title[language]), highlight=False)
    console.print()
    failed = 0
    for check in report.checks:
        show_check(console, check, lab, language, failed)
        failed += not check.passed
    show_report_end(console, report)
    return "\n".join(line.rstrip() for line in printed.getvalue().strip().splitlines())
