"""The package for Anki, opened: a zip file with SQLite."""

from __future__ import annotations

import errno
import hashlib
import io
import json
import os
import sqlite3
import subprocess
import sys
import zipfile
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.learn.drill.support import deck_of
from whygrad.learn.content import Deck
from whygrad.learn.drill.apkg import MODEL_ID, deck_id, to_apkg
from whygrad.learn.drill.export import export_decks
from whygrad.learn.drill.notes import notes_of
from whygrad.learn.language import Language


class Opened:
    """What Anki would find in a package."""

    def __init__(self, content: bytes) -> None:
        with zipfile.ZipFile(io.BytesIO(content)) as package:
            assert package.testzip() is None
            assert sorted(package.namelist()) == ["collection.anki2", "media"]
            assert json.loads(package.read("media")) == {}
            database = package.read("collection.anki2")
        connection = sqlite3.connect(":memory:")
        connection.deserialize(database)
        connection.row_factory = sqlite3.Row
        assert connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
        self.notes = connection.execute("SELECT * FROM notes ORDER BY rowid").fetchall()
        self.cards = connection.execute("SELECT * FROM cards ORDER BY due").fetchall()
        (row,) = connection.execute("SELECT * FROM col").fetchall()
        self.models: dict[str, Any] = json.loads(row["models"], object_pairs_hook=_no_key_twice)
        self.decks: dict[str, Any] = json.loads(row["decks"], object_pairs_hook=_no_key_twice)
        connection.close()

    @property
    def fields(self) -> dict[str, list[str]]:
        return {note["guid"]: note["flds"].split("\x1f") for note in self.notes}


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    assert len(dict(pairs)) == len(pairs)
    return dict(pairs)


def opened(*decks: Deck, language: Language = "en", name: str | None = None) -> Opened:
    return Opened(to_apkg(list(notes_of(decks, language, name))))


def test_notes_and_cards() -> None:
    package = opened(deck_of(3))
    wanted = {note.guid: list(note.fields) for note in notes_of([deck_of(3)], "en")}
    assert package.fields == wanted
    for note in package.notes:
        first = note["flds"].split("\x1f")[0]
        assert note["mid"] == MODEL_ID == 1794830651
        assert note["sfld"] == first
        assert note["csum"] == int(hashlib.sha1(first.encode()).hexdigest()[:8], 16)
        assert note["tags"] == " whygrad::testing-99 whygrad::en whygrad::testing "
        assert note["mod"] == datetime(2026, 1, 1, tzinfo=UTC).timestamp()
    ids = {note["id"]: note["guid"] for note in package.notes}
    assert [ids[card["nid"]] for card in package.cards] == list(wanted), "in the order of the deck"
    assert {card["did"] for card in package.cards} == {deck_id("Testing · 99")}
    assert {(card["ord"], card["type"], card["queue"]) for card in package.cards} == {(0, 0, 0)}


def test_the_note_type() -> None:
    ((key, model),) = opened(deck_of(2)).models.items()
    assert key == model["id"] == str(MODEL_ID)
    assert model["name"] == "whygrad"
    assert [field["name"] for field in model["flds"]] == ["Id", "Front", "Back", "See"]
    assert model["sortf"] == 0
    assert model["req"] == [[0, "all", [1]]]
    (template,) = model["tmpls"]
    for field in ("{{FrontSide}}", "{{Back}}", "{{See}}", "{{Id}}"):
        assert field in template["afmt"]
    assert "nightMode" in model["css"]


def test_ids_of_decks_never_move() -> None:
    assert deck_id("Tokens to Embodied Minds · Ch 03") == 1471523698
    assert deck_id("whygrad · Phase 07") == 1752811887


