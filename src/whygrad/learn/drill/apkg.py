"""Notes as a package for Anki: a zip file with an SQLite database.

``genanki`` writes the database; what it would take from the clock (ids, dates, the time stamps of
the zip file) is fixed here, so that the same cards make the same file, byte for byte, anywhere.
The modification date of a note is the day its deck was last revised: Anki keeps the note it has
unless the one in the package is newer.
"""

from __future__ import annotations

import hashlib
import io
import itertools
import json
import sqlite3
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from whygrad.learn.drill.notes import FIELDS, NOTE_TYPE, Note

if TYPE_CHECKING:
    import genanki

__all__ = ["MODEL_ID", "deck_id", "to_apkg"]

MODEL_ID = 1794830651
_FIRST_ID = 1_700_000_000_000  # ids of notes look like milliseconds of the clock
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest date that a zip file can tell

_FRONT = "<div class=front>{{Front}}</div>"
_BACK = (
    "{{FrontSide}}<hr id=answer><div class=back>{{Back}}</div>"
    "{{#See}}<div class=see>{{See}}</div>{{/See}}<div class=id>{{Id}}</div>"
)
_CSS = """\
.card {
  font-family: sans-serif; font-size: 20px; line-height: 1.45; text-align: left;
  max-width: 40em; margin: 1em auto; padding: 0 1em;
  color: #1b1b1f; background-color: #ffffff;
}
.front { font-weight: 600; }
code, pre { font-family: monospace; font-size: 0.9em; background-color: #eeeef2; }
code { padding: 0 0.25em; border-radius: 4px; }
pre { padding: 0.6em; border-radius: 4px; overflow-x: auto; }
.see, .id { margin-top: 1em; font-size: 0.75em; color: #5a5a66; }
.id { margin-top: 0.3em; }
.card.nightMode { color: #ececf1; background-color: #232327; }
.nightMode code, .nightMode pre { background-color: #36363d; }
.nightMode .see, .nightMode .id { color: #a9a9b6; }
"""


def to_apkg(notes: Sequence[Note]) -> bytes:
    """The whole file."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as package:
        for name, content in (("collection.anki2", _database(notes)), ("media", b"{}")):
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.create_system = 3  # or it would tell Windows from the others
            entry.external_attr = 0o644 << 16
            package.writestr(entry, content)  # not compressed: versions of zlib differ
    return out.getvalue()


def deck_id(name: str) -> int:
    """From the name, by which Anki finds the deck in a collection that has it already."""
    return (1 << 30) + int(hashlib.sha256(name.encode()).hexdigest(), 16) % (1 << 30)


def _database(notes: Sequence[Note]) -> bytes:
    import genanki

    model = _model()
    decks: dict[str, genanki.Deck] = {}
    for place, note in enumerate(notes, 1):
        deck = decks.setdefault(note.deck, genanki.Deck(deck_id(note.deck), note.deck))
        deck.add_note(
            genanki.Note(model, list(note.fields), tags=list(note.tags), guid=note.guid, due=place)
        )
    newest = max(note.revised for note in notes).timestamp()
    connection = sqlite3.connect(":memory:")
    try:
        cursor = connection.cursor()
        genanki.Package(list(decks.values())).write_to_db(cursor, newest, _ids(decks.values()))
        _complete(cursor, notes)
        connection.commit()
        cursor.execute("VACUUM")  # leaves no trace of the order in which things were written
        content = bytearray(connection.serialize())
    finally:
        connection.close()
    content[96:100] = bytes(4)  # which version of SQLite wrote this: told, but used by nobody
    return bytes(content)


def _ids(decks: Iterable[genanki.Deck]) -> Iterator[int]:
    """For each note its id and that of its card, in the order in which genanki asks."""
    for deck in decks:
        for note in deck.notes:
            yield from itertools.repeat(_FIRST_ID + zlib.crc32(note.guid.encode()), 2)


def _complete(cursor: sqlite3.Cursor, notes: Sequence[Note]) -> None:
    """What genanki leaves out: each note's own date and checksum, and one entry per note type."""
    for note in notes:
        checksum = int(hashlib.sha1(note.fields[0].encode()).hexdigest()[:8], 16)
        cursor.execute(
            "UPDATE notes SET mod = ?, csum = ? WHERE guid = ?",
            (int(note.revised.timestamp()), checksum, note.guid),
        )
    (models,) = cursor.execute("SELECT models FROM col").fetchone()
    # with several decks genanki writes the same key twice
    cursor.execute("UPDATE col SET models = ?", (json.dumps(json.loads(models), sort_keys=True),))


def _model() -> genanki.Model:
    import genanki

    return genanki.Model(
        MODEL_ID,
        NOTE_TYPE,
        fields=[{"name": name} for name in FIELDS],
        templates=[{"name": "Card", "qfmt": _FRONT, "afmt": _BACK}],
        css=_CSS,
    )
