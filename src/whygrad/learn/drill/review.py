"""One review, and its record in the journal."""

from __future__ import annotations

import re
import sys
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, Literal, cast, get_args

from whygrad.learn.journal import field
from whygrad.learn.language import LANGUAGES, Language

__all__ = ["RATINGS", "Rating", "Review", "from_record", "to_record"]

Rating = Literal[1, 2, 3, 4]
"""Again, hard, good, easy."""
RATINGS: tuple[Rating, ...] = get_args(Rating)

_CARD = re.compile(r"d-[0-9]{2}-[0-9]{2}")
_YEARS = range(2000, 2200)  # a clock gone wrong must not overflow the calendar a century later


@dataclass(frozen=True)
class Review:
    """What happened to a card once.  Card and time together identify it."""

    card: str
    time: datetime  # in UTC
    rating: Rating
    language: Language
    seconds: float  # from the sight of the front to the rating
    fsrs: str  # the version of the scheduler that showed the intervals

    @property
    def key(self) -> tuple[str, datetime]:
        return self.card, self.time


def to_record(review: Review) -> dict[str, object]:
    """The review as the journal keeps it."""
    return {**asdict(review), "time": review.time.isoformat()}


def from_record(raw: dict[str, Any]) -> Review:
    """The review that a record tells of; a ``ValueError`` says what is wrong with it."""
    card, rating, language, fsrs = (field(raw, name) for name in _PLAIN)
    if not (isinstance(card, str) and _CARD.fullmatch(card)):
        raise ValueError(f'"card" is {card!r}, not an id such as "d-03-01"')
    if isinstance(rating, bool) or rating not in RATINGS:
        raise ValueError(f'"rating" is {rating!r}, not 1, 2, 3 or 4')
    if language not in LANGUAGES:
        raise ValueError(f'"language" is {language!r}, not {" or ".join(LANGUAGES)}')
    if not isinstance(fsrs, str):
        raise ValueError(f'"fsrs" is {fsrs!r}, not a version')
    return Review(card, _time(raw), cast(Rating, int(rating)), language, _seconds(raw), fsrs)


_PLAIN = ("card", "rating", "language", "fsrs")


def _time(raw: dict[str, Any]) -> datetime:
    text = field(raw, "time")
    try:
        time = datetime.fromisoformat(text)
        if time.tzinfo is None:
            raise ValueError("no time zone")
        time = time.astimezone(UTC)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f'"time" is {text!r}, not an ISO time with a time zone') from None
    if time.year not in _YEARS:
        raise ValueError(f'"time" is {text!r}: the year is out of range')
    return time


def _seconds(raw: dict[str, Any]) -> float:
    value = field(raw, "seconds")
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f'"seconds" is {value!r}, not a number')
    if not 0 <= value <= sys.float_info.max:
        raise ValueError(f'"seconds" is {value!r}, not a duration')
    return float(value)
