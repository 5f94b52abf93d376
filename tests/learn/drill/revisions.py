"""When each deck was last corrected, and what it said then.

Anki takes a corrected note only if it is newer than the one it has, and the age of our notes is the
``revised`` of their deck.  ``python -m tests.learn.drill.revisions`` sets it to today wherever the
cards have changed, and notes their fingerprint in ``revisions.json``; a test finds the decks where
somebody forgot.
"""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from pathlib import Path

from whygrad.learn.content import Deck, decks, folder
from whygrad.learn.drill.notes import notes_of
from whygrad.learn.language import LANGUAGES

RECORD = Path(__file__).with_name("revisions.json")


def fingerprint(deck: Deck) -> str:
    """Of everything that Anki gets to see."""
    notes = [note for language in LANGUAGES for note in notes_of([deck], language)]
    texts = [[note.guid, *note.fields, *note.tags, note.deck] for note in notes]
    return hashlib.sha256(json.dumps(texts).encode()).hexdigest()


def recorded() -> dict[str, dict[str, str]]:
    content: dict[str, dict[str, str]] = json.loads(RECORD.read_text())
    return content


def main() -> None:
    """Date the decks that have changed, and record them all."""
    before = recorded() if RECORD.exists() else {}
    today = datetime.now(UTC).date().isoformat()
    after = {}
    for deck in decks():
        found, revised = fingerprint(deck), deck.revised
        if before.get(deck.id, {}).get("fingerprint", found) != found:
            revised = max(today, revised)
            path = folder() / "drills" / deck.source
            text = path.read_text(encoding="utf-8")
            path.write_text(text.replace(f'"{deck.revised}"', f'"{revised}"', 1), encoding="utf-8")
        after[deck.id] = {"revised": revised, "fingerprint": found}
    RECORD.write_text(json.dumps(dict(sorted(after.items())), indent=2) + "\n")


if __name__ == "__main__":
    main()
