"""``whygrad drill`` on the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.learn.drill import anki_text
from tests.learn.drill.support import review, to_line
from tests.learn.drill.test_apkg import Opened
from whygrad.cli.commands import cli
from whygrad.learn.content import decks
from whygrad.learn.drill import progress

DECK = decks()[0]
FIRST, SECOND = DECK.cards[:2]
OVERDUE = datetime.now(UTC) - timedelta(days=30)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WHYGRAD_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("WHYGRAD_LANG", "en")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "home"


def drill(*arguments: str, typed: str = "") -> Result:
    return CliRunner().invoke(cli, ["drill", *arguments], input=typed, catch_exceptions=False)


def lines(home: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (home / "reviews.jsonl").read_text().splitlines()]


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", ("Enter: show the answer", "1 again (1 min)", "4 easy (8 days)", "Reviews: 2")),
        ("es", ("Enter: ver la respuesta", "1 otra vez (1 min)", "4 fácil (8 días)", "Repasos: 2")),
    ],
)
@pytest.mark.parametrize("command", [(), ("review",), ("07",), ("review", "7")])
def test_a_piped_session(
    home: Path, language: str, words: tuple[str, ...], command: tuple[str, ...]
) -> None:
    result = drill(*command, "--lang", language, typed="\n3\n\n4\n")
    assert result.exit_code == 0, result.output
    for word in words:
        assert word in result.output
    kept = lines(home)
    assert [(line["card"], line["rating"], line["language"]) for line in kept] == [
        (FIRST.id, 3, language),
        (SECOND.id, 4, language),
    ]
    assert kept[0].keys() == {"card", "time", "rating", "language", "seconds", "fsrs"}
    assert datetime.fromisoformat(str(kept[0]["time"])).utcoffset() == timedelta()


def test_a_real_pipe_and_a_language_from_the_environment(home: Path) -> None:
    environment = {**os.environ, "WHYGRAD_LANG": "es", "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        [sys.executable, "-m", "whygrad", "drill", "--limit", "1"],
        input="\n4\n", capture_output=True, encoding="utf-8", env=environment, check=True,
    )  # fmt: skip
    assert "Repasos: 1 (fácil 1)" in done.stdout
    assert done.stderr == ""
    assert len(lines(home)) == 1


@pytest.mark.parametrize("closed", [True, False])
def test_nobody_is_there(home: Path, closed: bool) -> None:
    redirect = "<&-" if closed else "< binary"
    Path("binary").write_bytes(b"\xff\xfe\n3\n")
    command = f"'{sys.executable}' -m whygrad drill --lang en {redirect}"
    done = subprocess.run(
        command, shell=True, capture_output=True, encoding="utf-8", check=True,
        env={**os.environ, "PYTHONIOENCODING": "utf-8:strict"},
    )  # fmt: skip
    assert "No card was rated." in done.stdout
    assert done.stderr == ""


def test_options_of_a_session(home: Path) -> None:
    result = drill("review", "--new", "1", typed="\n4\n\n4\n")
    assert len(lines(home)) == 1
    assert "Reviews: 1" in result.output
    assert "Nothing is due." in drill("review", "--new", "0").output
    assert drill("review", "--limit", "0").exit_code == 2
    assert drill("review", "--lang", "fr").exit_code == 2


def test_an_unknown_deck(home: Path) -> None:
    result = drill("nonsense")
    assert result.exit_code == 2
    assert "There is no deck nonsense; there are: 07, 08, 03, 25." in result.output
    assert "No hay ningún mazo nonsense" in drill("review", "nonsense", "--lang", "es").output


def test_help(home: Path) -> None:
    result = drill("--help")
    assert result.exit_code == 0
    for command in ("review", "stats", "list", "export", "progress"):
        assert command in result.output


def test_stats_and_list(home: Path) -> None:
    assert "–" in drill("stats", "--lang", "en").output, "no retention before the first review"
    path = home / "reviews.jsonl"
    for after, rating in ((0, 4), (9, 4)):
        progress.append(
            path, review(FIRST.id, rating, OVERDUE - review().time + timedelta(days=after))
        )
    found = {line.split()[0]: line.split() for line in drill("stats").output.splitlines()}
    total = len(DECK.cards)
    assert found["07"] == ["07", str(total), str(total - 1), "0", "0", "1", "100%"]
    spanish = drill("stats", "--lang", "es").output
    assert "retención" in spanish
    assert "maduras" in spanish
    listed = drill("list", "--lang", "es").output
    for deck in decks():
        assert deck.number in listed
        assert deck.title["es"] in listed


@pytest.mark.parametrize("command", ["list", "stats"])
def test_a_narrow_terminal_cuts_nothing_off(
    home: Path, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "36")
    shown = drill(command, "--lang", "es").output
    assert "…" not in shown
    assert max(map(len, shown.splitlines())) <= 36


def test_progress_goes_to_another_computer(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drill(typed="\n3\n\n1\n")
    result = drill("progress", "export", "moved.jsonl")
    assert "2 reviews written to moved.jsonl." in result.output
    monkeypatch.setenv("WHYGRAD_HOME", str(home.parent / "other"))
    assert (
        "2 repasos añadidos; 0 ya estaban."
        in drill("progress", "import", "moved.jsonl", "--lang", "es").output
    )
    assert (
        "0 reviews added; 2 were there already."
        in drill("progress", "import", "moved.jsonl").output
    )
    assert lines(home.parent / "other") == lines(home)
    before, after = (drill("stats").output for _ in range(2))
    assert before == after


def test_bad_progress_is_refused_and_nothing_changes(home: Path) -> None:
    drill(typed="\n3\n")
    before = (home / "reviews.jsonl").read_bytes()
    Path("bad.jsonl").write_text(to_line(review(SECOND.id)) + '{"card": "d-03-01", "rating": 9}\n')
    result = drill("progress", "import", "bad.jsonl")
    assert result.exit_code == 1
    assert "line 2 is not a review" in result.output
    assert "Traceback" not in result.output
    missing = drill("progress", "import", "missing.jsonl")
    assert missing.exit_code == 1
    assert "Error: missing.jsonl: No such file" in missing.output
    assert (home / "reviews.jsonl").read_bytes() == before


def test_a_corrupt_log_is_named_and_left_alone(home: Path) -> None:
    home.mkdir()
    path = home / "reviews.jsonl"
    path.write_text("nonsense\n")
    for command in ((), ("stats",), ("list",), ("progress", "export", "out.jsonl")):
        result = drill(*command, typed="\n3\n")
        assert result.exit_code == 1
        assert "line 1 is not a review" in result.output
        assert str(path) in result.output
    assert path.read_text() == "nonsense\n"
    assert not Path("out.jsonl").exists()


def test_a_torn_log_is_reported(home: Path) -> None:
    home.mkdir()
    (home / "reviews.jsonl").write_text(to_line(review(FIRST.id)) + '{"card"')
    for command, words in ((("stats",), "cut off"), (("list", "--lang", "es"), "cortada")):
        result = drill(*command)
        assert result.exit_code == 0
        assert words in " ".join(result.output.split())


@pytest.mark.parametrize("language", ["en", "es"])
def test_export_as_text(home: Path, language: str) -> None:
    result = drill("export", "--to", "deck.tsv", "--lang", language, "07")
    assert result.exit_code == 0, result.output
    read = anki_text.read(Path("deck.tsv").read_text(encoding="utf-8"))
    assert [note.fields["Id"] for note in read.notes] == [
        f"{card.id}-{language}" for card in DECK.cards
    ]
    assert {note.deck for note in read.notes} == {DECK.name}
    assert str(len(read.notes)) in result.output


def test_export_of_all_decks_or_under_one_name(home: Path) -> None:
    assert drill("export", "--to", "all.apkg").exit_code == 0
    package = Opened(Path("all.apkg").read_bytes())
    assert len(package.notes) == sum(len(deck.cards) for deck in decks())
    assert {deck["name"] for deck in package.decks.values()} == {
        "Default",
        *(deck.name for deck in decks()),
    }
    assert drill("export", "--to", "one.apkg", "--deck", "Mine", "--lang", "es").exit_code == 0
    renamed = Opened(Path("one.apkg").read_bytes())
    assert {deck["name"] for deck in renamed.decks.values()} == {"Default", "Mine"}
    assert not renamed.fields.keys() & package.fields.keys()


def test_exports_that_cannot_be(home: Path) -> None:
    assert "is not a format for Anki" in drill("export", "--to", "deck.csv").output
    assert drill("export").exit_code == 2
    assert drill("export", "--to", "deck.tsv", "77").exit_code == 2
    for command in (("export", "--to"), ("progress", "export")):
        result = drill(*command, "no/such/folder/deck.tsv")
        assert result.exit_code == 1
        assert result.output == "Error: no/such/folder/deck.tsv: No such file or directory\n"
    assert list(home.parent.iterdir()) == [home]


def test_a_command_that_is_shown_speaks_the_language_of_its_reader(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("WHYGRAD_LANG")
    monkeypatch.setenv("LC_ALL", "en_GB.UTF-8")
    session, listed = drill("--lang", "es", typed="\n4\n"), drill("list", "--lang", "es")
    assert "whygrad drill --new 10 --lang es" in session.output
    assert "whygrad drill export --to deck.apkg --lang es" in listed.output
    assert f"whygrad drill {DECK.number} --lang es\n" in listed.output
    assert "--lang" not in drill(typed="\n4\n").output + drill("list").output
