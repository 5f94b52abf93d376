"""Cards as notes for Anki: what both kinds of file say of them.

A note is known to Anki by its GUID, made from card and language, never from its text: a corrected
card finds the note it corrects, with the learner's schedule, and the two languages stay apart.
"""

from __future__ import annotations

import hashlib
import html
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from whygrad.learn.content import Card, Deck
from whygrad.learn.language import Language
from whygrad.learn.markup import to_anki
from whygrad.learn.references import command_for

__all__ = ["FIELDS", "NOTE_TYPE", "Note", "notes_of"]

NOTE_TYPE = "whygrad"
FIELDS = ("Id", "Front", "Back", "See")


@dataclass(frozen=True)
class Note:
    """One card in one language."""

    guid: str
    fields: tuple[str, ...]  # HTML, in the order of FIELDS
    tags: tuple[str, ...]
    deck: str  # the deck's name in Anki
    revised: datetime


def notes_of(
    decks: Sequence[Deck], language: Language, deck_name: str | None = None
) -> Iterator[Note]:
    """All cards of some decks, into Anki decks of their own names or into one."""
    for deck in decks:
        revised = datetime.fromisoformat(deck.revised).replace(tzinfo=UTC)
        for card in deck.cards:
            yield Note(
                guid=_guid(card, language),
                fields=_fields(card, language),
                tags=tuple(f"whygrad::{tag}" for tag in (deck.id, language, *card.tags)),
                deck=deck_name or deck.name,
                revised=revised,
            )


def _guid(card: Card, language: Language) -> str:
    """Ten characters that a person can copy, unlike Anki's own."""
    return hashlib.sha256(f"whygrad {card.id} {language}".encode()).hexdigest()[:10]


def _fields(card: Card, language: Language) -> tuple[str, ...]:
    commands = (
        f"<code>{html.escape(command_for(each, language, otherwise='en'))}</code>"
        for each in card.see
    )
    return (
        f"{card.id}-{language}",  # Anki before 2.1.54 knows a note by this field alone
        to_anki(card.front[language]),
        to_anki(card.back[language]),
        " · ".join(commands),
    )
