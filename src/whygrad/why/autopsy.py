"""Where did a gradient become zero?  A backward pass in which every zero has a name.

The walk goes from the loss to the tensor that was asked about.  With the gradient travels, for each
element that is zero, the event that made it so: an op whose derivative is 0 there, contributions
that cancel, a number too small for its dtype.  Zeros that an op was given keep their event on the
way through it.  Where no element of an op's input stands opposite an element of its output (a
matrix product, an index), its rule is asked: a rule is linear in what comes in, so its answer to a
probe tells which zeros are the op's own, and whose the others are.

Nothing here knows an engine: a :class:`Graph` runs nodes and hands out one :class:`Gate` per edge.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count
from typing import Any, Literal, Protocol

import numpy as np

from whygrad.autograd.source import Where

__all__ = ["WEAK", "Autopsy", "Event", "Gate", "Graph", "Passage", "Term", "smallest"]

_MOST = 64  # events that are told apart at one place
_ASKED = 1000  # ops that got only zeros and are asked what they would have done
WEAK = 1e-3  # an edge that weakens a gradient more than this is looked at more closely

Reason = Literal["derivative", "underflow", "cancelled", "empty", "seed", "several"]


@dataclass(eq=False)
class Gate:
    """One edge of the graph while its node runs; engines override what they can answer."""

    node: Any
    source: Any
    slot: int  # which output of the source
    op: str
    argument: str  # the source's name in the op's signature
    where: Where | None
    incoming: list[Any]  # one per output of the node; None where nothing arrived
    contribution: Any  # in the shape of the source

    def pull(self, probes: list[Any]) -> Any:
        """What the rule makes of other incoming gradients; None if it must not be asked again."""
        return None

    def pull_opposite(self, probe: Any) -> Any:
        """The same before a broadcast is undone; None unless the op works on elements alone."""
        return None

    def reach(self, probes: list[Any]) -> Any:
        """Like ``pull`` as if no factor were 0; None if the op is not a product."""
        return None

    def wide(self) -> Any:
        """The contribution computed in float64; None if that cannot be had."""
        return None

    def saved(self) -> dict[str, Any]:
        """What the node kept, by name."""
        return {}

    def forget(self) -> None:
        """The edge has been walked: let go of the arrays."""
        self.incoming, self.contribution = [], None


class Graph(Protocol):
    """A recorded computation that can be walked backward."""

    def rank(self, node: Any) -> Any:
        """Younger nodes have smaller ones."""

    def outputs(self, node: Any) -> int:
        """How many results the node has."""

    def run(self, node: Any, incoming: list[Any]) -> Sequence[Gate]:
        """Run the rules of ``node`` for the edges that lead to the target."""


@dataclass(eq=False)
class Term:
    """One of several contributions that cancel, at one element."""

    op: str
    where: Where | None
    value: float


@dataclass(eq=False)
class Event:
    """Something that made elements of a gradient zero."""

    reason: Reason
    gate: Gate | None  # None where several contributions met, and for the seed
    mask: Any  # the elements at which nothing passes
    killed: int  # how many of them had something to pass
    largest: float = 0.0  # among what was lost there
    terms: list[Term] = field(default_factory=list)

    @property
    def dead(self) -> int:
        return int(np.count_nonzero(self.mask))

    @property
    def total(self) -> int:
        return int(np.size(self.mask))


Blame = dict[Event, Any]  # which elements each event made zero


@dataclass(eq=False)
class Passage:
    """What is remembered of an edge that was walked."""

    gate: Gate
    came: int  # elements of the incoming gradient that were not zero
    size: int
    alive: int  # elements of the contribution that are not zero
    total: int
    peak: float  # largest magnitude of the contribution
    strongest: float  # largest magnitude of what came in
    opposed: float  # relative to what signs that do not cancel would have given
    events: tuple[Event, ...]

    @property
    def factor(self) -> float:
        """By how much the gradient shrinks (or grows) here."""
        return self.peak / self.strongest if self.strongest else 0.0


@dataclass(eq=False)
class _Waiting:
    contribution: Any
    blame: Blame
    op: str
    where: Where | None


class Autopsy:
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
        self._waiting: dict[Any, list[list[_Waiting]]] = {}
        self._heap: list[tuple[Any, int, Any]] = []
        self._ties = count()
        self._send(root[0], root[1], _Waiting(seed, _seeded(seed), "the seed", None))
        self._run()

    def _send(self, node: Any, slot: int, arrival: _Waiting) -> None:
        places = self._waiting.get(node)
        if places is None:
            places = self._waiting[node] = [[] for _ in range(self.graph.outputs(node))]
            if node is not self.target[0]:
                heappush(self._heap, (self.graph.rank(node), next(self._ties), node))
        places[slot].append(arrival)

    def _run(self) -> None:
        while self._heap:
            node = heappop(self._heap)[2]
            met = [_met(arrivals) for arrivals in self._waiting.pop(node)]
            incoming = [gradient for gradient, _ in met]
            arrived = [each for each in incoming if each is not None]
            strongest = max(map(_peak, arrived))
            self.largest = max(self.largest, strongest)
            came = sum(int(np.count_nonzero(each)) for each in arrived)
            size = sum(int(np.size(each)) for each in arrived)
            for gate in self.graph.run(node, incoming):
                blame = _beyond(gate, [blame for _, blame in met])
                passage = _passage(gate, blame, strongest, came, size)
                if not came and self._asked < _ASKED:
                    self._asked += 1
                    self.closed += _closed(gate)
                self.passages.setdefault(gate.source, []).append(passage)
                arrival = _Waiting(gate.contribution, blame, gate.op, gate.where)
                gate.forget()
                self._send(gate.source, gate.slot, arrival)
        node, slot = self.target
        arrivals = self._waiting[node][slot] if node in self._waiting else []
        self.gradient, self.blame = _met(arrivals)
        if self.gradient is not None:
            self.largest = max(self.largest, _peak(self.gradient))
            self.terms = _terms(arrivals, np.ones(np.shape(self.gradient), bool))


def _closed(gate: Gate) -> list[Event]:
    """Whether an op that got only zeros would have let nothing through anyway."""
    weights = [None if each is None else _weights(each) for each in gate.incoming]
    answer = gate.pull_opposite(weights[0]) if len(weights) == 1 else None
    if answer is None:
        answer = gate.pull(weights)
    shut = answer is not None and np.size(answer) > 0 and not np.any(answer)
    return [Event("derivative", gate, np.ones(np.shape(answer), bool), 0)] if shut else []


def _peak(array: Any) -> float:
    return float(np.max(np.abs(array), initial=0))


def _weights(like: Any) -> Any:
    """Numbers around 1 whose sums do not cancel, the same each time."""
    drawn = np.random.default_rng(0).uniform(0.5, 1.5, np.shape(like))
    return np.asarray(drawn, like.dtype)


def _seeded(seed: Any) -> Blame:
    zero = np.asarray(seed == 0)
    return {Event("seed", None, zero, 0): zero} if zero.any() else {}


def _met(arrivals: list[_Waiting]) -> tuple[Any, Blame]:
    """Contributions added up, and why their sum is zero where it is."""
    if not arrivals:
        return None, {}
    if len(arrivals) == 1:
        return arrivals[0].contribution, arrivals[0].blame
    total = arrivals[0].contribution
    for each in arrivals[1:]:
        total = total + each.contribution
    zero = np.asarray(total == 0)
    if not zero.any():
        return total, {}
    blame: Blame = {}
    for each in arrivals:
        for event, mask in each.blame.items():
            blame[event] = blame[event] | mask if event in blame else mask
    cancelled = zero & np.logical_or.reduce([each.contribution != 0 for each in arrivals])
    blame = _limited(blame, zero & ~cancelled)
    if cancelled.any():
        terms = _terms(arrivals, cancelled)
        largest = max(abs(each.value) for each in terms)
        event = Event("cancelled", None, cancelled, int(cancelled.sum()), largest, terms)
        blame[event] = cancelled
    return total, blame


def _terms(arrivals: list[_Waiting], among: Any) -> list[Term]:
    """The contributions at the element where they are largest."""
    sizes = sum(np.abs(each.contribution) for each in arrivals) * among
    if not np.size(sizes):
        return []
    place = np.unravel_index(int(np.argmax(sizes)), np.shape(sizes))
    terms = [
        Term(each.op, each.where, float(np.real(each.contribution[place]))) for each in arrivals
    ]
    return sorted((each for each in terms if each.value), key=lambda each: -abs(each.value))


def _limited(blame: Blame, zero: Any) -> Blame:
    """Only for elements that are zero, and not too many events: small ones become one."""
    shares = {event: mask & zero for event, mask in blame.items()}
    present = {event: mask for event, mask in shares.items() if mask.any()}
    if len(present) <= _MOST:
        return present
    sizes = {
        event: 0 if event.reason == "several" else int(np.count_nonzero(mask))
        for event, mask in present.items()
    }
    ranked = sorted(present, key=lambda event: -sizes[event])
    limited = {event: present[event] for event in ranked[:_MOST]}
    rest = np.logical_or.reduce([present[event] for event in ranked[_MOST:]])
    killed = sum(event.killed for event in ranked[_MOST:])
    return {**limited, Event("several", None, rest, killed): rest}


def _beyond(gate: Gate, before: list[Blame]) -> Blame:
    """Why the contribution of an edge is zero where it is."""
    dead = np.asarray(gate.contribution == 0)
    if not dead.any():
        return {}
    if not any(np.size(each) for each in gate.incoming if each is not None):
        return {Event("empty", gate, dead, 0): dead}
    if len(gate.incoming) == 1:
        opposite = gate.pull_opposite(gate.incoming[0])
        if opposite is not None:
            return _element_by_element(gate, dead, opposite, before[0])
    return _by_probing(gate, dead, before)


def _element_by_element(gate: Gate, dead: Any, opposite: Any, before: Blame) -> Blame:
    incoming = gate.incoming[0]
    stopped = np.broadcast_to(opposite == 0, incoming.shape)
    killed = stopped & (incoming != 0)
    blame = dict(before)
    if killed.any():
        slopes = np.broadcast_to(gate.pull_opposite(_weights(incoming)), incoming.shape)
        too_small = killed & (slopes != 0)  # there is a slope, yet the product came out as 0
        largest = _peak(incoming * killed)
        if too_small.any():
            event = Event("underflow", gate, too_small, int(too_small.sum()), largest)
            blame[event] = too_small
        killed = killed & ~too_small
        if killed.any():
            event = Event("derivative", gate, slopes == 0, int(killed.sum()), largest)
            blame[event] = killed
    blame = _limited({event: _folded(mask, dead.shape) for event, mask in blame.items()}, dead)
    lost = dead & _folded(~stopped, dead.shape)  # something came through, and its sum is 0
    if lost.any():
        _add_lost(blame, gate, lost)
    return blame


def _folded(mask: Any, shape: tuple[int, ...]) -> Any:
    """Whether any copy of an element that was broadcast is in ``mask``."""
    extra = mask.ndim - len(shape)
    axes = tuple(range(extra)) + tuple(
        extra + axis for axis, size in enumerate(shape) if size == 1 != mask.shape[extra + axis]
    )
    return mask.any(axis=axes, keepdims=True).reshape(shape) if axes else mask


def _by_probing(gate: Gate, dead: Any, before: list[Blame]) -> Blame:
    """Ask the rule: for gradients everywhere, only where there were some, only where one died."""
    incoming = [None if each is None else np.asarray(each) for each in gate.incoming]
    weights = [None if each is None else _weights(each) for each in incoming]
    alive = [None if each is None else each != 0 for each in incoming]
    anywhere = any(each is not None and each.any() for each in alive)
    largest = max(_peak(each) for each in incoming if each is not None)
    answer = gate.pull(weights)
    blame: Blame = {}
    if answer is None:  # all that is known is what went in and what came out
        if dead.all() and anywhere:
            return {Event("derivative", gate, dead, int(dead.sum()), largest): dead}
        return _limited({event: dead for each in before for event in each}, dead)
    closed = dead & (answer == 0)
    open_to_some = dead & (gate.pull(_only(weights, alive)) != 0)
    reached = gate.reach(_only(weights, alive))
    if reached is not None:  # a factor of 0 counts where a gradient met it
        closed = dead & ~open_to_some & ((reached != 0) | (gate.reach(weights) == 0))
    if closed.any():
        killed = int(closed.sum()) if anywhere else 0
        blame[Event("derivative", gate, closed, killed, largest)] = closed
    if open_to_some.any():
        _add_lost(blame, gate, open_to_some)
    inherited: Blame = {}
    ask = gate.pull if reached is None else gate.reach
    for event in dict.fromkeys(event for each in before for event in each):
        masks = [each.get(event, False) for each in before]
        inherited[event] = dead if not anywhere else np.asarray(ask(_only(weights, masks)) != 0)
    blame.update(_limited(inherited, dead & ~open_to_some))
    return blame


def _only(weights: list[Any], masks: list[Any]) -> list[Any]:
    return [
        None if each is None else np.asarray(each * mask, each.dtype)
        for each, mask in zip(weights, masks, strict=True)
    ]


def _add_lost(blame: Blame, gate: Gate, lost: Any) -> None:
    """Something went through the op and its sum is 0: too small for the dtype, or cancelled."""
    largest = max(_peak(each) for each in gate.incoming if each is not None)
    wide = gate.wide()
    dtype = gate.contribution.dtype
    small = np.zeros(lost.shape, bool)
    if wide is not None:
        size = np.abs(wide)
        small = lost & (size > 0) & (size <= smallest(dtype))
    reasons: tuple[tuple[Reason, Any], ...] = (("underflow", small), ("cancelled", lost & ~small))
    for reason, mask in reasons:
        if mask.any():
            blame[Event(reason, gate, mask, int(mask.sum()), largest)] = mask


def smallest(dtype: Any) -> float:
    """The smallest positive number of a dtype."""
    if dtype.name == "bfloat16":
        return 2.0**-133
    return float(np.finfo(dtype).smallest_subnormal) if dtype.kind in "fc" else 0.0


def _passage(gate: Gate, blame: Blame, strongest: float, came: int, size: int) -> Passage:
    peak = _peak(gate.contribution)
    opposed = 1.0
    if 0.0 < peak < WEAK * strongest:
        magnitudes = [
            None if each is None else np.asarray(_weights(each) * np.abs(each), each.dtype)
            for each in gate.incoming
        ]
        answer = gate.pull(magnitudes)
        if answer is not None and _peak(answer) > 0:
            opposed = peak / _peak(answer)
    alive, total = int(np.count_nonzero(gate.contribution)), int(np.size(gate.contribution))
    return Passage(gate, came, size, alive, total, peak, strongest, opposed, tuple(blame))
