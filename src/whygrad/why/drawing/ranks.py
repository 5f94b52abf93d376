"""The layers of a drawing: every input above what is computed from it.

Cards stand on even ranks, by the longest path that leads to them; labels stand on the odd ranks
between, each just below the card whose gradient it adds to.  A wire is a chain of links through
one point per rank, so no two things of a picture ever compete for a place that is not on a rank.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

from whygrad.why.drawing.content import Wire

__all__ = ["Link", "Ranks", "Vertex", "layers", "rank"]

Size = tuple[float, float]  # breadth (across the flow) and depth (along it)


@dataclass(eq=False, slots=True)
class Vertex:
    """A card, a label, or a point where a wire passes through a rank."""

    rank: int
    breadth: float = 0.0
    depth: float = 0.0
    is_card: bool = False
    above: list[Link] = field(default_factory=list)
    below: list[Link] = field(default_factory=list)
    place: int = 0  # within its rank
    centre: float = 0.0  # across


@dataclass(eq=False, slots=True)
class Link:
    """The piece of a wire between two neighbouring ranks."""

    upper: Vertex
    lower: Vertex
    position: int  # of the argument, where ``lower`` is a card
    stiffness: float  # how much it minds being bent
    leaves_at: float = 0.0  # from the middle of ``upper``
    arrives_at: float = 0.0  # from the middle of ``lower``


@dataclass
class Ranks:
    """Vertices by rank; ``cards`` and ``chains`` in the order of the picture's cards and wires."""

    rows: list[list[Vertex]]
    cards: list[Vertex]
    chains: list[list[Link]]


def layers(count: int, wires: list[Wire]) -> list[int]:
    """A layer per card; ``wires`` go from older to younger cards.

    As early as its inputs allow; then what has more uses than inputs (every leaf) moves down next
    to its first use, which makes wires shorter.
    """
    inputs: list[set[int]] = [set() for _ in range(count)]
    uses: list[set[int]] = [set() for _ in range(count)]
    for wire in wires:
        inputs[wire.consumer].add(wire.source)
        uses[wire.source].add(wire.consumer)
    layer = [0] * count
    for card in range(count):
        layer[card] = 1 + max((layer[source] for source in inputs[card]), default=-1)
    for card in reversed(range(count)):
        if len(uses[card]) > len(inputs[card]):
            layer[card] = min(layer[use] for use in uses[card]) - 1
    return layer


def rank(
    wires: list[Wire], layer: list[int], cards: list[Size], labels: list[Size | None]
) -> Ranks:
    """Cut every wire into links from rank to rank, with a place for its label."""
    rows: list[list[Vertex]] = [[] for _ in range(2 * max(layer, default=0) + 1)]

    def stand(vertex: Vertex) -> Vertex:
        vertex.place = len(rows[vertex.rank])
        rows[vertex.rank].append(vertex)
        return vertex

    vertices = [
        stand(Vertex(2 * layer[index], *size, is_card=True)) for index, size in enumerate(cards)
    ]
    chains = []
    for wire, label in zip(wires, labels):
        source, consumer = vertices[wire.source], vertices[wire.consumer]
        stops = [source]
        for stop in range(source.rank + 1, consumer.rank):
            size = label if label is not None and stop == source.rank + 1 else (0.0, 0.0)
            stops.append(stand(Vertex(stop, *size)))
        stops.append(consumer)
        chain = [
            Link(upper, lower, wire.position, _stiffness(upper, lower))
            for upper, lower in pairwise(stops)
        ]
        for link in chain:
            link.upper.below.append(link)
            link.lower.above.append(link)
        chains.append(chain)
    for card in vertices:
        if not card.above and len(card.below) == 1:
            _loosen(card.below[0])
    return Ranks(rows, vertices, chains)


def _stiffness(upper: Vertex, lower: Vertex) -> float:
    """A long wire should run straight between its ends."""
    return (1.0, 3.0, 9.0)[(not upper.is_card) + (not lower.is_card)]


def _loosen(link: Link) -> None:
    """A leaf with one use goes where there is room for it; it does not push the rest aside."""
    while True:
        link.stiffness *= 0.1
        if link.lower.is_card:
            return
        link = link.lower.below[0]
