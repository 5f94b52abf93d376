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
from whygrad.why.drawing.ranks import Link, layers, rank
from whygrad.why.drawing.straighten import straighten
from whygrad.why.drawing.typography import width

__all__ = [
    "ARROW",
    "LABEL_SIZE",
    "LINE",
    "MARGIN",
    "TEXT_SIZE",
    "TITLE_SIZE",
    "Arrangement",
    "arrange",
    "flows_down",
]

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
    cards = [_card_size(card) for card in picture.cards]
    for index, count in _busiest_sides(picture.wires).items():
        wide, high = cards[index]
        ports = count * _PORT
        cards[index] = (max(wide, ports), high) if down else (wide, max(high, ports))
    labels = [_label_size(wire) for wire in picture.wires]
    layer = layers(len(cards), picture.wires)
    if not down:
        cards = [(size[1], size[0]) for size in cards]
        labels = [size and (size[1], size[0]) for size in labels]
    ranks = rank(picture.wires, layer, cards, labels)
    order(ranks)
    spread(ranks.rows)
    straighten(ranks.rows, ranks.chains)

    near = min((v.centre - v.breadth / 2 for row in ranks.rows for v in row), default=0.0)
    starts: list[float] = []  # of each rank, along the flow
    depths = [max((vertex.depth for vertex in row), default=0.0) for row in ranks.rows]
    along = 0.0
    for row, depth in zip(ranks.rows, depths):
        starts.append(along)
        bend = max((abs(_shift(link)) for vertex in row for link in vertex.below), default=0.0)
        along += depth + min(_GAP + 0.12 * bend, _WIDEST_GAP) + (len(starts) % 2 == 0) * ARROW

    def point(across: float, at: float) -> Point:
        return (across - near, at) if down else (at, across - near)

    def rectangle(centre: float, row: int, size: tuple[float, float]) -> Rectangle:
        corner = point(centre - size[0] / 2, starts[row] + (depths[row] - size[1]) / 2)
        return Rectangle(*corner, *(size if down else size[::-1]))

    def curve(chain: list[Link]) -> list[Point]:
        """Straight through every rank, bent only between two of them."""
        first, last = chain[0], chain[-1]
        across = first.upper.centre + first.leaves_at
        at = starts[first.upper.rank] + (depths[first.upper.rank] + first.upper.depth) / 2
        points = [point(across, at)]
        for link in chain:
            leave = starts[link.upper.rank] + depths[link.upper.rank]
            arrive = starts[link.lower.rank] - (ARROW if link.lower.is_card else 0.0)
            goal = link.lower.centre + link.arrives_at
            middle = (leave + arrive) / 2
            end = starts[link.lower.rank] + depths[link.lower.rank]
            if link is last:
                end -= (depths[link.lower.rank] + link.lower.depth) / 2
            points += [point(across, leave)] * 3
            points += [point(across, middle), point(goal, middle), point(goal, arrive)]
            points += [point(goal, end)] * 3
            across = goal
        return points

    placed = [rectangle(v.centre, v.rank, size) for v, size in zip(ranks.cards, cards)]
    pills = [
        None if size is None else rectangle(chain[0].lower.centre, chain[0].lower.rank, size)
        for chain, size in zip(ranks.chains, labels)
    ]
    far = max((v.centre + v.breadth / 2 for row in ranks.rows for v in row), default=0.0)
    total = (far - near, starts[-1] + depths[-1])
    return Arrangement(
        placed,
        pills,
        [curve(chain) for chain in ranks.chains],
        *(total if down else total[::-1]),
        down,
    )


def flows_down(picture: Picture) -> bool:
    """Whether the picture fits a screen better when it flows down than to the right."""
    shelves: dict[int, list[tuple[float, float]]] = {}
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


def _busiest_sides(wires: list[Wire]) -> dict[int, int]:
    """How many wires meet on one side of a card, at most."""
    leaving = Counter(wire.source for wire in wires)
    arriving = Counter(wire.consumer for wire in wires)
    return dict(leaving | arriving)  # the larger of the two


def _shift(link: Link) -> float:
    return link.lower.centre + link.arrives_at - link.upper.centre - link.leaves_at


def _card_size(card: Card) -> tuple[float, float]:
    widths = [width(card.title, TITLE_SIZE, bold=True)]
    widths += [width(line, TEXT_SIZE) for line in card.lines]
    return max(widths) + 2 * MARGIN, LINE * (1 + len(card.lines)) + 1.2 * MARGIN


def _label_size(wire: Wire) -> tuple[float, float] | None:
    if wire.label is None:
        return None
    return width(wire.label, LABEL_SIZE) + 12, LABEL_SIZE + 7
