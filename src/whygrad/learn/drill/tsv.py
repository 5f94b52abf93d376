"""Notes as a text file that Anki reads (File → Import), by the rules of its manual.

Lines that begin with ``#`` are instructions at the top of the file and comments below.  Fields are
separated by tabs; a field with a tab, a quote or an end of line stands in double quotes, with its
own quotes doubled, and so does one that begins with ``#``, which would be taken for a comment.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from whygrad.learn.drill.notes import FIELDS, NOTE_TYPE, Note

__all__ = ["to_tsv"]

_COLUMNS = (*FIELDS, "Tags", "Deck", "GUID")
_HEADER = (
    "#separator:tab",
    "#html:true",
    f"#notetype:{NOTE_TYPE}",  # if there is one; else Anki's own, whose Front and Back fit as well
    f"#columns:{chr(9).join(_COLUMNS)}",
    f"#tags column:{_COLUMNS.index('Tags') + 1}",
    # not "#deck:", which Anki obeys only when there is such a deck; a column creates it
    f"#deck column:{_COLUMNS.index('Deck') + 1}",
    f"#guid column:{_COLUMNS.index('GUID') + 1}",
    "#if matches:update current",
)
_AWKWARD = re.compile(r'[\t"\r\n]|^#')


def to_tsv(notes: Iterable[Note]) -> str:
    """The whole file."""
    rows = ((*note.fields, " ".join(note.tags), note.deck, note.guid) for note in notes)
    lines = (*_HEADER, *("\t".join(map(_quoted, row)) for row in rows))
    return "".join(f"{line}\n" for line in lines)


def _quoted(field: str) -> str:
    if not _AWKWARD.search(field):
        return field
    return '"' + field.replace('"', '""') + '"'
