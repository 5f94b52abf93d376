"""Which nodes a walk can meet, and when a leaf has heard from all of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from heapq import heappush
from typing import TYPE_CHECKING, Any

from whygrad.tensor.graph.node import Node, next_order

if TYPE_CHECKING:
    from whygrad.autograd.arrivals import Arrivals

__all__ = ["Turns", "nodes_leading_to", "reachable"]


def reachable(roots: Iterable[Node]) -> set[Node]:
    """The roots and everything they were computed from."""
    seen: set[Node] = set()
    stack = list(roots)
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            stack.extend(node.parents)
    return seen


def nodes_leading_to(targets: Collection[Node], nodes: Iterable[Node]) -> set[Node]:
    """The nodes that have a target among their ancestors: the only ones worth running."""
    useful: set[Node] = set()
    for node in sorted(nodes, key=lambda each: each.order, reverse=True):  # oldest first
        if any(parent in targets or parent in useful for parent in node.parents):
            useful.add(node)
    return useful


class Turns(list[Node]):
    """The leaves of a walk in which some have hooks.

    Nodes run youngest first, so a leaf has heard from everybody once the oldest node that sends to
    it has run.  A leaf with hooks is put into the heap to come up right then; the others are kept
    for the end.
    """

    def __init__(self, walk: Arrivals) -> None:
        from fractions import Fraction  # milliseconds that walks without hooks do not need

        super().__init__()
        self._heap = walk.heap
        self._turns: dict[Node, Any] = {}
        for node in reachable(walk.roots) if walk.useful is None else walk.useful:
            for position, parent in enumerate(node.parents, 1):
                if _is_hooked_leaf(parent):
                    # Several leaves may follow one node, in the order of its arguments.
                    turn = node.order + Fraction(position, len(node.parents) + 1)
                    self._turns[parent] = max(turn, self._turns.get(parent, turn))
        for leaf in reversed(walk.leaves):  # roots of this walk
            if _is_hooked_leaf(leaf):
                self._turns.setdefault(leaf, next_order())
        for leaf in walk.leaves:
            self.append(leaf)

    def append(self, leaf: Node) -> None:
        """Something has arrived for ``leaf``; after its turn, it goes with the others."""
        turn = self._turns.pop(leaf, None)
        if turn is None:
            super().append(leaf)
        else:
            heappush(self._heap, (turn, leaf))


def _is_hooked_leaf(node: Node) -> bool:
    return node.plan is None and node._extras is not None and bool(node._extras.hooks)
