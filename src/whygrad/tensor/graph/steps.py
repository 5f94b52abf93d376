"""What is remembered of a value that left the graph: where it came from, op by op.

A step refers to no tensor and keeps no graph alive, because that is what people detach for, and
what a step can reach is bounded, so a running average over a million steps costs what one costs.
:mod:`.lineage` makes the steps while a program runs.
"""

from __future__ import annotations

import threading
import weakref
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from whygrad.source import Where
from whygrad.tensor.graph.reach import reachable

if TYPE_CHECKING:
    from types import CodeType

    from whygrad.tensor.graph.node import Node

__all__ = ["Mention", "Source", "Step", "Trip", "Trips", "entering", "floats_in", "sources_of"]

_LOOKED_AT = 24  # nodes of the graph behind a cut that are remembered by number
_LONGEST = 64  # steps behind a step before only the cuts among them are kept
_KEPT = 16  # cuts that a shortened step keeps
_LINES = 64  # lines whose trips are remembered
_TRIPS_PER_LINE = 16
_NUMBERS_PER_TRIP = 16


class Source:
    """A tensor that required grad, seen at the moment its value left the graph."""

    __slots__ = ("_node", "behind", "complete", "length", "op", "order", "place", "steps")

    def __init__(self, node: Node) -> None:
        self._node = weakref.ref(node)
        self.op: str | None = None if node.plan is None else node.plan.op.name
        self.place = (node.code, node.instruction)
        self.steps: tuple[Step, ...] = ()  # values from outside that went into it
        self.length = 0  # of the longest of these
        self.order = node.order
        self.behind = {node.order: _mention(node)}  # the nearest nodes, by number
        self.complete = True  # whether these are all
        if node.parents or node._extras is not None:
            self._look_behind(node)

    def _look_behind(self, node: Node) -> None:
        """Remember the nearest nodes: they may not live much longer."""
        nearest = {node: None}  # in the order found
        waiting = [node]
        for each in waiting:  # grows while it is walked
            for parent in each.parents:
                if parent not in nearest:
                    nearest[parent] = None
                    waiting.append(parent)
            if len(waiting) > _LOOKED_AT:
                self.complete = each is waiting[-1]
                break
        self.behind = {each.order: _mention(each) for each in waiting}
        if any(each._extras is not None for each in waiting):
            steps = list(entering(waiting))
            self.complete = self.complete and len(steps) <= _KEPT
            self.steps = tuple(steps[:_KEPT])
            self.length = max([each.length for each in self.steps], default=0)

    @property
    def before(self) -> tuple[Step, ...]:
        """The values from outside that went into it: all of them while the graph is alive."""
        start = self._node()
        return self.steps if self.complete or start is None else tuple(entering(reachable([start])))

    @property
    def node(self) -> Node | None:
        """What made it, while the graph is alive."""
        return self._node()

    @property
    def where(self) -> Where:
        return Where(*self.place)

    def comes_from(self, node: Node) -> bool | None:
        """Whether it was computed from ``node``; None if nobody can tell any more."""
        if node.order in self.behind:
            return True
        if self.complete or node.order < self.order:  # that is younger: orders count down
            return False
        start = self._node()
        return None if start is None else node in reachable([start])

    def way_from(self, node: Node) -> list[Mention]:
        """The ops from ``node`` to this one, both included, if they are among the nearest."""
        after: dict[int, int | None] = {self.order: None}
        waiting = [self.order]
        for order in waiting:  # grows while it is walked
            if order == node.order:
                break
            for parent in self.behind[order][-1]:
                if parent in self.behind and parent not in after:
                    after[parent] = order
                    waiting.append(parent)
        way = []
        here: int | None = node.order
        while here is not None and here in after:
            way.append(Mention(*self.behind[here]))
            here = after[here]
        return way


class Mention(NamedTuple):
    """What is remembered of a node: its op (None for a leaf), its place, its parents' numbers."""

    op: str | None
    code: CodeType
    instruction: int
    parents: Sequence[int]

    @property
    def where(self) -> Where:
        return Where(self.code, self.instruction)


def _mention(node: Node) -> tuple[str | None, CodeType, int, list[int]]:
    """Like :class:`Mention`, which takes longer to make than to wait for."""
    op = None if node.plan is None else node.plan.op.name
    return op, node.code, node.instruction, [each.order for each in node.parents]


def entering(nodes: Iterable[Node]) -> Iterator[Step]:
    """The values from outside the graph that these ops used."""
    for node in nodes:
        if node._extras is not None and node._extras.cuts:
            yield from node._extras.cuts.values()


