"""A reader of text files by the rules that Anki documents.

https://docs.ankiweb.net/importing/text-files.html: lines at the top that begin with ``#`` are
``#key:value`` headers; below, a record that begins with ``#`` is a comment.  A field that begins
with a double quote runs to the next single one, with ends of line and separators in it, and ``""``
stands for one quote.  The special columns (tags, deck, GUID) are no fields; the others go to the
fields of the note type by their names, or in order where no names are given.
"""

from __future__ import annotations

from dataclasses import dataclass, field

SEPARATORS = {"tab": "\t", "comma": ",", "semicolon": ";", "pipe": "|", "colon": ":", "space": " "}


@dataclass
class AnkiNote:
    fields: dict[str, str]
    tags: list[str]
    deck: str
    guid: str


@dataclass
class AnkiFile:
    headers: dict[str, str] = field(default_factory=dict)
    notes: list[AnkiNote] = field(default_factory=list)


def read(content: str) -> AnkiFile:
    """The headers and the notes of a file."""
    found = AnkiFile()
    rest = content
    while rest.startswith("#"):
        line, _, rest = rest.partition("\n")
        key, colon, value = line[1:].partition(":")
        if colon:
            found.headers[key.strip().lower()] = value.removesuffix("\r")
    separator = SEPARATORS[found.headers["separator"].lower()]
    names = found.headers["columns"].split(separator)
    special = {
        key: int(found.headers[f"{key} column"]) - 1
        for key in ("tags", "deck", "guid")
        if f"{key} column" in found.headers
    }
    for record in records(rest, separator):
        cells = [*record, *[""] * (len(names) - len(record))]
        found.notes.append(
            AnkiNote(
                fields={
                    name: cells[place]
                    for place, name in enumerate(names)
                    if place not in special.values()
                },
                tags=cells[special["tags"]].split(),
                deck=cells[special["deck"]],
                guid=cells[special["guid"]],
            )
        )
    return found


def records(content: str, separator: str) -> list[list[str]]:
    """The records of the part below the headers, comments and empty lines left out."""
    found: list[list[str]] = []
    at = 0
    while at < len(content):
        if content[at] in "\r\n":
            at += 1
        elif content[at] == "#":
            while at < len(content) and content[at] not in "\r\n":
                at += 1
        else:
            record, at = _record(content, at, separator)
            found.append(record)
    return found


def _record(content: str, at: int, separator: str) -> tuple[list[str], int]:
    cells: list[str] = []
    while True:
        cell, at = _cell(content, at, separator)
        cells.append(cell)
        if at == len(content) or content[at] in "\r\n":
            return cells, at + 1
        at += 1  # the separator


def _cell(content: str, at: int, separator: str) -> tuple[str, int]:
    cell = ""
    if content.startswith('"', at):
        at += 1
        while not (content[at] == '"' and not content.startswith('""', at)):
            cell += content[at]
            at += 2 if content[at] == '"' else 1
        at += 1
    while at < len(content) and content[at] not in separator + "\r\n":
        cell += content[at]
        at += 1
    return cell, at
