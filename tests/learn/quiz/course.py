"""A course with the fixture quiz in place of the real ones, for tests in this process and others.

``python -m tests.learn.quiz.course quiz 99`` is ``whygrad quiz 99`` with that course.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from whygrad.learn import content

__all__ = ["FIXTURE", "fixture_course", "fixture_quiz"]

FIXTURE = Path(__file__).parent / "fixture.yaml"


@contextmanager
def fixture_course() -> Iterator[None]:
    """Within the block, the course has the one quiz of the tests."""
    real = content.folder
    with tempfile.TemporaryDirectory() as name:
        course = Path(name)
        (course / "quizzes").mkdir()
        shutil.copy(FIXTURE, course / "quizzes" / FIXTURE.name)
        shutil.copytree(real() / "interface", course / "interface")
        content.folder = lambda: course
        content.quizzes.cache_clear()
        try:
            yield
        finally:
            content.folder = real
            content.quizzes.cache_clear()


def fixture_quiz() -> content.Quiz:
    with fixture_course():
        return content.quizzes()[0]


if __name__ == "__main__":
    from whygrad.cli.commands import cli

    with fixture_course():
        cli(sys.argv[1:], prog_name="whygrad")
