"""Writing decks for Anki, in the format that the name of the file asks for."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from whygrad.errors import fail
from whygrad.learn.content import Deck, phrases
from whygrad.learn.drill.apkg import to_apkg
from whygrad.learn.drill.notes import Note, notes_of
from whygrad.learn.drill.tsv import to_tsv
from whygrad.learn.language import Language
from whygrad.learn.writing import write

__all__ = ["export_decks"]

_FORMATS: Mapping[str, Callable[[Sequence[Note]], bytes]] = {
    ".tsv": lambda notes: to_tsv(notes).encode(),
    ".apkg": to_apkg,
}


def export_decks(
    decks: Sequence[Deck], path: Path, language: Language, deck_name: str | None = None
) -> int:
    """Writes the cards; returns how many.  Nothing is written if anything is wrong."""
    words = phrases("drill", language)
    convert = _FORMATS.get(path.suffix.lower())
    if convert is None:
        raise fail(
            ValueError,
            call=words["exporting_to"].format(path=path),
            cause=words["not_a_format"].format(suffix=path.suffix or path.name),
            fix=words["formats"],
            where=None,
        )
    if deck_name is not None and not re.search(r"[^\d\s+-]", deck_name):
        raise fail(
            ValueError,
            call=words["exporting_as"].format(name=deck_name),
            cause=words["not_a_name"],
            fix=words["a_name"],
            where=None,
        )
    notes = list(notes_of(decks, language, deck_name))
    write(path, convert(notes))
    return len(notes)
