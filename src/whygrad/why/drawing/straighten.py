"""Take the kinks out of wires: as few bends as the things to the left and right allow."""

from __future__ import annotations

from whygrad.why.drawing.coordinates import gap
from whygrad.why.drawing.ranks import Link, Vertex

__all__ = ["straighten"]

Interval = tuple[float, float]


def straighten(rows: list[list[Vertex]], chains: list[list[Link]]) -> None:
    """Move labels and passing points, long wires first; cards stay where they are."""
    long_first = sorted(chains, key=len, reverse=True)
    for chain in (*long_first, *reversed(long_first)):  # the second time there is more room
        _pull(rows, chain)


def _pull(rows: list[list[Vertex]], chain: list[Link]) -> None:
    """Split the wire into the fewest runs that can be straight, from its source on."""
    inner = [link.lower for link in chain[:-1]]
    start = chain[0].upper.centre + chain[0].leaves_at
    end = chain[-1].lower.centre + chain[-1].arrives_at
    run: list[Vertex] = []
    common = (start, start)
    for vertex in inner:
        free = _free(rows[vertex.rank], vertex)
        overlap = max(common[0], free[0]), min(common[1], free[1])
        if overlap[0] > overlap[1]:
            _line_up(run, common, end)
            run, overlap = [], free
        run.append(vertex)
        common = overlap
    _line_up(run, common, end)


def _line_up(run: list[Vertex], common: Interval, goal: float) -> None:
    """Within what is free for all of them, as near to where the wire is going as possible."""
    for vertex in run:
        vertex.centre = min(max(goal, common[0]), common[1])


def _free(row: list[Vertex], vertex: Vertex) -> Interval:
    """Where a vertex may stand without coming too close to its neighbours."""
    low, high = float("-inf"), float("inf")
    if vertex.place > 0:
        left = row[vertex.place - 1]
        low = left.centre + gap(left, vertex)
    if vertex.place + 1 < len(row):
        right = row[vertex.place + 1]
        high = right.centre - gap(vertex, right)
    return min(low, vertex.centre), max(high, vertex.centre)  # rounding never leaves it nowhere
