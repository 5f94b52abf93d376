"""Which card comes next.

What is due comes first, the longest overdue before the others, then new cards, then those whose
next step is only minutes away: a session ends when nothing is left for today, not in the middle of
a ten-minute step.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, time, timedelta

from whygrad.learn.content import Card, Deck
from whygrad.learn.drill.schedule import CardStanding

__all__ = ["NEW_PER_DAY", "Queue", "midnight", "new_today"]

NEW_PER_DAY = 10
_AHEAD = timedelta(minutes=20)


class Queue:
    """The cards of one session."""

    def __init__(
        self, decks: Sequence[Deck], standings: Mapping[str, CardStanding], *, new: int
    ) -> None:
        cards = [card for deck in decks for card in deck.cards]
        self._order = {card.id: place for place, card in enumerate(cards)}
        self._new = deque([card for card in cards if card.id not in standings][:new])
        self._waiting: list[tuple[datetime, int, Card]] = []
        for card in cards:
            if card.id in standings:
                self.put(card, standings[card.id].due)

    def put(self, card: Card, due: datetime) -> None:
        """The card comes again when it is due, if the session lasts that long."""
        heapq.heappush(self._waiting, (due, self._order[card.id], card))

    def pop(self, now: datetime) -> Card | None:
        """The next card, or ``None`` when there is nothing to do for now."""
        if self._waiting and self._waiting[0][0] <= now:
            return heapq.heappop(self._waiting)[2]
        if self._new:
            return self._new.popleft()
        if self._waiting and self._waiting[0][0] <= now + _AHEAD:
            return heapq.heappop(self._waiting)[2]
        return None

    def due(self, now: datetime) -> int:
        """How many cards that were seen before are left for this session."""
        return sum(due <= now + _AHEAD for due, _, _ in self._waiting)

    @property
    def new(self) -> int:
        """How many new cards are left for this session."""
        return len(self._new)


def new_today(standings: Iterable[CardStanding], now: datetime) -> int:
    """How many cards were seen for the first time since midnight."""
    return sum(standing.introduced >= midnight(now, 0) for standing in standings)


def midnight(now: datetime, days: int) -> datetime:
    """Where the learner is: the one that today began with, or that many days later."""
    day = now.astimezone().date() + timedelta(days=days)
    return datetime.combine(day, time.min).astimezone()
