"""The log: what is written is read, a torn end is survived, a corrupt line is refused."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.learn.drill.support import NOON, review, sequence
from whygrad.learn.drill import log
from whygrad.learn.drill.review import Review, from_line, to_line

TIMES = st.datetimes(datetime(2000, 1, 2), datetime(2199, 12, 30), timezones=st.just(UTC))
REVIEWS = st.builds(
    Review,
    card=st.from_regex(r"d-[0-9]{2}-[0-9]{2}", fullmatch=True),
    time=TIMES,
    rating=st.sampled_from([1, 2, 3, 4]),
    language=st.sampled_from(["en", "es"]),
    seconds=st.floats(0, 1e6),
    fsrs=st.text(max_size=12),
)


@given(REVIEWS)
def test_a_line_tells_its_review(each: Review) -> None:
    line = to_line(each)
    assert line.endswith("\n")
    assert line.count("\n") == 1
    assert from_line(line) == each


def test_a_time_in_another_zone_is_the_same_time() -> None:
    there = NOON.astimezone(timezone(timedelta(hours=-5)))
    fields = json.loads(to_line(review()))
    again = from_line(json.dumps({**fields, "time": there.isoformat()}))
    assert again == review()
    assert again.time.tzinfo is UTC


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"card": "q-03-01"}, "card"),
        ({"card": 3}, "card"),
        ({"rating": 5}, "rating"),
        ({"rating": True}, "rating"),
        ({"rating": "3"}, "rating"),
        ({"rating": [3]}, "rating"),
        ({"language": "fr"}, "language"),
        ({"language": ["en"]}, "language"),
        ({"time": "2026-03-02T12:00:00"}, "time zone"),
        ({"time": "yesterday"}, "time"),
        ({"time": 17}, "time"),
        ({"time": "0001-01-01T00:00:00+10:00"}, "time"),
        ({"time": "9999-01-01T00:00:00+00:00"}, "out of range"),
        ({"seconds": -1}, "seconds"),
        ({"seconds": float("nan")}, "seconds"),
        ({"seconds": "2"}, "seconds"),
        ({"seconds": 10**400}, "seconds"),
        ({"fsrs": None}, "fsrs"),
    ],
)
def test_a_line_that_is_no_review(change: dict[str, object], complaint: str) -> None:
    fields = {**json.loads(to_line(review())), **change}
    with pytest.raises(ValueError, match=complaint):
        from_line(json.dumps(fields))


@pytest.mark.parametrize("name", ["card", "time", "rating", "language", "seconds", "fsrs"])
def test_each_field_is_needed(name: str) -> None:
    fields = json.loads(to_line(review()))
    del fields[name]
    with pytest.raises(ValueError, match=f'"{name}" is missing'):
        from_line(json.dumps(fields))


@pytest.mark.parametrize("line", ["", "nonsense", "[1]", "3", b"\xff\xfe{}", "[" * 100_000])
def test_no_json_object(line: str | bytes) -> None:
    with pytest.raises(ValueError, match="it is not"):
        from_line(line)


def test_what_is_added_is_read_in_order(tmp_path: Path) -> None:
    path = tmp_path / "reviews.jsonl"
    assert log.read(path).reviews == ()
    several = sequence("d-99-01", (0, 3), (0.01, 3), (2, 1))
    for each in several:
        log.append(path, each)
    assert list(log.read(path).reviews) == several
    assert path.read_text().count("\n") == 3


def test_a_torn_last_line_does_not_count_and_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "reviews.jsonl"
    first, second, third = sequence("d-99-01", (0, 3), (1, 3), (2, 3))
    whole = to_line(first) + to_line(second)
    for cut in range(len(to_line(first)) + 1, len(whole) - 1):
        path.write_text(whole[:cut])
        kept = log.read(path)
        assert kept.reviews == (first,)
        assert kept.torn == whole[len(to_line(first)) : cut].encode()
        log.append(path, third)
        assert log.read(path) == log.Log((first, third))


def test_a_last_line_without_its_end_counts(tmp_path: Path) -> None:
    path = tmp_path / "reviews.jsonl"
    first, second = sequence("d-99-01", (0, 3), (1, 3))
    path.write_text(to_line(first).rstrip("\n"))
    assert log.read(path) == log.Log((first,))
    log.append(path, second)
    assert log.read(path) == log.Log((first, second))


def test_torn_in_the_middle_of_a_character(tmp_path: Path) -> None:
    path = tmp_path / "reviews.jsonl"
    path.write_bytes(to_line(review()).encode() + b'{"card": "d-99-02", "fsrs": "\xc3')
    assert log.read(path).torn.endswith(b"\xc3")


@pytest.mark.parametrize("broken", [b"{", b'{"card": "d-99-01"}', b"\x00\x00", b"\xff"])
def test_a_corrupt_line_elsewhere_is_named_and_nothing_changes(
    tmp_path: Path, broken: bytes
) -> None:
    path = tmp_path / "reviews.jsonl"
    line = to_line(review()).encode()
    content = line + broken + b"\n" + line
    path.write_bytes(content)
    with pytest.raises(ValueError, match="line 2 is not a review") as caught:
        log.read(path)
    assert str(path) in str(caught.value)
    with pytest.raises(ValueError, match="line 2"):
        log.merge(path, [review("d-99-05")])
    with pytest.raises(ValueError, match="line 2"):
        log.export(path, tmp_path / "out.jsonl")
    assert path.read_bytes() == content
    assert not (tmp_path / "out.jsonl").exists()


WRITER = """
import sys
from pathlib import Path
from datetime import timedelta
from tests.learn.drill.support import review
from whygrad.learn.drill import log
for number in range(40):
    log.append(Path(sys.argv[1]), review(f"d-{sys.argv[2]}-{number:02d}", 3))
