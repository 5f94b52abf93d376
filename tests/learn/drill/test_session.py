"""A session, with keys and a clock that the test holds."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from rich.console import Console

from tests.learn.drill.support import NOON, deck_of, review, to_line
from whygrad.learn.drill import progress
from whygrad.learn.drill.session import DrillSession
from whygrad.learn.language import Language


class Clock:
    """Goes on by a second with every look."""

    def __init__(self, start: datetime = NOON) -> None:
        self.time = start

    def __call__(self) -> datetime:
        self.time += timedelta(seconds=1)
        return self.time


def typing(keys: str, end: type[BaseException] = EOFError) -> Callable[[], str]:
    """Keys one after the other, then the end of the input; a space stands for Enter."""
    left = iter(keys)

    def key() -> str:
        found = next(left, None)
        if found is None:
            raise end
        return "\r" if found == " " else found

    return key


def session(
    path: Path,
    keys: str,
    *,
    count: int = 3,
    limit: int | None = None,
    new: int | None = None,
    language: Language = "en",
    end: type[BaseException] = EOFError,
    clock: Clock | None = None,
) -> str:
    """What is printed."""
    out = io.StringIO()
    console = Console(file=out, width=100, color_system=None)
    reader = typing(keys, end)
    DrillSession(
        console, [deck_of(count)], path, language, reader, limit=limit, new=new,
        clock=clock or Clock(),
    ).run()  # fmt: skip
    return out.getvalue()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "reviews.jsonl"


def test_front_then_back_then_rating(path: Path) -> None:
    printed = session(path, " 4", count=1)
    front, back, ratings = (
        printed.index(text) for text in ("Front 1?", "Back x₁", "1 again (1 min)")
    )
    assert front < printed.index("Enter: show the answer") < back < ratings
    assert "2 hard (6 min)   3 good (10 min)   4 easy (8 days)" in printed
    assert "See: whygrad ops log" in printed
    assert "Reviews: 1 (easy 1). Everything is saved." in printed
    assert "Next card due: in 8 days. Until midnight: 0; tomorrow: 0." in printed
    (kept,) = progress.read(path).entries
    assert (kept.card, kept.rating, kept.language) == ("d-99-01", 4, "en")
    assert kept.seconds > 0
    assert NOON < kept.time < NOON + timedelta(minutes=1)


def test_in_spanish(path: Path) -> None:
    printed = session(path, " 9 4", count=1, language="es")
    assert "¿Anverso 1?" in printed
    assert "Reverso x₁" in printed
    assert "1 otra vez (1 min)   2 difícil (6 min)   3 bien (10 min)   4 fácil (8 días)" in printed
    assert "Escribe 1, 2, 3 o 4" in printed
    assert "Repasos: 1 (fácil 1). Todo queda guardado." in printed
    assert progress.read(path).entries[0].language == "es"


def test_the_deck_is_named_when_it_changes(path: Path) -> None:
    printed = session(path, " 4 4", count=2)
    assert printed.count("deck 99: Testing\n") == 1
    assert printed.index("deck 99: Testing") < printed.index("Front 1?")
    assert "mazo 99: Prueba\n" in session(path, "", language="es", count=3)


def test_the_back_is_not_shown_before_it_is_asked_for(path: Path) -> None:
    assert "Back" not in session(path, "")


def test_a_card_in_its_steps_comes_again_until_it_is_learned(path: Path) -> None:
    printed = session(path, " 3 3 1 3 3 3 3", count=2)
    order = " ".join(each.card[-2:] for each in progress.read(path).entries)
    assert order == "01 02 01 01 02 01"
    assert "Reviews: 6 (again 1, good 5)" in printed
    assert "tomorrow: 1" in printed, "the one that was forgotten"


@pytest.mark.parametrize("end", [EOFError, KeyboardInterrupt])
@pytest.mark.parametrize("keys", [" 3 ", " 3"])
def test_every_end_keeps_what_was_rated(path: Path, keys: str, end: type[BaseException]) -> None:
    printed = session(path, keys, end=end)
    assert "Reviews: 1 (good 1). Everything is saved." in printed
    assert [each.card for each in progress.read(path).entries] == ["d-99-01"]


@pytest.mark.parametrize("keys", [" 3q", " 3 q", " 3Q"])
def test_q_stops_at_the_front_and_at_the_back(path: Path, keys: str) -> None:
    assert "Reviews: 1 (good 1)" in session(path, keys + " 3 3")
    assert len(progress.read(path).entries) == 1


def test_stopping_at_once(path: Path) -> None:
    printed = session(path, "q")
    assert "No card was rated." in printed
    assert "Cards you have not seen yet: 3" in printed
    assert progress.read(path).entries == ()


def test_other_keys_are_no_rating(path: Path) -> None:
    printed = session(path, " 05x 3", count=1, limit=1)
    assert printed.count("Type 1, 2, 3 or 4") == 4
    assert [each.rating for each in progress.read(path).entries] == [3]


def test_limit_and_new(path: Path) -> None:
    assert "Reviews: 2" in session(path, " 4 4 4", limit=2)
    assert "left: 0 due, 0 new" in session(path, " 4", new=1, count=9)
    assert len(progress.read(path).entries) == 3
    assert "Nothing is due." in session(path, "", new=0, count=9)


def test_ten_new_cards_a_day_unless_more_are_asked_for(path: Path) -> None:
    session(path, " 4" * 30, count=25)
    assert len(progress.read(path).entries) == 10
    session(path, " 4" * 30, count=25, clock=Clock(NOON + timedelta(minutes=30)))
    assert len(progress.read(path).entries) == 10
    session(path, " 4" * 2, count=25, new=2)
    assert len(progress.read(path).entries) == 12
    session(path, " 4" * 30, count=25, clock=Clock(NOON + timedelta(days=1)))
    assert len(progress.read(path).entries) == 22


def test_the_next_day(path: Path) -> None:
    progress.append(path, review("d-99-02", 4, -timedelta(days=30)))
    printed = session(path, " 3", new=0)
    assert "d-99-02" in printed
    assert "d-99-01" not in printed
    assert re.search(r"3 good \([2-9]\.\d months\)", printed), "grown from 8 days"


def test_a_torn_log_is_reported_and_mended(path: Path) -> None:
    path.write_text(to_line(review()) + '{"card": "d-99')
    printed = session(path, " 4", new=1)
    assert "cut off" in printed
    assert [each.card for each in progress.read(path).entries] == ["d-99-01", "d-99-02"]


def test_a_path_that_looks_like_markup_is_named_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "[/red]" / "reviews.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text('{"card": "d-99')
    assert "[/red]/reviews.jsonl" in session(path, "").replace("\n", "")


def test_reviews_of_a_clock_gone_wrong_count_when_their_time_has_come(path: Path) -> None:
    progress.append(path, review("d-99-01", 4, timedelta(days=400)))
    progress.append(path, review("d-99-02", 4, timedelta(hours=5)))  # of a computer that is ahead
    printed = session(path, " 4", limit=1)
    assert "Reviews dated in the future: 1." in printed
    assert "d-99-01 · left: 0 due, 1 new" in printed, "the one of a wrong clock is as good as new"
    assert "future" not in session(path, "", clock=Clock(NOON + timedelta(days=400)))
    assert len(progress.read(path).entries) == 3


def test_a_corrupt_log_is_not_touched(path: Path) -> None:
    path.write_text("nonsense\n" + to_line(review()))
    before = path.read_bytes()
    with pytest.raises(ValueError, match="line 1 is not a review"):
        session(path, " 4")
    assert path.read_bytes() == before
