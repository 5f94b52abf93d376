"""The order of things within a rank: barycentres, swept up and down, fewest crossings kept."""

from __future__ import annotations

from bisect import bisect_right, insort

from whygrad.why.drawing.ranks import Link, Ranks, Vertex

__all__ = ["crossings", "order"]

_SWEEPS = 24


def order(ranks: Ranks) -> None:
    """Set the place of every vertex in its rank, and where wires leave and reach the cards."""
    rows = ranks.rows
    best = [list(row) for row in rows]
    fewest = None
    for sweep in range(_SWEEPS):
        upwards = sweep % 2 == 0  # the first one: the root's arguments from left to right
        for row in reversed(rows) if upwards else rows:
            _arrange(row, rows, upwards)
        count = crossings(rows)
        if fewest is None or count < fewest:
            fewest, best = count, [list(row) for row in rows]
        if fewest == 0:
            break
    for row, kept in zip(rows, best):
        row[:] = kept
        _number(row)
    for card in ranks.cards:
        _spread(card)


def _arrange(row: list[Vertex], rows: list[list[Vertex]], upwards: bool) -> None:
    """Sort a rank by the mean place of its neighbours below (or above)."""

    count = len(row)

    def pull(vertex: Vertex) -> float:
        links = vertex.below if upwards else vertex.above
        if not links:
            return (vertex.place + 0.5) / count
        return sum(_end(link, rows, upwards) for link in links) / len(links)

    row.sort(key=pull)
    _number(row)


def _end(link: Link, rows: list[list[Vertex]], upwards: bool) -> float:
    """Where the far end of a link is, as a share of its rank; arguments keep their order."""
    far = link.lower if upwards else link.upper
    within = 0.5
    if upwards and far.is_card:
        within = (link.position + 1) / (len(far.above) + 2)
    return (far.place + within) / len(rows[far.rank])


def _number(row: list[Vertex]) -> None:
    for place, vertex in enumerate(row):
        vertex.place = place


def crossings(rows: list[list[Vertex]]) -> int:
    """How many pairs of links cross."""
    total = 0
    for row in rows:
        passed: list[int] = []
        for vertex in row:
            ends = sorted(link.lower.place for link in vertex.below)
            total += sum(len(passed) - bisect_right(passed, end) for end in ends)
            for end in ends:
                insort(passed, end)
    return total


def _spread(card: Vertex) -> None:
    """Give the wires of a card their points along its edge, so that they do not cross there."""
    leaving = sorted(card.below, key=lambda link: link.lower.place)
    for link, offset in zip(leaving, _offsets(len(leaving), card.breadth)):
        link.leaves_at = offset
    arriving = sorted(card.above, key=lambda link: link.upper.place)
    for link, offset in zip(arriving, _offsets(len(arriving), card.breadth)):
        link.arrives_at = offset


def _offsets(count: int, breadth: float) -> list[float]:
    """Evenly spaced, at most 36 pixels apart, within the straight part of the edge."""
    step = min(36.0, 0.7 * breadth / max(count - 1, 1))
    return [(index - (count - 1) / 2) * step for index in range(count)]
