"""Anomaly mode after the fact: who made the NaN, when nobody watched the forward pass.

The calls of a recorded graph are looked at oldest first, with the values that are known of them
(:mod:`.values`), and judged as anomaly mode judges them when it is on.  Where values are missing,
the NaN is somewhere between the last that is known to be finite and the first that is not: a
:class:`Gap`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from whygrad.autograd.anomaly_mode import finite
from whygrad.autograd.anomaly_mode.examination import found
from whygrad.autograd.anomaly_mode.findings import Trail, mark, merged, trail_of, unmark
from whygrad.autograd.anomaly_mode.watch import Watch
from whygrad.ops.families import ADD, CARRIERS, SUB
from whygrad.source import Calls, Where
from whygrad.tensor import Tensor, wrap
from whygrad.tensor.graph.node import Node
from whygrad.why.names import Names
from whygrad.why.nan.values import ABSENT, KnownCall, Place, Values

__all__ = ["Gap", "RecordedWatch"]


class _NotKept:
    """Stands for an argument that nobody kept."""

    def __repr__(self) -> str:
        return "(not kept)"


@dataclass(frozen=True)
class Gap:
    """Numbers that are not finite, made by one of several calls whose values were not kept."""

    kind: finite.Trouble
    candidates: tuple[Node, ...]  # oldest first; the last is where they show


class RecordedWatch(Watch):
    """Looks at the calls of a graph that has been recorded."""

    def __init__(self, nodes: Iterable[Node], names: Names, root: Tensor) -> None:
        super().__init__(check_nan=True, allow_inf=False)
        self._names = names
        self._trails: dict[Place, Trail] = {}
        self._gaps: dict[Place, Gap] = {}
        self._unknown: dict[Place, tuple[Node, ...]] = {}  # and the calls it may depend on
        self._operands: dict[int, Trail] = {}  # of the call that is looked at
        self._node: Node | None = None
        self._saved: list[tuple[Any, Trail]] = []
        nodes = list(nodes)
        held = _held(nodes, names)
        self.values = Values(nodes, {**held, (root._node, root._slot): root._array})
        with np.errstate(all="ignore"):
            for call in self.values.calls():
                self._judge(call)

    def cause_of(self, tensor: Tensor) -> Trail | Gap | None:
        """Where the numbers of a tensor that are not finite come from."""
        place = tensor._node, tensor._slot
        if tensor._node.plan is None:
            return self._given_leaf(tensor._node, tensor._array)
        return self._trails.get(place) or self._gaps.get(place)

    def _judge(self, call: KnownCall) -> None:
        for slot, array in enumerate(call.outputs):
            place = call.node, slot
            if array is None:
                self._pass_over(call, place)
            elif not finite.all_finite(array):
                known = trail_of(array)
                cause = known or self._examine(call, array)
                if isinstance(cause, Gap):
                    self._gaps[place] = cause
                else:
                    self._trails[place] = cause
                    self._saved.append((array, cause))

    def _sources(self, call: KnownCall) -> Iterator[tuple[int, Place]]:
        """The tensor arguments with a history."""
        node = call.node
        for position, parent, slot in zip(
            node.plan.positions, node.parents, node.slots, strict=True
        ):
            yield position, (parent, slot)

    def _pass_over(self, call: KnownCall, place: Place) -> None:
        """The result was not kept: what is wrong with the arguments may be wrong with it."""
        behind: list[Node] = []
        trails = []
        for position, source in self._sources(call):
            behind += self._unknown.get(source, ())
            value = call.inputs[position]
            trail = self._trails.get(source)
            if trail is None and type(value) is np.ndarray and not finite.all_finite(value):
                trail = self._operand(call, position, value)
            if trail is not None:
                trails.append(trail)
        self._unknown[place] = (*dict.fromkeys(behind), call.node)
        if trails:
            kind: finite.Trouble = "nan" if any(each.kind == "nan" for each in trails) else "inf"
            self._trails[place] = merged(trails, kind)

    def _examine(self, call: KnownCall, array: Any) -> Trail | Gap:
        node, op = call.node, call.node.plan.op
        kind = finite.trouble(array) or "nan"
        sources = dict(self._sources(call))
        missing = [position for position, each in enumerate(call.inputs) if each is None]
        suspected = [
            trail
            for position in missing
            if (trail := self._trails.get(sources.get(position))) is not None  # type: ignore[arg-type]
        ]
        known = [
            (position, each)
            for position, each in enumerate(call.inputs)
            if isinstance(each, np.ndarray) and not finite.all_finite(each)
        ]
        gaps = [self._gaps[sources[p]] for p, _ in known if sources.get(p) in self._gaps]
        if missing and not known:
            if suspected:
                return merged(suspected, kind)
            if _only_hands_on(op.name, kind):
                return self._handed_on(call, missing, sources, kind, array)
            return Gap(kind, self._candidates(missing, sources, node))
        if gaps and len(gaps) == len(known):
            turned = () if gaps[0].kind == kind else (node,)
            return Gap(kind, (*gaps[0].candidates, *turned))
        self._operands = {}
        wrapped = [each if not isinstance(each, np.ndarray) else wrap(each) for each in call.inputs]
        for position, each in known:
            self._operands[id(wrapped[position])] = self._operand(call, position, each)
        shown = [
            _NotKept() if each is None else None if each is ABSENT else each for each in wrapped
        ]
        arguments = [shown] if op.variadic else shown
        self._node = node
        trail, finding = self._examined(op, (*arguments, *call.parameters), wrap(array))
        if finding is not None:
            self.suspect(finding)
        return trail

    def _candidates(
        self, missing: list[int], sources: dict[int, Place], node: Node
    ) -> tuple[Node, ...]:
        behind = [
            each
            for position in missing
            if position in sources
            for each in self._unknown.get(sources[position], ())
        ]
        nodes = sorted(dict.fromkeys([*behind, node]), key=lambda each: -each.order)
        return tuple(nodes)

    def _handed_on(
        self,
        call: KnownCall,
        missing: list[int],
        sources: dict[int, Place],
        kind: finite.Trouble,
        array: Any,
    ) -> Trail | Gap:
        """Not this op's own doing: it was in an argument that was not kept."""
        behind = self._candidates(missing, sources, call.node)[:-1]
        if behind:
            return Gap(kind, (*behind, call.node))
        leaves = [self._names.of_node(*sources[each]) for each in missing if each in sources]
        writer = f"an argument of {call.node.plan.op.name} that was not kept (a constant)"
        if len(leaves) == len(missing):
            writer = f"what {leaves[0]} held then (it was written to since)"
        return Trail(kind, (found(array, kind, writer=writer, where=call.node.where),))

    def _operand(self, call: KnownCall, position: int, array: Any) -> Trail:
        """Where the numbers of one argument come from."""
        source = dict(self._sources(call)).get(position)
        if source is not None and source in self._trails:
            return self._trails[source]
        known = trail_of(array)
        if known is not None:
            return known
        if source is not None and source[0].plan is None:
            return self._given_leaf(source[0], array)
        kind = finite.trouble(array) or "nan"
        name = self._names.of_payload(array)
        writer = (
            f"the constant {name}" if name else f"a constant argument of {call.node.plan.op.name}"
        )
        return Trail(kind, (found(array, kind, writer=writer, where=call.node.where),))

    def _given_leaf(self, leaf: Node, array: Any) -> Trail:
        kind = finite.trouble(array) or "nan"
        name = self._names.of_node(leaf)
        writer, where = f"the data of {name}", leaf.where
        tensor = leaf.variable  # type: ignore[attr-defined]
        last = None if tensor is None else tensor._storage.last_writer
        if last is not None:
            writer, where = f"{last[0]} on {name}", last[1]
        return Trail(kind, (found(array, kind, writer=writer, where=where),))

    def _scene(self, out: Tensor) -> tuple[Where, Calls, Node | None]:
        assert self._node is not None
        return self._node.where, [], self._node

    def trail(self, value: Any, kind: finite.Trouble) -> Trail:
        known = self._operands.get(id(value))
        if known is not None:
            return known
        writer = f"the number {value}"
        where = None if self._node is None else self._node.where
        return Trail(kind, (found(np.asarray(value), kind, writer=writer, where=where),))

    @contextmanager
    def shared(self) -> Iterator[None]:
        """Meanwhile, a walk back finds out where saved values that are not finite come from."""
        fresh = [(array, trail) for array, trail in self._saved if trail_of(array) is None]
        for array, trail in fresh:
            mark(array, trail)
        try:
            yield
        finally:
            for array, _ in fresh:
                unmark(array)


def _held(nodes: Iterable[Node], names: Names) -> dict[Place, Any]:
    """Results that the user's variables still hold, unless somebody wrote to them."""
    found = {}
    for node in nodes:
        for slot in range(1 if node.outputs is None else len(node.outputs)):
            tensor = names.held(node, slot)
            if tensor is not None and node.plan is not None and not tensor._storage.version:
                found[node, slot] = tensor._array
    return {place: array for place, array in found.items() if type(array) is np.ndarray}


def _only_hands_on(op: str, kind: finite.Trouble) -> bool:
    """Whether one that is not finite went in; finite numbers can add up to inf, not to NaN."""
    return op in CARRIERS or (op in ADD | SUB and kind == "nan")
