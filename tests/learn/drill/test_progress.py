"""Reviews: what is written is read, taken elsewhere and brought back; a corrupt line is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.learn.drill.support import review, sequence, to_line
from whygrad.learn.drill import progress
from whygrad.learn.journal import Contents


def test_what_is_added_is_read_in_order(tmp_path: Path) -> None:
    path = tmp_path / "reviews.jsonl"
    assert progress.read(path).entries == ()
    several = sequence("d-99-01", (0, 3), (0.01, 3), (2, 1))
    for each in several:
        progress.append(path, each)
    assert list(progress.read(path).entries) == several
    assert path.read_text().count("\n") == 3


def test_a_torn_last_line_does_not_count_and_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "reviews.jsonl"
    first, second, third = sequence("d-99-01", (0, 3), (1, 3), (2, 3))
    whole = to_line(first) + to_line(second)
    for cut in range(len(to_line(first)) + 1, len(whole) - 1):
        path.write_text(whole[:cut])
        kept = progress.read(path)
        assert kept.entries == (first,)
        assert kept.torn == whole[len(to_line(first)) : cut].encode()
        progress.append(path, third)
        assert progress.read(path) == Contents((first, third))


def test_a_last_line_without_its_end_counts(tmp_path: Path) -> None:
    path = tmp_path / "reviews.jsonl"
    first, second = sequence("d-99-01", (0, 3), (1, 3))
    path.write_text(to_line(first).rstrip("\n"))
    assert progress.read(path) == Contents((first,))
    progress.append(path, second)
    assert progress.read(path) == Contents((first, second))


@pytest.mark.parametrize("broken", [b"{", b'{"card": "d-99-01"}', b"\x00\x00", b"\xff"])
def test_a_corrupt_line_elsewhere_is_named_and_nothing_changes(
    tmp_path: Path, broken: bytes
) -> None:
    path = tmp_path / "reviews.jsonl"
    line = to_line(review()).encode()
    content = line + broken + b"\n" + line
    path.write_bytes(content)
    with pytest.raises(ValueError, match="line 2 is not a review") as caught:
        progress.read(path)
    assert str(path) in str(caught.value)
    with pytest.raises(ValueError, match="line 2"):
        progress.merge(path, [review("d-99-05")])
    with pytest.raises(ValueError, match="line 2"):
        progress.export(path, tmp_path / "out.jsonl")
    assert path.read_bytes() == content
    assert not (tmp_path / "out.jsonl").exists()


def test_merging_adds_what_is_missing_once(tmp_path: Path) -> None:
    path = tmp_path / "reviews.jsonl"
    mine = sequence("d-99-01", (0, 3), (2, 4))
    for each in mine:
        progress.append(path, each)
    before = path.read_bytes()
    theirs = [mine[1], *sequence("d-99-02", (0, 1), (1, 3)), review("d-99-02", 1)]
    assert progress.merge(path, theirs) == 2
    assert path.read_bytes().startswith(before), "what was there stays as it is"
    after = path.read_bytes()
    assert progress.merge(path, theirs) == 0
    assert path.read_bytes() == after


def test_merging_into_a_torn_log(tmp_path: Path) -> None:
    path = tmp_path / "reviews.jsonl"
    path.write_text(to_line(review()) + '{"card": "d-9')
    assert progress.merge(path, [review("d-99-02")]) == 1
    assert progress.read(path) == Contents((review(), review("d-99-02")))


def test_merging_after_a_last_line_without_its_end(tmp_path: Path) -> None:
    path = tmp_path / "reviews.jsonl"
    path.write_text(to_line(review()).rstrip("\n"))
    assert progress.merge(path, [review("d-99-02")]) == 1
    assert path.read_text() == to_line(review()) + to_line(review("d-99-02"))


def test_out_and_in_again(tmp_path: Path) -> None:
    here, there, moved = (tmp_path / name for name in ("a.jsonl", "b.jsonl", "moved.jsonl"))
    for each in [*sequence("d-99-02", (1, 3), (3, 1)), *sequence("d-99-01", (0, 3), (2, 4))]:
        progress.append(here, each)
    assert progress.export(here, moved) == 4
    assert progress.merge(there, progress.read_foreign(moved)) == 4
    assert set(progress.read(there).entries) == set(progress.read(here).entries)
    assert progress.merge(here, progress.read_foreign(moved)) == 0
    times = [each.time for each in progress.read_foreign(moved)]
    assert times == sorted(times)


@pytest.mark.parametrize("content", ["nonsense\n", '{"card": "d-99-01"}\n', '{"card": "d-99'])
def test_bad_input_is_refused(tmp_path: Path, content: str) -> None:
    foreign = tmp_path / "foreign.jsonl"
    foreign.write_text(to_line(review()) + content)
    with pytest.raises(ValueError, match=r"line 2|cut off"):
        progress.read_foreign(foreign)
