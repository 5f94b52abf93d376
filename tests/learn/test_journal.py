"""The journal: whole lines by one writer at a time, a torn end mended, corrupt lines named."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from whygrad.cli.commands import cli
from whygrad.learn.journal import Contents, Journal, field


def parse(raw: dict[str, Any]) -> int:
    return int(field(raw, "number", int))


def opened(path: Path) -> Journal[int]:
    return Journal(path, parse, "a number")


@pytest.fixture
def journal(tmp_path: Path) -> Journal[int]:
    return opened(tmp_path / "numbers.jsonl")


def test_what_is_added_is_read_in_order(journal: Journal[int]) -> None:
    assert journal.read() == Contents()
    assert list(journal.path.parent.iterdir()) == [], "reading leaves no trace"
    journal.append({"number": 1})
    journal.append({"number": 2}, {"number": 3})
    assert journal.read() == Contents((1, 2, 3))


@pytest.mark.parametrize(
    "torn", [b'{"number": 2', b"nonsense", b"\xff", b"\x00\x00", b'"caf\xc3', b"[" * 100_000]
)
def test_a_torn_last_line_is_told_and_taken_away_by_the_next_writer(
    journal: Journal[int], torn: bytes
) -> None:
    journal.append({"number": 1})
    with open(journal.path, "ab") as stream:
        stream.write(torn)
    assert journal.read() == Contents((1,), torn)
    journal.append({"number": 3})
    assert journal.path.read_bytes() == b'{"number": 1}\n{"number": 3}\n'


def test_a_last_line_without_its_end_counts(journal: Journal[int]) -> None:
    journal.path.write_text('{"number": 1}')
    assert journal.read() == Contents((1,))
    journal.append({"number": 2})
    assert journal.read() == Contents((1, 2))


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        (b"nonsense", "it is not JSON: "),
        (b"\xff\xfe{}", "it is not JSON: "),
        (b"[" * 100_000, "it is not JSON: nested too deeply"),
        (b"[1]", "it is not a JSON object"),
        (b"null", "it is not a JSON object"),
        (b"{}", '"number" is missing'),
        (b'{"number": "2"}', "\"number\" is '2', not a whole number"),
    ],
)
def test_a_corrupt_line_is_named_and_stays(journal: Journal[int], line: bytes, cause: str) -> None:
    before = b'{"number": 1}\n' + line + b"\n\n{}\n" + b'{"number": 5}\r\n'
    journal.path.write_bytes(before)
    contents = journal.read()
    assert (contents.entries, contents.torn) == ((1, 5), b"")
    call, *reasons = str(contents.fault).splitlines()
    assert call == f"reading {journal.path}"
    assert reasons[0].startswith(f"  cause: line 2 is not a number: {cause}")
    assert reasons[0].endswith(" (and 1 more such)")
    assert reasons[1] == "  fix:   correct or remove that line; nothing was changed"
    with pytest.raises(ValueError, match="line 2"):
        contents.sound()
    with pytest.raises(ValueError, match="line 2"):
        journal.merge(lambda entries: [{"number": 9}])
    journal.append({"number": 6})
    assert journal.path.read_bytes() == before + b'{"number": 6}\n'


def test_merging_is_all_or_nothing(journal: Journal[int]) -> None:
    journal.path.write_text('{"number": 1}\n{"numb')
    journal.merge(lambda entries: [{"number": each + 1} for each in entries])
    assert journal.read() == Contents((1, 2))

    def breaks(entries: tuple[int, ...]) -> list[dict[str, object]]:
        return [{"number": 3}, {"number": object()}]

    with pytest.raises(TypeError):
        journal.merge(breaks)
    assert journal.read() == Contents((1, 2))


WRITER = """
import sys
from pathlib import Path
from tests.learn.test_journal import opened
for number in range(40):
    opened(Path(sys.argv[1])).append({"number": int(sys.argv[2]) * 100 + number})
"""


def test_writers_at_the_same_time_write_whole_lines(journal: Journal[int]) -> None:
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(journal.path), str(name)])
        for name in (1, 2, 3)
    ]
    for number in range(30):  # and somebody who replaces the whole file in between
        journal.merge(lambda entries, number=number: [{"number": number}])
    assert [writer.wait(60) for writer in writers] == [0, 0, 0]
    numbers = journal.read().entries
    assert len(numbers) == len(set(numbers)) == 3 * 40 + 30
    for name in range(4):
        own = [number for number in numbers if number // 100 == name]
        assert own == sorted(own)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_is_read(journal: Journal[int]) -> None:
    journal.path.write_text('{"number": 1}\n')
    folder = journal.path.parent
    folder.chmod(0o500)
    try:
        assert journal.read() == Contents((1,))
        with pytest.raises(OSError, match="Permission denied") as caught:
            journal.append({"number": 2})
        assert caught.value.filename == str(journal.path)
    finally:
        folder.chmod(0o700)


OLD = {  # as they were written before there was a journal
    "labs.jsonl": (
        {"time": "2026-01-01T00:00:00+00:00", "event": "start", "lab": "value", "folder": "/gone"},
        {"time": "2026-01-02T00:00:00+00:00", "event": "check", "lab": "value", "failing": [],
         "blocked": False, "seed": 1, "folder": "/gone"},
    ),
    "quizzes.jsonl": (
        {"event": "begin", "at": "2026-01-01", "run": "a1", "quiz": "phase-07-scalar-autograd",
         "whole": False, "questions": ["q-07-01"]},
        {"event": "answer", "at": "2026-01-01", "run": "a1", "question": "q-07-01", "score": 0.0,
         "answer": ["a"], "skipped": False},
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("command", "name", "shown"),
    [("lab", "labs.jsonl", "passed"), ("quiz --results", "quizzes.jsonl", "0%")],
)
@pytest.mark.parametrize("language", ["en", "es"])
def test_a_command_says_what_does_not_count_and_goes_on(
    command: str, name: str, shown: str, language: str,
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setenv("WHYGRAD_HOME", str(tmp_path))
    path = tmp_path / name
    first, second = (json.dumps(each) for each in OLD[name])
    path.write_text(f"{first}\n{second}\n")
    plain = CliRunner().invoke(cli, [*command.split(), "--lang", language])
    assert (plain.exit_code, plain.stderr) == (0, "")
    path.write_text(f'{first}\n{{"event": 3}}\n{second}\n{{"ev')
    damaged = CliRunner().invoke(cli, [*command.split(), "--lang", language])
    assert (damaged.exit_code, damaged.stdout) == (0, plain.stdout), "the rest still counts"
    cut, cause = ("cut off", "  cause: ") if language == "en" else ("cortada", "  causa:   ")
    assert cut in damaged.stderr
    assert f"{cause}line 2 is not a" in damaged.stderr
    assert str(path) in damaged.stderr
    if language == "en":
        assert shown in plain.stdout
