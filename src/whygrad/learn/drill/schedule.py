"""Where each card stands, by FSRS over the log.

The intervals are not fuzzed: the same log gives the same dates on every machine and every day.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from importlib.metadata import version

from fsrs import Card as FsrsCard
from fsrs import Rating as Grade
from fsrs import Scheduler, State

from whygrad.learn.drill.review import RATINGS, Rating, Review

__all__ = ["MATURE", "CardStanding", "fsrs_version", "intervals", "reviewed", "standings"]

MATURE = timedelta(days=21)  # an interval from which Anki, too, calls a card mature
_SCHEDULER = Scheduler(enable_fuzzing=False)


@dataclass(frozen=True)
class CardStanding:
    """A card that was reviewed at least once."""

    memory: FsrsCard  # what FSRS knows of it
    introduced: datetime
    recalls: int = 0  # reviews after the learning steps that were remembered
    lapses: int = 0  # those that were not

    @property
    def due(self) -> datetime:
        return self.memory.due

    @property
    def learning(self) -> bool:
        """Still in steps of minutes, for the first time or after a lapse."""
        return bool(self.memory.state != State.Review)

    @property
    def mature(self) -> bool:
        return not self.learning and self.due - self.memory.last_review >= MATURE


def standings(reviews: Iterable[Review]) -> dict[str, CardStanding]:
    """Each card that was ever reviewed; the log may be in any order, and tell things twice.

    Of two reviews of a card at the same moment the worse one counts.
    """
    once: dict[tuple[str, datetime], Review] = {}
    for review in sorted(reviews, key=lambda review: (review.time, review.rating)):
        once.setdefault(review.key, review)
    cards: dict[str, CardStanding] = {}
    for review in once.values():
        cards[review.card] = reviewed(cards.get(review.card), review.rating, review.time)
    return cards


def reviewed(standing: CardStanding | None, rating: Rating, time: datetime) -> CardStanding:
    """Where a card (``None``: a new one) stands after one more review."""
    if standing is None:
        standing = CardStanding(FsrsCard(card_id=0, due=time), introduced=time)
    memory, _ = _SCHEDULER.review_card(standing.memory, Grade(rating), time)
    tested = standing.memory.state == State.Review
    return CardStanding(
        memory,
        standing.introduced,
        standing.recalls + int(tested and rating > 1),
        standing.lapses + int(tested and rating == 1),
    )


def intervals(standing: CardStanding | None, now: datetime) -> dict[Rating, timedelta]:
    """For each rating, after how long the card would come again."""
    return {rating: reviewed(standing, rating, now).due - now for rating in RATINGS}


def fsrs_version() -> str:
    return version("fsrs")
