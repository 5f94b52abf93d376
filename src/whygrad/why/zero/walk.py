"""Where did a gradient become zero?  A backward pass in which every zero has a name.

The walk goes from the loss to the tensor that was asked about.  With the gradient travels, for each
element that is zero, the event that made it so: an op whose derivative is 0 there, contributions
that cancel, a number too small for its dtype.  Zeros that an op was given keep their event on the
way through it.  Where no element of an op's input stands opposite an element of its output (a
matrix product, an index), its rule is asked: a rule is linear in what comes in, so its answer to a
probe tells which zeros are the op's own, and whose the others are.

Nothing here knows an engine: a :class:`Graph` runs nodes and hands out a :class:`WalkedEdge` each.
"""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import count
from typing import Any

import numpy as np

from whygrad.why.zero import attribution
from whygrad.why.zero.attribution import smallest
from whygrad.why.zero.edges import (
    Arrival,
    Blame,
    Event,
    Graph,
    Passage,
    Term,
    WalkedEdge,
    magnitude,
    probe_like,
)

__all__ = ["WEAK", "Event", "Graph", "Passage", "Term", "WalkedEdge", "ZeroWalk", "smallest"]

WEAK = 1e-3  # an edge that weakens a gradient more than this is looked at more closely
_ASKED = 1000  # ops that got only zeros and are asked what they would have done


class ZeroWalk:
    """Walks from ``root`` to ``target`` and keeps count of the zeros."""

    def __init__(
        self, graph: Graph, root: tuple[Any, int], seed: Any, target: tuple[Any, int]
    ) -> None:
        self.graph = graph
        self.target = target
        self.passages: dict[Any, list[Passage]] = {}  # by source
        self.gradient: Any = None  # of the target; None if nothing arrived
        self.blame: Blame = {}
        self.largest = 0.0  # of all gradients on the way
        self.terms: list[Term] = []  # what met at the target
        self.closed: list[Event] = []  # ops that got only zeros and would have let nothing through
        self._asked = 0
        self._waiting: dict[Any, list[list[Arrival]]] = {}
        self._heap: list[tuple[Any, int, Any]] = []
        self._ties = count()
        self._send(root[0], root[1], Arrival(seed, attribution.seeded(seed), "the seed", None))
        self._run()

    def _send(self, node: Any, slot: int, arrival: Arrival) -> None:
        places = self._waiting.get(node)
        if places is None:
            places = self._waiting[node] = [[] for _ in range(self.graph.outputs(node))]
            if node is not self.target[0]:
                heappush(self._heap, (self.graph.rank(node), next(self._ties), node))
        places[slot].append(arrival)

    def _run(self) -> None:
        while self._heap:
            node = heappop(self._heap)[2]
            met = [attribution.add_up(arrivals) for arrivals in self._waiting.pop(node)]
            incoming = [gradient for gradient, _ in met]
            arrived = [each for each in incoming if each is not None]
            strongest = max(map(magnitude, arrived))
            self.largest = max(self.largest, strongest)
            for edge in self.graph.run(node, incoming):
                blame = attribution.beyond(edge, [blame for _, blame in met])
                passage = _passage(edge, blame, strongest)
                if not strongest and self._asked < _ASKED:
                    self._asked += 1
                    self.closed += attribution.closed(edge)
                self.passages.setdefault(edge.source, []).append(passage)
                arrival = Arrival(edge.contribution, blame, edge.op, edge.where)
                edge.forget()
                self._send(edge.source, edge.slot, arrival)
        node, slot = self.target
        arrivals = self._waiting[node][slot] if node in self._waiting else []
        self.gradient, self.blame = attribution.add_up(arrivals)
        if self.gradient is not None:
            self.largest = max(self.largest, magnitude(self.gradient))
            self.terms = attribution.terms_at_largest(
                arrivals, np.ones(np.shape(self.gradient), bool)
            )


def _passage(edge: WalkedEdge, blame: Blame, strongest: float) -> Passage:
    peak = magnitude(edge.contribution)
    opposed = 1.0
    if 0.0 < peak < WEAK * strongest:
        agreeing = [
            None if each is None else np.asarray(probe_like(each) * np.abs(each), each.dtype)
            for each in edge.incoming
        ]
        answer = edge.pull(agreeing)
        if answer is not None and magnitude(answer) > 0:
            opposed = peak / magnitude(answer)
    alive, total = int(np.count_nonzero(edge.contribution)), int(np.size(edge.contribution))
    return Passage(edge, alive, total, peak, strongest, opposed, tuple(blame))
