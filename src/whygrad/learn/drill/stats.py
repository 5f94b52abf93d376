"""How far the learner has come, deck by deck."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from rich.console import Console
from rich.table import Table
from rich.text import Text

from whygrad.learn.content import Deck, phrases
from whygrad.learn.drill.due import midnight
from whygrad.learn.drill.schedule import CardStanding
from whygrad.learn.language import Language, in_language
from whygrad.learn.shares import whole_percent

__all__ = ["Figures", "figures", "show_list", "show_stats"]


@dataclass(frozen=True)
class Figures:
    """Of one deck."""

    new: int
    learning: int
    due_today: int
    mature: int
    recalls: int
    lapses: int

    @property
    def retention(self) -> float | None:
        """The share of reviews after the learning steps that were remembered."""
        tested = self.recalls + self.lapses
        return self.recalls / tested if tested else None


def figures(deck: Deck, standings: Mapping[str, CardStanding], now: datetime) -> Figures:
    seen = [standings[card.id] for card in deck.cards if card.id in standings]
    return Figures(
        new=len(deck.cards) - len(seen),
        learning=sum(each.learning for each in seen),
        due_today=sum(each.due < midnight(now, 1) for each in seen),
        mature=sum(each.mature for each in seen),
        recalls=sum(each.recalls for each in seen),
        lapses=sum(each.lapses for each in seen),
    )


def show_stats(
    console: Console,
    decks: Sequence[Deck],
    standings: Mapping[str, CardStanding],
    now: datetime,
    language: Language,
) -> None:
    """A line per deck."""
    words = phrases("drill", language)
    names = ("deck", "cards", "new", "learning", "due_today", "mature", "retention")
    table = _table(words, names)
    for deck in decks:
        found = figures(deck, standings, now)
        retention = (
            "–"
            if found.retention is None
            else words["percent"].format(value=whole_percent(found.retention))
        )
        numbers = (len(deck.cards), found.new, found.learning, found.due_today, found.mature)
        table.add_row(Text(deck.number), *map(str, numbers), retention)
    console.print(table)
    console.print(words["stats_note"], style="dim")


def show_list(
    console: Console,
    decks: Sequence[Deck],
    standings: Mapping[str, CardStanding],
    now: datetime,
    language: Language,
) -> None:
    """The decks, what they are about, and what is to do today."""
    words = phrases("drill", language)
    table = _table(words, ("deck", "title", "cards", "due_today", "new"))
    for deck in decks:
        found = figures(deck, standings, now)
        title = Text(deck.title[language])
        numbers = (len(deck.cards), found.due_today, found.new)
        table.add_row(Text(deck.number), title, *map(str, numbers))
    console.print(table)
    note = words["list_note"].format(
        review=in_language(f"whygrad drill {decks[0].number}", language),
        export=in_language("whygrad drill export --to deck.apkg", language),
    )
    console.print(note, style="dim")


def _table(words: Mapping[str, str], names: Iterable[str]) -> Table:
    """Without rows; what is no number stands at the left, and is never cut."""
    table = Table(box=None, pad_edge=False)
    for name in names:
        left = name in ("deck", "title")
        table.add_column(words[name], justify="left" if left else "right", overflow="fold")
    return table
