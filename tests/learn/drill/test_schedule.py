"""The schedule is FSRS's, computed from the log alone."""

from __future__ import annotations

import random
from datetime import timedelta

import fsrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.learn.drill.support import NOON, deck_of, review, sequence
from whygrad.learn.content import phrases
from whygrad.learn.drill.due import Queue, midnight, new_today
from whygrad.learn.drill.review import RATINGS, Rating
from whygrad.learn.drill.schedule import intervals, reviewed, standings
from whygrad.learn.drill.stats import figures
from whygrad.learn.drill.wording import in_words

MINUTE = 1 / (24 * 60)
STEPS = st.dictionaries(
    st.integers(1, 300_000).map(lambda minutes: minutes * MINUTE),
    st.sampled_from(RATINGS),
    min_size=1,
    max_size=12,
).map(lambda steps: sorted(steps.items()))


def by_the_package(steps: list[tuple[float, Rating]]) -> fsrs.Card:
    card = fsrs.Card(card_id=7, due=NOON)
    scheduler = fsrs.Scheduler(enable_fuzzing=False)
    for days, rating in steps:
        time = NOON + timedelta(days=days)
        card, _ = scheduler.review_card(card, fsrs.Rating(rating), time)
    return card


@given(STEPS)
def test_a_replayed_log_gives_what_the_package_gives(steps: list[tuple[float, Rating]]) -> None:
    memory = standings(sequence("d-99-01", *steps))["d-99-01"].memory
    expected = by_the_package(steps)
    assert (memory.state, memory.step, memory.due) == (
        expected.state,
        expected.step,
        expected.due,
    )
    assert (memory.stability, memory.difficulty) == (expected.stability, expected.difficulty)


@settings(max_examples=30)
@given(STEPS, st.randoms())
def test_the_order_of_lines_and_repetitions_do_not_matter(
    steps: list[tuple[float, Rating]], chance: random.Random
) -> None:
    reviews = [*sequence("d-99-01", *steps), *sequence("d-99-02", *steps)]
    mixed = [*reviews, *reviews[:3]]
    chance.shuffle(mixed)
    assert standings(mixed) == standings(reviews)


def test_two_reviews_at_the_same_moment() -> None:
    worse, better = review(rating=1), review(rating=4)
    assert standings([better, worse]) == standings([worse, better]) == standings([worse])


def test_first_intervals() -> None:
    found = intervals(None, NOON)
    assert found[1] == timedelta(minutes=1)
    assert found[2] == timedelta(minutes=5, seconds=30)
    assert found[3] == timedelta(minutes=10)
    assert found[4] == timedelta(days=8)


def test_the_intervals_shown_are_those_that_come_true() -> None:
    standing = standings(sequence("d-99-01", (0, 3), (0.01, 3), (2, 3)))["d-99-01"]
    now = standing.due
    for rating, length in intervals(standing, now).items():
        assert reviewed(standing, rating, now).due == now + length
    lengths = list(intervals(standing, now).values())
    assert lengths == sorted(lengths)


def test_lapses_are_counted_after_the_learning_steps_only() -> None:
    standing = standings(sequence("d-99-01", (0, 1), (0.01, 3), (0.02, 3), (3, 1), (3.1, 3)))
    card = standing["d-99-01"]
    assert (card.recalls, card.lapses) == (0, 1)
    assert not card.learning
    assert not card.mature


@pytest.mark.parametrize(
    ("rating", "recalls", "lapses"), [(1, 0, 1), (2, 1, 0), (3, 1, 0), (4, 1, 0)]
)
def test_only_again_is_a_lapse(rating: Rating, recalls: int, lapses: int) -> None:
    card = standings(sequence("d-99-01", (0, 4), (8, rating)))["d-99-01"]
    assert (card.recalls, card.lapses) == (recalls, lapses)


def test_a_mature_card() -> None:
    card = standings(sequence("d-99-01", (0, 4), (8, 4)))["d-99-01"]
    assert card.mature
    assert card.recalls == 1
    assert card.due - card.memory.last_review >= timedelta(days=21)


def test_what_is_due_comes_first_then_new_cards_then_what_is_minutes_away() -> None:
    deck = deck_of(5)
    known = standings(
        [
            review("d-99-02", 3, -timedelta(minutes=2)),  # due in 8 minutes
            review("d-99-04", 4, -timedelta(days=20)),  # overdue
            review("d-99-05", 1, -timedelta(hours=1)),  # overdue by less
            review("d-99-01", 4),  # due in 8 days
        ]
    )
    queue = Queue([deck], known, new=10)
    assert (queue.due(NOON), queue.new) == (3, 1)
    order = []
    while (card := queue.pop(NOON)) is not None:
        order.append(card.id)
    assert order == ["d-99-04", "d-99-05", "d-99-03", "d-99-02"]


def test_new_cards_are_limited() -> None:
    queue = Queue([deck_of(5)], {}, new=2)
    assert queue.new == 2
    assert [queue.pop(NOON).id for _ in range(2)] == ["d-99-01", "d-99-02"]  # type: ignore[union-attr]
    assert queue.pop(NOON) is None


def test_cards_met_today() -> None:
    known = standings([review("d-99-01"), review("d-99-02", 3, -timedelta(days=1))])
    assert new_today(known.values(), NOON) == 1
    assert midnight(NOON, 0) <= NOON < midnight(NOON, 1)


def test_figures_of_a_deck() -> None:
    deck = deck_of(6)
    known = standings(
        [
            *sequence("d-99-01", (-40, 4), (-32, 4)),  # mature, not due
            *sequence("d-99-02", (-12, 4), (-1, 1), (-0.9, 3)),  # a lapse, relearned
            *sequence("d-99-03", (0, 1)),  # learning
            *sequence("d-99-04", (-20, 4)),  # due for long
        ]
    )
    found = figures(deck, known, NOON)
    assert (found.new, found.learning, found.mature) == (2, 1, 1)
    assert (found.recalls, found.lapses) == (1, 1)
    assert found.retention == 0.5
    due = [card for card in known if known[card].due < midnight(NOON, 1)]
    assert {"d-99-03", "d-99-04"} <= set(due)
    assert found.due_today == len(due)
    assert figures(deck_of(1), {}, NOON).retention is None


@pytest.mark.parametrize(
    ("length", "english", "spanish"),
    [
        (timedelta(seconds=10), "< 1 min", "< 1 min"),
        (timedelta(minutes=10), "10 min", "10 min"),
        (timedelta(minutes=59, seconds=50), "1 h", "1 h"),
        (timedelta(hours=5), "5 h", "5 h"),
        (timedelta(days=1), "1 day", "1 día"),
        (timedelta(days=8), "8 days", "8 días"),
        (timedelta(days=95), "3.1 months", "3.1 meses"),
        (timedelta(days=1000), "2.7 years", "2.7 años"),
    ],
)
def test_lengths_in_words(length: timedelta, english: str, spanish: str) -> None:
    assert in_words(length, phrases("drill", "en")) == english
    assert in_words(length, phrases("drill", "es")) == spanish