class Step:
    """One op call on the way of a value outside the graph."""

    __slots__ = ("_code", "_instruction", "inputs", "kind", "length", "op", "shortened")

    length: int  # steps in a row up to this one

    def __init__(
        self,
        kind: str | None,
        op: str,
        code: CodeType,
        instruction: int,
        inputs: tuple[Step | Source, ...],
    ) -> None:
        self.kind = kind  # what cut the value off, or None if it had left the graph before
        self.op = op
        self._code = code
        self._instruction = instruction
        length: int = 0
        for each in inputs:
            if each.length > length:
                length = each.length
        self.shortened = length == _LONGEST  # whether something before it is forgotten
        if self.shortened:
            inputs = _latest_cuts(inputs)
            length = 1
        self.length = length + 1
        self.inputs = inputs

    @property
    def where(self) -> Where:
        return Where(self._code, self._instruction)

    @property
    def sources(self) -> tuple[Source, ...]:
        """The tensors in the graph that it read directly."""
        return tuple(each for each in self.inputs if isinstance(each, Source))

    @property
    def before(self) -> tuple[Step, ...]:
        """The steps just before it, also behind a stretch inside some graph."""
        found: list[Step] = []
        for each in self.inputs:
            found += each.before if isinstance(each, Source) else (each,)
        return tuple(found)


def sources_of(step: Step, beyond: str | None = None) -> list[Source]:
    """Every tensor in a graph that the step comes from; those behind a cut of one kind are not."""
    waiting, sources = [step], list(step.sources)
    seen = {step}
    for each in waiting:  # grows while it is walked
        for before in each.before:
            if before not in seen and (before.kind is None or before.kind != beyond):
                seen.add(before)
                waiting.append(before)
                sources += before.sources
    return sources


def _latest_cuts(inputs: tuple[Step | Source, ...]) -> tuple[Step | Source, ...]:
    """What a long history is shortened to: the nearest places where values left the graph."""
    sources = [each for each in inputs if isinstance(each, Source)]
    waiting = deque(each for each in inputs if isinstance(each, Step))
    seen = set(map(id, waiting))
    found: dict[Any, Step] = {}
    while waiting and len(found) < _KEPT:
        step = waiting.popleft()
        own = tuple(_forgetting(each) for each in step.sources)
        if step.kind is not None and own:
            key = (step._code, step._instruction, own[0].place)
            found.setdefault(key, Step(step.kind, step.op, *key[:2], own))
        for each in step.before:
            if id(each) not in seen:
                seen.add(id(each))
                waiting.append(each)
    return (*map(_forgetting, sources), *found.values())


def _forgetting(source: Source) -> Source:
    """The same tensor without what came before the graph that made it."""
    short = Source.__new__(Source)
    for name in Source.__slots__:
        setattr(short, name, getattr(source, name))
    short.steps = ()
    short.length = 0
    return short


class Trip(Step):
    """A value that left for Python or NumPy, where nobody can follow it."""

    __slots__ = ("_memory", "_numbers")

    def __init__(
        self,
        kind: str,
        op: str,
        code: CodeType,
        instruction: int,
        inputs: tuple[Step | Source, ...],
        value: Any,
    ) -> None:
        super().__init__(kind, op, code, instruction, inputs)
        array = isinstance(value, np.ndarray)
        self._memory = weakref.ref(_owner(value)) if array else None
        self._numbers = () if array else tuple(islice(floats_in(value), _NUMBERS_PER_TRIP))

    @property
    def marks(self) -> list[int]:
        """What it is known by when it comes back: equal is not enough, it must be the same."""
        memory = None if self._memory is None else self._memory()
        return list(map(id, self._numbers if memory is None else (memory,)))

    def took(self, value: Any) -> bool:
        """Whether ``value`` is the memory, or one of the numbers, that was handed out."""
        if isinstance(value, np.ndarray):
            return self._memory is not None and self._memory() is _owner(value)
        return any(value is each for each in self._numbers)


def _owner(array: Any) -> Any:
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def floats_in(value: Any) -> Iterator[float]:
    """A float, or those in a list of lists, in order."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if type(each) is float:
            yield each
        elif isinstance(each, (list, tuple)):
            waiting.extend(reversed(each))


class Trips:
    """The latest trips, a few for each line and thread: who logs a loss pushes out no other."""

    def __init__(self) -> None:
        self._by_place: dict[tuple[CodeType, int, int], deque[Trip]] = {}
        self._by_mark: dict[int, Trip] = {}
        self._lock = threading.RLock()  # a signal handler may compute while it is held

    def __bool__(self) -> bool:
        return bool(self._by_place)

    def __iter__(self) -> Iterator[Trip]:
        """The latest first, those of one line together."""
        with self._lock:
            kept = [trip for each in self._by_place.values() for trip in each]
        return reversed(kept)

    def add(self, trip: Trip) -> None:
        place = (trip._code, trip._instruction, threading.get_ident())
        with self._lock:
            latest = self._by_place.pop(place, None) or deque()
            self._by_place[place] = latest  # at the end now: the others are older
            latest.append(trip)
            self._by_mark.update(dict.fromkeys(trip.marks, trip))
            if len(latest) > _TRIPS_PER_LINE:
                self._forget(latest.popleft())
            if len(self._by_place) > _LINES:
                for each in self._by_place.pop(next(iter(self._by_place))):
                    self._forget(each)

    def _forget(self, trip: Trip) -> None:
        for mark in [mark for mark in trip.marks if self._by_mark.get(mark) is trip]:
            del self._by_mark[mark]

    def returning(self, value: Any) -> Trip | None:
        """The trip on which ``value``, a float or an array, was handed out."""
        trip = self._by_mark.get(id(_owner(value) if isinstance(value, np.ndarray) else value))
        return trip if trip is not None and trip.took(value) else None
