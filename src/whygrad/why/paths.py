"""The paths from a result to one number it was computed from, each with its product of slopes.

The gradient is the sum of those products.  Paths double with every place where a value is used
twice, so there may be more of them than atoms: they are counted exactly by adding up along the
graph, and only the largest products are looked for, one path at a time.  No step enumerates.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush, nsmallest
from itertools import count
from math import fsum, isfinite, log
from operator import itemgetter

import numpy as np

from whygrad.why.flow import Box, Edge, Flow

__all__ = ["Path", "Paths", "find_paths"]

# Sorts by size: how many factors are infinite or NaN, how many are zero (less is more), and the
# logarithm of the rest.  Sizes of the parts of a path add up, whatever its factors are.
Size = tuple[int, int, float]
_ONE: Size = (0, 0, 0.0)


@dataclass(frozen=True)
class Path:
    """A chain of edges from the result to the target; ``product`` starts with the seed."""

    edges: tuple[Edge, ...]
    product: float

    @property
    def boxes(self) -> tuple[Box, ...]:
        """The values on the way, from the result to the target."""
        return self.edges[0].consumer, *(edge.source for edge in self.edges)


@dataclass(frozen=True)
class Paths:
    """How many paths there are, and those that are shown."""

    seed: float  # where backward starts; every product contains it
    total: float  # the gradient
    count: int
    shown: tuple[Path, ...]  # all of them in argument order, or the largest first
    through: dict[Edge, int]  # how many come in by each use of the target
    left_out: int
    left_out_sum: float


def find_paths(flow: Flow, most: int) -> Paths | None:
    """All paths if there are at most ``most``, else the largest; None unless all are numbers."""
    ways = _ways(flow)
    if any(edge.slope is None for edges in ways.values() for edge in edges):
        return None
    root, target = flow.root, flow.target
    if target is None or root is target or not root.is_scalar:
        return None
    through = _counts(ways, root, target)
    total = sum(through.values())
    found = _all(ways, root, target) if total <= most else _largest(ways, root, target, most)
    seed, gradient = (np.asarray(each.gradient).item() for each in (root, target))
    shown = tuple(Path(edges, _product(seed, edges)) for edges in found)
    left = total - len(shown)
    rest = _difference(gradient, [path.product for path in shown]) if left else 0.0
    return Paths(seed, gradient, total, shown, through, left, rest)


def _ways(flow: Flow) -> dict[Box, list[Edge]]:
    """By box that leads to the target, oldest first: the inputs by which it does."""
    ways: dict[Box, list[Edge]] = {}
    for box in flow.boxes:
        if box is flow.target:
            ways[box] = []
            continue
        edges = [
            edge for edge in box.inputs if edge.contribution is not None and edge.source in ways
        ]
        if edges:
            ways[box] = edges
    return ways


def _counts(ways: dict[Box, list[Edge]], root: Box, target: Box) -> dict[Edge, int]:
    """How many paths from the root end with each edge into the target."""
    through: dict[Edge, int] = {}
    arriving = {root: 1}
    for box in reversed(ways):
        paths = arriving.pop(box, 0)  # a count may have thousands of digits: let go of it
        for edge in ways[box]:
            if edge.source is target:
                through[edge] = paths
            else:
                arriving[edge.source] = arriving.get(edge.source, 0) + paths
    return {edge: paths for edge, paths in through.items() if paths}


def _all(ways: dict[Box, list[Edge]], root: Box, target: Box) -> Iterator[tuple[Edge, ...]]:
    path: list[Edge] = []
    choices = [iter(ways[root])]
    while choices:
        edge = next(choices[-1], None)
        if edge is None:
            choices.pop()
            if path:
                path.pop()
        elif edge.source is target:
            yield *path, edge
        else:
            path.append(edge)
            choices.append(iter(ways[edge.source]))


def _largest(
    ways: dict[Box, list[Edge]], root: Box, target: Box, most: int
) -> Iterator[tuple[Edge, ...]]:
    """The paths with the largest products, largest first.

    From every box, follow the edge that leads to the largest product: that is the best path.  Each
    other path deviates from a better one at one edge and follows the best edges from there.
    """
    best: dict[Box, Size] = {target: _ONE}
    first: dict[Box, Edge] = {}
    others: dict[Box, list[tuple[Size, Edge]]] = {}  # and how much smaller they make the product
    for box, edges in ways.items():
        if edges:
            sizes = [_plus(_size(edge), best[edge.source]) for edge in edges]
            best[box] = max(sizes)
            chosen = sizes.index(best[box])
            first[box] = edges[chosen]
            others[box] = [
                (_minus(best[box], size), edge)
                for index, (size, edge) in enumerate(zip(sizes, edges, strict=True))
                if index != chosen
            ]
    tie = count()
    # what is lost against the best path, the path to deviate from, where, and by which edge
    waiting: list[tuple[Size, int, tuple[Edge, ...], int, Edge | None]]
    waiting = [(_ONE, next(tie), (), 0, None)]
    for missing in range(most - 1, -1, -1):
        if not waiting:
            return
        lost, _, better, kept, deviation = heappop(waiting)
        start = better[:kept] if deviation is None else (*better[:kept], deviation)
        path = _followed(first, start, root, target)
        yield path
        deviations = (
            (loss, index, edge)
            for index in range(len(start), len(path))
            for loss, edge in others[path[index].consumer]
        )
        for loss, index, edge in nsmallest(missing, deviations, key=itemgetter(0)):
            heappush(waiting, (_plus(lost, loss), next(tie), path, index, edge))


def _followed(
    first: dict[Box, Edge], start: tuple[Edge, ...], root: Box, target: Box
) -> tuple[Edge, ...]:
    path = list(start)
    box = path[-1].source if path else root
    while box is not target:
        path.append(first[box])
        box = path[-1].source
    return tuple(path)


def _size(edge: Edge) -> Size:
    slope = edge.slope
    assert slope is not None, "checked by find_paths"
    if not isfinite(slope):
        return 1, 0, 0.0
    return (0, 0, log(abs(slope))) if slope else (0, -1, 0.0)


def _plus(one: Size, other: Size) -> Size:
    return one[0] + other[0], one[1] + other[1], one[2] + other[2]


def _minus(one: Size, other: Size) -> Size:
    return one[0] - other[0], one[1] - other[1], one[2] - other[2]


def _product(seed: float, edges: tuple[Edge, ...]) -> float:
    product = seed
    for edge in edges:
        product = edge.slope * product  # type: ignore[operator]  # in this order: see scalar.CLOSED
    return product


def _difference(total: float, parts: list[float]) -> float:
    if not isfinite(total) or not all(map(isfinite, parts)):
        return total - sum(parts)
    return fsum([total, *(-part for part in parts)])