def test_several_decks_and_one_name_for_all() -> None:
    decks = (deck_of(3), replace(deck_of(3), id="o", name="Other", cards=deck_of(5).cards[3:]))
    package = opened(*decks)
    names = {name: int(key) for key, deck in package.decks.items() for name in [deck["name"]]}
    assert names == {
        "Default": 1,
        "Testing · 99": deck_id("Testing · 99"),
        "Other": deck_id("Other"),
    }
    assert len(package.models) == 1
    assert [card["did"] for card in package.cards] == [names["Testing · 99"]] * 3 + [
        names["Other"]
    ] * 2
    renamed = opened(*decks, name="Mine")
    assert {card["did"] for card in renamed.cards} == {deck_id("Mine")}
    assert renamed.fields == package.fields


def test_languages_do_not_collide() -> None:
    english, spanish = opened(deck_of(9)), opened(deck_of(9), language="es")
    for column in ("guid", "id", "sfld"):
        assert not {n[column] for n in english.notes} & {n[column] for n in spanish.notes}
    assert not {card["id"] for card in english.cards} & {card["id"] for card in spanish.cards}
    assert english.models == spanish.models


def test_a_corrected_card_replaces_the_old_note() -> None:
    before = deck_of(3)
    corrected = replace(before.cards[1], back={"en": "Corrected", "es": "Corregido"})
    cards = (before.cards[0], corrected, before.cards[2])
    after = replace(before, cards=cards, revised="2026-01-02")
    old, new = opened(before), opened(after)
    assert old.fields.keys() == new.fields.keys()
    changed = [guid for guid in old.fields if old.fields[guid] != new.fields[guid]]
    assert len(changed) == 1
    # Anki takes a note from a package only when it is newer than the one it has
    assert min(note["mod"] for note in new.notes) > max(note["mod"] for note in old.notes)
    assert [note["id"] for note in old.notes] == [note["id"] for note in new.notes]


def test_an_added_card_moves_nothing() -> None:
    shorter, longer = opened(deck_of(3)), opened(replace(deck_of(4), cards=deck_of(4).cards[::-1]))
    ids = {note["guid"]: note["id"] for note in longer.notes}
    for note in shorter.notes:
        assert ids[note["guid"]] == note["id"]


PROGRAM = """
import sys, time
from pathlib import Path
from tests.learn.drill.support import deck_of
from whygrad.learn.drill.export import export_decks
time.sleep(float(sys.argv[2]))
export_decks([deck_of(20)], Path(sys.argv[1]), "en")
"""


def test_the_same_file_in_another_process_at_another_time(tmp_path: Path) -> None:
    contents = []
    for number, seconds in enumerate(("0", "2.1")):  # dates in a zip file are even seconds
        target = tmp_path / f"{number}.apkg"
        environment = {**os.environ, "PYTHONHASHSEED": str(number + 1), "TZ": f"UTC{number}"}
        command = [sys.executable, "-c", PROGRAM, str(target), seconds]
        subprocess.run(command, check=True, env=environment)
        contents.append(target.read_bytes())
    assert contents[0] == contents[1]
    export_decks([deck_of(20)], tmp_path / "here.apkg", "en")
    assert (tmp_path / "here.apkg").read_bytes() == contents[0]


@pytest.mark.parametrize("name", ["deck.txt", "deck", "deck.apkg.zip"])
def test_an_unknown_kind_of_file(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match=r"is not a format for Anki[^$]*\.apkg"):
        export_decks([deck_of(1)], tmp_path / name, "en")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["2024", " 7 ", "-5", "", "  "])
def test_a_deck_that_anki_would_take_for_an_id(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="choose a name"):
        export_decks([deck_of(1)], tmp_path / "deck.tsv", "en", name)
    assert list(tmp_path.iterdir()) == []


def test_what_was_there_stays_when_writing_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "deck.apkg"
    target.write_bytes(b"before")

    def full(self: Path, content: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match=r"No space left on device: .*deck\.apkg"):
        export_decks([deck_of(1)], target, "en")
    assert target.read_bytes() == b"before"
    assert [path.name for path in tmp_path.iterdir()] == ["deck.apkg"]
