"""Reference solutions with a mistake put in: which check notices, and what does it say?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from whygrad.learn.lab import Bench, Check, find
from whygrad.learn.language import Language

__all__ = ["Changes", "Nearby", "first_failing"]

Changes = Mapping[str, str]


@dataclass
class Nearby(Bench):
    """A bench on which the checks well before ``wanted`` are taken to pass: each takes a process.

    The one directly before it is run, so that it is seen to let the mistake through.
    """

    wanted: str = ""

    def check(self, name: str, function: Callable[[Bench], None]) -> Check:
        names = list(self.lab.checks)
        if self.wanted and names.index(name) < names.index(self.wanted) - 1:
            return Check(name, True)
        return super().check(name, function)


def first_failing(
    folder: Path,
    name: str,
    changes: Changes,
    language: Language = "en",
    forbids: tuple[str, ...] = (),
    wanted: str = "",
) -> Check | None:
    """Grade a solution with some passages replaced, up to the first check that fails.

    A variant is named after a slash; the script that a learner is given stays as it is.
    """
    name, _, variant = name.partition("/")
    lab = replace(find(name), forbids=forbids, variant=variant)
    texts = lab.solution(language)
    for old, new in changes.items():
        changed = {
            file: text if file == "train.py" else text.replace(old, new)
            for file, text in texts.items()
        }
        assert changed != texts, f"{old!r} is not in the solution"
        texts = changed
    for file, text in texts.items():
        (folder / file).write_text(text, encoding="utf-8")
    checks = lab.grader().grade(Nearby(lab, folder, language, seed=4711, wanted=wanted))
    return next((check for check in checks if not check.passed), None)
