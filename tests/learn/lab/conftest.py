"""A tiny lab on which programs of every sort can be tried."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from whygrad.learn.lab.catalogue import Lab
from whygrad.learn.lab.grading import Report, grade

PROBES = """
def double(learner, number):
    return learner.plain(learner.module("work").double(number))


def anything(learner):
    return learner.module("work").answer()
"""
GRADER = """
from whygrad.learn.lab import Bench, Case


def grade(bench: Bench):
    yield bench.check("doubles", _doubles)


def _doubles(bench: Bench) -> None:
    numbers = [bench.random.randint(1, 10**9) for _ in range(3)]
    bench.compare("double", [Case({"number": n}, 2 * n, f"double({n})", size=n) for n in numbers])
"""


@pytest.fixture
def tiny(tmp_path: Path) -> Lab:
    """Lab "tiny": ``double(number)`` in ``work.py``."""
    folder = tmp_path / "01_tiny"
    folder.mkdir()
    (folder / "probes.py").write_text(PROBES)
    (folder / "grader.py").write_text(GRADER)
    words = {"en": "it doubles", "es": "duplica"}
    return Lab(
        folder=folder, number=1, name="tiny", title=words, about=words, minutes=5,
        files=("work.py",), checks={"doubles": words}, hints={"doubles": [words, words]}, see=(),
        readme=words, texts={}, forbids=("torch",), megabytes=512,
    )  # fmt: skip


@pytest.fixture
def run(tiny: Lab, tmp_path: Path) -> Callable[..., Report]:
    """Grade a program (further files by name) in the tiny lab."""

    def graded(source: str, language: Any = "en", seconds: float = 5.0, **files: str) -> Report:
        folder = tmp_path / "learner"
        folder.mkdir(exist_ok=True)
        (folder / "work.py").write_text(source)
        for name, text in files.items():
            (folder / f"{name}.py").write_text(text)
        return grade(replace(tiny, seconds=seconds), folder, language=language)

    return graded
