"""Where things stand across the flow: near their neighbours, in order, and never overlapping.

Each rank in turn is moved as close as possible to where its neighbours would have it, in the
sense of least squares, subject to the distances that have to be kept: an isotonic regression.
"""

from __future__ import annotations

from itertools import pairwise

from whygrad.why.drawing.ranks import Vertex

__all__ = ["gap", "spread"]

_ROUNDS = 10
_BETWEEN_CARDS = 26.0
_BETWEEN = 12.0


def spread(rows: list[list[Vertex]]) -> None:
    """Set every ``centre``."""
    for row in rows:
        _pack(row)
    for turn in range(2 * _ROUNDS):
        down = turn % 2 == 0
        late = turn >= _ROUNDS  # first follow one side, then settle between both
        for row in rows if down else reversed(rows):
            _settle(row, above=down or late, below=late or not down)


def gap(left: Vertex, right: Vertex) -> float:
    """The least distance from one centre to the next."""
    room = _BETWEEN_CARDS if left.is_card and right.is_card else _BETWEEN
    return (left.breadth + right.breadth) / 2 + room


def _pack(row: list[Vertex]) -> None:
    at = 0.0
    for left, right in pairwise(row):
        left.centre = at
        at += gap(left, right)
    if row:
        row[-1].centre = at
        for vertex in row:
            vertex.centre -= at / 2


def _settle(row: list[Vertex], above: bool, below: bool) -> None:
    wishes, weights, starts = [], [], []
    start = 0.0
    for index, vertex in enumerate(row):
        if index:
            start += gap(row[index - 1], vertex)
        pulls = []
        if above:
            for link in vertex.above:
                pulls.append((link.upper.centre, link.stiffness))
        if below:
            for link in vertex.below:
                pulls.append((link.lower.centre, link.stiffness))
        if not pulls:
            pulls = [(vertex.centre, 0.1)]
        weight = sum(share for _, share in pulls)
        wishes.append(sum(at * share for at, share in pulls) / weight - start)
        weights.append(weight)
        starts.append(start)
    for vertex, start, wish in zip(row, starts, _isotonic(wishes, weights)):
        vertex.centre = start + wish


def _isotonic(wishes: list[float], weights: list[float]) -> list[float]:
    """The non-decreasing sequence nearest to ``wishes``, by pooling neighbours that disagree."""
    pools: list[tuple[float, float, int]] = []  # mean, weight, members
    for wish, weight in zip(wishes, weights):
        members = 1
        while pools and pools[-1][0] > wish:
            mean, mass, count = pools.pop()
            wish = (mean * mass + wish * weight) / (mass + weight)
            weight += mass
            members += count
        pools.append((wish, weight, members))
    return [mean for mean, _, members in pools for _ in range(members)]
