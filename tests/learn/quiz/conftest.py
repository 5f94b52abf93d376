"""Every test here has a learner's folder of its own and the quiz of the tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.learn.quiz.course import fixture_course


@pytest.fixture(autouse=True)
def learner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The learner's folder, empty."""
    home = tmp_path / "learner"
    monkeypatch.setenv("WHYGRAD_HOME", str(home))
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("WHYGRAD_LANG", "en")
    return home


@pytest.fixture(autouse=True)
def course() -> Iterator[None]:
    """The course has one quiz; a module that wants the real ones has a fixture of this name."""
    with fixture_course():
        yield
