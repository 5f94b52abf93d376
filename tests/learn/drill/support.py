"""A deck and reviews for tests."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

from whygrad.learn.content import Card, Deck
from whygrad.learn.drill.review import Rating, Review, to_record

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


def deck_of(count: int, **changes: object) -> Deck:
    """A deck with cards ``d-99-01``, …"""
    cards = tuple(
        Card(
            id=f"d-99-{number:02d}",
            front={"en": f"Front {number}?", "es": f"¿Anverso {number}?"},
            back={"en": f"Back $x_{number}$", "es": f"Reverso $x_{number}$"},
            tags=("testing",),
            see=("op:log",),
        )
        for number in range(1, count + 1)
    )
    fields: dict[str, object] = {
        "id": "testing-99",
        "number": "99",
        "name": "Testing · 99",
        "title": {"en": "Testing", "es": "Prueba"},
        "revised": "2026-01-01",
        "cards": cards,
        "source": "testing-99.yaml",
    }
    return Deck(**{**fields, **changes})  # type: ignore[arg-type]


def review(card: str = "d-99-01", rating: Rating = 3, after: timedelta = timedelta()) -> Review:
    return Review(card, NOON + after, rating, "en", 2.5, "6.3.2")


def sequence(card: str, *steps: tuple[float, Rating]) -> list[Review]:
    """Reviews of one card, each given by days since the first and its rating."""
    return [review(card, rating, timedelta(days=days)) for days, rating in steps]


def to_line(each: Review) -> str:
    """A review as the journal has it, with its end of line."""
    return json.dumps(to_record(each)) + "\n"
