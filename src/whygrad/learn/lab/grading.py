"""Grading a folder: every check of a lab, in order, with one seed."""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from whygrad.errors import fail
from whygrad.learn.lab.bench import Bench, Check
from whygrad.learn.lab.catalogue import Lab
from whygrad.learn.language import Language

__all__ = ["Report", "grade"]


@dataclass(frozen=True)
class Report:
    """What grading found."""

    lab: Lab
    folder: Path
    language: Language
    seed: int
    checks: tuple[Check, ...]

    @property
    def passed(self) -> bool:
        return all(check.passed for check in self.checks)

    @property
    def first_failing(self) -> str | None:
        return next((check.id for check in self.checks if not check.passed), None)

    def as_json(self) -> dict[str, Any]:
        """For other programs; JSON has no NaN and no infinities, so they are texts here."""
        return {
            "schema": 1,
            "lab": self.lab.name,
            "number": self.lab.number,
            "folder": str(self.folder),
            "language": self.language,
            "seed": self.seed,
            "passed": self.passed,
            "checks": [
                _finite({**asdict(check), "title": self.lab.checks[check.id][self.language]})
                for check in self.checks
            ],
        }


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    return [_finite(each) for each in value] if isinstance(value, (list, tuple)) else value


def grade(
    lab: Lab,
    folder: Path,
    *,
    language: Language = "en",
    seed: int | None = None,
    hear: Callable[[Check], None] = lambda check: None,
) -> Report:
    """Grade the program in a folder; ``hear`` is told each verdict as it falls."""
    if missing := lab.missing():
        raise fail(
            ModuleNotFoundError,
            call=f"whygrad lab check {lab.name}",
            cause=f"this lab needs {', '.join(missing)}",
            fix=f"pip install {' '.join(missing)}",
            where=None,
        )
    seed = secrets.randbelow(10**6) if seed is None else seed
    bench = Bench(lab, folder, language, seed)
    checks = []
    for check in lab.grader().grade(bench):
        checks.append(check)
        hear(check)
    if [check.id for check in checks] != list(lab.checks):
        raise fail(
            RuntimeError,
            call=f"the grader of lab {lab.name}",
            cause=f"it gave {[check.id for check in checks]}, lab.yaml has {list(lab.checks)}",
            fix="yield each check of lab.yaml once, in its order",
            where=None,
        )
    return Report(lab, folder, language, seed, tuple(checks))
