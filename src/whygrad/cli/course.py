"""What ``quiz``, ``drill`` and ``lab`` have in common on the command line."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import click

from whygrad.cli.spanish import SpanishUsageError, in_spanish
from whygrad.errors import explained
from whygrad.learn.language import LANGUAGES, Language, chosen

if TYPE_CHECKING:
    from whygrad.learn.journal import Journal

__all__ = ["CourseCommand", "CourseGroup", "language_option", "tell_damage"]

_LANGUAGE = "whygrad.language"
_PACKAGES = ("fsrs", "genanki", "yaml")
_INSTALL = "pip install 'whygrad[learn]'"


def _or_of_the_group(context: click.Context, _: click.Parameter, value: str | None) -> str | None:
    """``whygrad lab --lang es check`` is ``whygrad lab check --lang es``."""
    group = context.parent
    return value if value is not None or group is None else group.params.get("lang")


language_option = click.option(
    "--lang",
    type=click.Choice(LANGUAGES),
    callback=_or_of_the_group,
    help="English or Spanish; otherwise WHYGRAD_LANG or the system's language.",
)


class CourseCommand(click.Command):
    """Ends with a sentence, not a traceback, where the learner can do something about it."""

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        language = chosen(_asked(args))  # now: a wrong command cannot be parsed for it
        with _in_words(language):
            context = super().make_context(info_name, args, parent, **extra)
        context.meta[_LANGUAGE] = language
        return context

    def invoke(self, ctx: click.Context) -> Any:
        with _in_words(ctx.meta[_LANGUAGE]):
            return super().invoke(ctx)


class CourseGroup(CourseCommand, click.Group):
    """The same for a command with commands of its own."""


def tell_damage(context: click.Context, opened: Callable[[], Journal[Any]]) -> None:
    """Say which lines of a journal do not count; the command goes on with the others."""
    from whygrad.learn.content import phrases

    language: Language = context.meta[_LANGUAGE]
    try:
        journal = opened()
        contents = journal.read()
    except OSError:  # told where the journal is needed
        return
    if contents.torn:
        click.echo(phrases("journal", language)["torn"].format(path=journal.path), err=True)
    if contents.fault is not None:
        click.echo(_in_language(str(contents.fault), language), err=True)


def _asked(args: Sequence[str]) -> str | None:
    """What ``--lang`` asks for, if it is there."""
    words = " ".join(args).replace("--lang=", "--lang ").split()
    return next((word for option, word in pairwise(words) if option == "--lang"), None)


@contextmanager
def _in_words(language: Language) -> Iterator[None]:
    try:
        yield
    except click.UsageError as error:
        if language == "en" or isinstance(error, SpanishUsageError):
            raise
        raise SpanishUsageError(error) from error
    except BrokenPipeError:
        raise  # nobody reads any more; click ends quietly
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        raise _trouble(f"{place}{error.strerror or error}", language) from error
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in _PACKAGES:
            raise
        raise _trouble(f"the course needs {package}: {_INSTALL}", language) from error
    except ValueError as error:
        if not explained(error):
            raise
        raise _trouble(str(error), language) from error


def _trouble(text: str, language: Language) -> click.ClickException:
    return click.ClickException(_in_language(text, language))


def _in_language(text: str, language: Language) -> str:
    return in_spanish(text) if language == "es" else text