"""


def test_writers_at_the_same_time_write_whole_lines(tmp_path: Path) -> None:
    path = tmp_path / "reviews.jsonl"
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(path), name])
        for name in ("01", "02", "03", "04")
    ]
    # and somebody who imports in between
    added = sum(log.merge(path, [review(f"d-50-{number:02d}")]) for number in range(30))
    assert [writer.wait(60) for writer in writers] == [0, 0, 0, 0]
    assert added == 30
    cards = [each.card for each in log.read(path).reviews]
    assert len(cards) == len(set(cards)) == 4 * 40 + 30
    for name in ("01", "02", "03", "04"):
        own = [card for card in cards if card.startswith(f"d-{name}")]
        assert own == sorted(own)


def test_merging_adds_what_is_missing_once(tmp_path: Path) -> None:
    path = tmp_path / "reviews.jsonl"
    mine = sequence("d-99-01", (0, 3), (2, 4))
    for each in mine:
        log.append(path, each)
    before = path.read_bytes()
    theirs = [mine[1], *sequence("d-99-02", (0, 1), (1, 3)), review("d-99-02", 1)]
    assert log.merge(path, theirs) == 2
    assert path.read_bytes().startswith(before), "what was there stays as it is"
    after = path.read_bytes()
    assert log.merge(path, theirs) == 0
    assert path.read_bytes() == after


def test_merging_into_a_torn_log(tmp_path: Path) -> None:
    path = tmp_path / "reviews.jsonl"
    path.write_text(to_line(review()) + '{"card": "d-9')
    assert log.merge(path, [review("d-99-02")]) == 1
    assert log.read(path) == log.Log((review(), review("d-99-02")))


def test_merging_after_a_last_line_without_its_end(tmp_path: Path) -> None:
    path = tmp_path / "reviews.jsonl"
    path.write_text(to_line(review()).rstrip("\n"))
    assert log.merge(path, [review("d-99-02")]) == 1
    assert path.read_text() == to_line(review()) + to_line(review("d-99-02"))


def test_out_and_in_again(tmp_path: Path) -> None:
    here, there, moved = (tmp_path / name for name in ("a.jsonl", "b.jsonl", "moved.jsonl"))
    for each in [*sequence("d-99-02", (1, 3), (3, 1)), *sequence("d-99-01", (0, 3), (2, 4))]:
        log.append(here, each)
    assert log.export(here, moved) == 4
    assert log.merge(there, log.read_foreign(moved)) == 4
    assert set(log.read(there).reviews) == set(log.read(here).reviews)
    assert log.merge(here, log.read_foreign(moved)) == 0
    times = [each.time for each in log.read_foreign(moved)]
    assert times == sorted(times)


@pytest.mark.parametrize("content", ["nonsense\n", '{"card": "d-99-01"}\n', '{"card": "d-99'])
def test_bad_input_is_refused(tmp_path: Path, content: str) -> None:
    foreign = tmp_path / "foreign.jsonl"
    foreign.write_text(to_line(review()) + content)
    with pytest.raises(ValueError, match=r"line 2|cut off"):
        log.read_foreign(foreign)
