"""Which boxes of a large flow are drawn, and how the drawn ones hang together without the others.

The strongest path from the target to the root comes first, then its surroundings: the nearest
first, and among them the largest contributions.
"""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import count
from operator import itemgetter

from whygrad.why.drawing.amounts import measure
from whygrad.why.flow import Box, Flow

__all__ = ["choose", "hidden_links"]

_ABREAST = 4  # neighbours of one box that count as equally near: a hub must not fill the picture


def choose(flow: Flow, most: int) -> list[Box]:
    """At most ``most`` boxes of the flow, oldest first."""
    if len(flow.boxes) <= most:
        return flow.boxes
    known = set(flow.boxes)
    path = [box for box in _strongest_path(flow) if box in known]
    share = max(most * 2 // 3, 2)  # of the path; the rest is for what stands beside it
    if len(path) > share:
        path = path[: share // 2] + path[share // 2 - share :]
    chosen = set(path)
    reached: list[tuple[int, float, int, Box]] = []
    turn = count()  # settles ties

    def reach(box: Box, hops: int) -> None:
        edges = [(measure(edge.contribution).size, edge) for edge in (*box.consumers, *box.inputs)]
        edges.sort(key=itemgetter(0), reverse=True)
        for place, (size, edge) in enumerate(edges):
            neighbour = edge.source if edge.consumer is box else edge.consumer
            if neighbour in known:
                heappush(reached, (hops + place // _ABREAST, -size, next(turn), neighbour))

    for box in path[:-1] or path:  # the question is about the target, not about the root
        reach(box, 1)
    while reached and len(chosen) < most:
        hops, _, _, box = heappop(reached)
        if box not in chosen:
            chosen.add(box)
            reach(box, hops + 1)
    return [box for box in flow.boxes if box in chosen]


def _strongest_path(flow: Flow) -> list[Box]:
    """From the target to the root, at each step along the largest contribution."""
    if flow.target is None:
        return [flow.root]
    leading = {flow.root}  # boxes from which the root is reached
    pending = [flow.root]
    while pending:
        for edge in pending.pop().inputs:
            if edge.source not in leading:
                leading.add(edge.source)
                pending.append(edge.source)
    if flow.target not in leading:
        return [flow.target, flow.root]
    path = [flow.target]
    while path[-1] is not flow.root:
        onward = [edge for edge in path[-1].consumers if edge.consumer in leading]
        path.append(max(onward, key=lambda edge: measure(edge.contribution).size).consumer)
    return path


def hidden_links(flow: Flow, drawn: list[Box]) -> list[tuple[Box, Box]]:
    """Pairs of drawn boxes joined only by way of boxes that are not drawn.

    Of several such pairs that say the same, the shortest: what another link or edge already
    implies is left out.  Sets of boxes are bit masks, one bit per drawn box.
    """
    bits = {box: 1 << index for index, box in enumerate(drawn)}
    reaching: dict[Box, int] = {}  # drawn boxes from which a box is reached
    hidden: dict[Box, int] = {}  # for a box not drawn: the drawn ones it comes from directly
    links = []
    for box in flow.boxes:
        through = seen = 0
        for edge in box.inputs:
            source = edge.source
            if source in bits:
                seen |= bits[source] | reaching[source]
            else:
                through |= hidden.get(source, 0)
        if box not in bits:
            hidden[box] = through | sum({bits[e.source] for e in box.inputs if e.source in bits})
            continue
        missing = through & ~seen
        while missing:
            youngest = missing.bit_length() - 1
            links.append((drawn[youngest], box))
            seen |= 1 << youngest | reaching[drawn[youngest]]
            missing &= ~seen
        reaching[box] = seen
    return links
