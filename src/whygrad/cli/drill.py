"""``whygrad drill``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from whygrad.cli.course import CourseGroup, language_option

if TYPE_CHECKING:
    from whygrad.learn.content import Deck
    from whygrad.learn.language import Language

__all__ = ["drill"]

_REVIEWS = "reviews.jsonl"


class _Drill(CourseGroup):
    """``whygrad drill 07`` means ``whygrad drill review 07``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args or args[0] not in (*self.commands, *ctx.help_option_names):
            args = ["review", *args]
        return super().parse_args(ctx, args)


@click.group(cls=_Drill)
def drill() -> None:
    """Review cards with spaced repetition, and take them to Anki.

    Without a command: review what is due.
    """


@drill.command()
@click.argument("deck", required=False)
@language_option
@click.option("--limit", type=click.IntRange(min=1), help="Stop after so many reviews.")
@click.option(
    "--new",
    type=click.IntRange(min=0),
    help="At most so many new cards in this session; otherwise 10 a day.",
)
def review(deck: str | None, lang: str | None, limit: int | None, new: int | None) -> None:
    """Ask the cards that are due, of one deck or of all."""
    from rich.console import Console

    from whygrad.learn.drill.keyboard import keyboard
    from whygrad.learn.drill.session import DrillSession
    from whygrad.learn.language import chosen

    language = chosen(lang)
    names = (deck,) if deck else ()
    decks = _decks(names, language)
    DrillSession(
        Console(highlight=False), decks, _reviews(), language, keyboard(), limit=limit, new=new
    ).run()


@drill.command()
@language_option
def stats(lang: str | None) -> None:
    """How far you have come, deck by deck."""
    from whygrad.learn.drill.stats import show_stats

    _show(show_stats, lang)


@drill.command(name="list")
@language_option
def list_(lang: str | None) -> None:
    """The decks, and what is due."""
    from whygrad.learn.drill.stats import show_list

    _show(show_list, lang)


@drill.command()
@click.argument("decks", nargs=-1, metavar="[DECK]...")
@click.option(
    "--to",
    "target",
    required=True,
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="deck.apkg (a package) or deck.tsv (a text file).",
)
@click.option("--deck", "name", metavar="NAME", help="One deck in Anki for all cards.")
@language_option
def export(decks: tuple[str, ...], target: Path, name: str | None, lang: str | None) -> None:
    """Write cards for Anki: of the named decks, or of all."""
    from whygrad.learn.content import phrases
    from whygrad.learn.drill.export import export_decks
    from whygrad.learn.language import chosen

    language = chosen(lang)
    count = export_decks(_decks(decks, language), target, language, name)
    click.echo(phrases("drill", language)["exported"].format(count=count, path=target))


@drill.group()
def progress() -> None:
    """Take your reviews to another computer, or bring them from there."""


@progress.command(name="export")
@click.argument("target", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path))
@language_option
def export_progress(target: Path, lang: str | None) -> None:
    """Write all reviews to a file."""
    from whygrad.learn.content import phrases
    from whygrad.learn.drill import progress as kept
    from whygrad.learn.language import chosen

    count = kept.export(_reviews(), target)
    words = phrases("drill", chosen(lang))
    click.echo(words["progress_exported"].format(count=count, path=target))


@progress.command(name="import")
@click.argument("source", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path))
@language_option
def import_progress(source: Path, lang: str | None) -> None:
    """Add the reviews of a file to yours; those you have already are left alone."""
    from whygrad.learn.content import phrases
    from whygrad.learn.drill import progress as kept
    from whygrad.learn.language import chosen

    reviews = kept.read_foreign(source)
    count = kept.merge(_reviews(), reviews)
    words = phrases("drill", chosen(lang))
    known = len(reviews) - count
    click.echo(words["progress_imported"].format(count=count, known=known))


def _show(table: Callable[..., None], lang: str | None) -> None:
    from datetime import UTC, datetime

    from rich.console import Console

    from whygrad.learn.drill.session import kept_standings
    from whygrad.learn.language import chosen

    language, now = chosen(lang), datetime.now(UTC)
    console = Console(highlight=False)
    standings = kept_standings(console, _reviews(), language, now)
    table(console, _decks((), language), standings, now, language)


def _decks(names: tuple[str, ...], language: Language) -> list[Deck]:
    """The decks by number or id; all of them without a name."""
    from difflib import get_close_matches

    from whygrad.learn.content import decks, phrases
    from whygrad.learn.language import in_language

    known = {deck.number: deck for deck in decks()} | {deck.id: deck for deck in decks()}
    found = {}
    for name in names:
        deck = known.get(name) or known.get(name.zfill(2))
        if deck is None:
            numbers = ", ".join(deck.number for deck in decks())
            words = phrases("drill", language)
            text = words["no_deck"].format(name=name, decks=numbers)
            for command in get_close_matches(name, drill.commands, n=1):
                meant = in_language(f"whygrad drill {command}", language)
                text += " " + words["meant"].format(command=meant)
            raise click.UsageError(text)
        found[deck.id] = deck
    return list(found.values()) if names else list(decks())


def _reviews() -> Path:
    from whygrad.learn.home import data_folder

    return data_folder() / _REVIEWS
