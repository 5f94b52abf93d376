"""From a picture to positions: rectangles for cards and labels, a curve for each wire.

All of it is worked out along and across the flow; only at the end does that become down and right,
or right and down, whichever makes the picture fit a screen better.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from whygrad.why.drawing.content import Card, Picture, Wire
from whygrad.why.drawing.coordinates import spread
from whygrad.why.drawing.marks import Point, Rectangle
from whygrad.why.drawing.ordering import order
from whygrad.why.drawing.ranks import Link, Ranks, Vertex, layers, rank
from whygrad.why.drawing.straighten import straighten
from whygrad.why.drawing.typography import width

__all__ = ["Arrangement", "arrange", "flows_down"]

TITLE_SIZE = 13.0
TEXT_SIZE = 11.0
LABEL_SIZE = 11.0
LINE = 16.0  # from one baseline of a card to the next
MARGIN = 11.0  # inside a card
ARROW = 8.0  # the length of its head
_PORT = 15.0  # along the side of a card, for each wire
_SCREEN = (1600.0, 1000.0)
_GAP = 14.0  # between ranks, when wires run straight
_WIDEST_GAP = 80.0

_Size = tuple[float, float]  # width and height


@dataclass(frozen=True)
class Arrangement:
    """Everything in its place, from (0, 0) to (width, height)."""

    cards: list[Rectangle]
    labels: list[Rectangle | None]  # by wire
    curves: list[list[Point]]  # by wire: a start, then three points per cubic piece
    width: float
    height: float
    down: bool


def arrange(picture: Picture) -> Arrangement:
    """Lay a picture out in layers."""
    down = flows_down(picture)
    cards = _with_ports([_card_size(card) for card in picture.cards], picture.wires, down)
    labels = [_label_size(wire) for wire in picture.wires]
    if not down:
        cards = [(high, wide) for wide, high in cards]
        labels = [size and (size[1], size[0]) for size in labels]
    ranks = rank(picture.wires, layers(len(cards), picture.wires), cards, labels)
    order(ranks)
    spread(ranks.rows)
    straighten(ranks.rows, ranks.chains)
    sheet = _Sheet(ranks, down)
    return Arrangement(
        [sheet.rectangle(card) for card in ranks.cards],
        [size and sheet.rectangle(chain[0].lower) for chain, size in zip(ranks.chains, labels)],
        [sheet.curve(chain) for chain in ranks.chains],
        *sheet.size,
        down,
    )


class _Sheet:
    """Where the ranks lie along the flow, and what that is in x and y."""

    def __init__(self, ranks: Ranks, down: bool) -> None:
        self._down = down
        vertices = [vertex for row in ranks.rows for vertex in row]
        self._near = min(vertex.centre - vertex.breadth / 2 for vertex in vertices)
        far = max(vertex.centre + vertex.breadth / 2 for vertex in vertices)
        self._starts: list[float] = []
        self._ends: list[float] = []
        at = 0.0
        for index, row in enumerate(ranks.rows):
            self._starts.append(at)
            at += max(vertex.depth for vertex in row)
            self._ends.append(at)
            bend = max((_bend(link) for vertex in row for link in vertex.below), default=0.0)
            at += min(_GAP + 0.12 * bend, _WIDEST_GAP)
            if index % 2:  # cards come next
                at += ARROW
        self.size = self._point(far, self._ends[-1])

    def _point(self, across: float, along: float) -> Point:
        across -= self._near
        return (across, along) if self._down else (along, across)

    def _top(self, vertex: Vertex) -> float:
        """Where something begins along the flow: it stands in the middle of its rank."""
        return (self._starts[vertex.rank] + self._ends[vertex.rank] - vertex.depth) / 2

    def rectangle(self, vertex: Vertex) -> Rectangle:
        corner = self._point(vertex.centre - vertex.breadth / 2, self._top(vertex))
        size = vertex.breadth, vertex.depth
        return Rectangle(*corner, *(size if self._down else size[::-1]))

    def curve(self, chain: list[Link]) -> list[Point]:
        """Straight through every rank, bent only between two of them."""
        source, consumer = chain[0].upper, chain[-1].lower
        across = source.centre + chain[0].leaves_at
        points = [self._point(across, self._top(source) + source.depth)]
        for link in chain:
            goal = link.lower.centre + link.arrives_at
            leave, arrive = self._ends[link.upper.rank], self._starts[link.lower.rank]
            end = self._ends[link.lower.rank]
            if link.lower is consumer:
                arrive -= ARROW
                end = self._top(consumer)
            middle = (leave + arrive) / 2
            points += [self._point(across, leave)] * 3
            points += [self._point(across, middle), self._point(goal, middle)]
            points += [self._point(goal, arrive)]
            points += [self._point(goal, end)] * 3
            across = goal
        return points


def flows_down(picture: Picture) -> bool:
    """Whether the picture fits a screen better when it flows down than to the right."""
    shelves: dict[int, list[_Size]] = {}
    for card, layer in zip(picture.cards, layers(len(picture.cards), picture.wires)):
        shelves.setdefault(layer, []).append(_card_size(card))
    rows = list(shelves.values())
    widest = max(sum(wide + 30 for wide, _ in row) for row in rows)
    highest = max(sum(high + 20 for _, high in row) for row in rows)
    tall = sum(max(high for _, high in row) + 60 for row in rows)
    long = sum(max(wide for wide, _ in row) + 110 for row in rows)
    return _screens(widest, tall) <= _screens(long, highest)


def _screens(wide: float, high: float) -> float:
    """How far a picture exceeds a screen; scrolling down is half as bad as sideways."""
    right, down = wide / _SCREEN[0], high / _SCREEN[1]
    return max(right, down if down < 1 else (1 + down) / 2)


def _bend(link: Link) -> float:
    """How far a link is from running straight."""
    return abs(link.lower.centre + link.arrives_at - link.upper.centre - link.leaves_at)


def _with_ports(cards: list[_Size], wires: list[Wire], down: bool) -> list[_Size]:
    """Cards where many wires meet grow, so that the arrows stay apart."""
    leaving = Counter(wire.source for wire in wires)
    arriving = Counter(wire.consumer for wire in wires)
    rooms = [_PORT * max(leaving[index], arriving[index]) for index in range(len(cards))]
    return [
        (max(wide, room), high) if down else (wide, max(high, room))
        for (wide, high), room in zip(cards, rooms)
    ]


def _card_size(card: Card) -> _Size:
    widths = [width(card.title, TITLE_SIZE, bold=True)]
    widths += [width(line, TEXT_SIZE) for line in card.lines]
    return max(widths) + 2 * MARGIN, LINE * (1 + len(card.lines)) + 1.2 * MARGIN


def _label_size(wire: Wire) -> _Size | None:
    if wire.label is None:
        return None
    return width(wire.label, LABEL_SIZE) + 12, LABEL_SIZE + 7
