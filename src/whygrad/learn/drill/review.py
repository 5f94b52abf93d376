"""One review, and its line in the log."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, cast, get_args

from whygrad.learn.language import LANGUAGES, Language

__all__ = ["RATINGS", "Rating", "Review", "from_line", "to_line"]

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


def to_line(review: Review) -> str:
    """The review as one line of JSON, with its end of line."""
    fields = {
        "card": review.card,
        "time": review.time.isoformat(),
        "rating": review.rating,
        "language": review.language,
        "seconds": review.seconds,
        "fsrs": review.fsrs,
    }
    return json.dumps(fields) + "\n"


def from_line(line: str | bytes) -> Review:
    """The review that a line tells of; a ``ValueError`` says what is wrong with it."""
    try:
        raw = json.loads(line)
    except RecursionError:
        raise ValueError("it is not JSON: nested too deeply") from None
    except ValueError as error:  # not JSON, or not UTF-8
        raise ValueError(f"it is not JSON: {error}") from None
    if not isinstance(raw, dict):
        raise ValueError("it is not a JSON object")
    card, rating, language, fsrs = (_field(raw, name) for name in _PLAIN)
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


def _field(raw: dict[str, Any], name: str) -> Any:
    if name not in raw:
        raise ValueError(f'"{name}" is missing')
    return raw[name]


def _time(raw: dict[str, Any]) -> datetime:
    text = _field(raw, "time")
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
    value = _field(raw, "seconds")
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f'"seconds" is {value!r}, not a number')
    if not 0 <= value <= sys.float_info.max:
        raise ValueError(f'"seconds" is {value!r}, not a duration')
    return float(value)
