"""What ``quiz``, ``drill`` and ``lab`` have in common on the command line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from whygrad.errors import explained
from whygrad.learn.language import LANGUAGES

__all__ = ["CourseCommand", "CourseGroup", "language_option"]

_PACKAGES = ("fsrs", "genanki", "yaml")

language_option = click.option(
    "--lang",
    type=click.Choice(LANGUAGES),
    help="English or Spanish; otherwise WHYGRAD_LANG or the system's language.",
)


class CourseCommand(click.Command):
    """Ends with a sentence, not a traceback, where the learner can do something about it."""

    def invoke(self, ctx: click.Context) -> Any:
        with _in_words():
            return super().invoke(ctx)


class CourseGroup(CourseCommand, click.Group):
    """The same for a command with commands of its own."""


@contextmanager
def _in_words() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise  # nobody reads any more; click ends quietly
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        raise click.ClickException(f"{place}{error.strerror or error}") from error
    except (ModuleNotFoundError, ValueError) as error:
        if explained(error):
            raise click.ClickException(str(error)) from error
        if _package(error) not in _PACKAGES:
            raise
        raise click.ClickException(f"{error}: pip install 'whygrad[learn]'") from error


def _package(error: Exception) -> str | None:
    """The package that is missing, if that is the trouble."""
    name = error.name if isinstance(error, ModuleNotFoundError) else None
    return name.partition(".")[0] if name else None
