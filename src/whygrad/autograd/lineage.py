"""What became of a value that left the graph.

The tape ends where gradients end: at ``detach()``, inside ``no_grad``, at an op with an integer
result.  The value lives on as a constant, and somebody who misses a gradient later wants to know
where it was cut.  So a tensor that was computed from one that required grad, but has no history,
carries one key bit (``CUT``) and a :class:`Step`: the op, the user's line, and the steps before it.
Results of ops on such a tensor carry one as well; an op that is recorded leaves it with its node.

A step refers to no tensor and keeps no graph alive, because that is what people detach for, and
what a step can reach is bounded, so a running average over a million steps costs what one costs.
A program that cuts nothing never comes here: the bit is not there.
"""

from __future__ import annotations

import sys
import weakref
from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from whygrad import keys
from whygrad.autograd import modes
from whygrad.autograd.source import Where, outside, user_files

if TYPE_CHECKING:
    from types import CodeType

    from whygrad.autograd.node import Node
    from whygrad.dispatch.paths import Entry
    from whygrad.ops.define import Op
    from whygrad.tensor import Tensor

__all__ = [
    "Source",
    "Step",
    "Trip",
    "aside",
    "carry_over",
    "copied",
    "cut",
    "cut_of",
    "cut_off",
    "following",
    "left",
    "new_leaf",
    "noteworthy",
    "step_of",
    "trips",
]

_LOOKED_AT = 24  # nodes of the graph behind a cut that are remembered by number
_LONGEST = 64  # steps behind a step before only the cuts among them are kept
_KEPT = 16  # cuts that a shortened step keeps

_NUMBERS = frozenset(keys.SCALAR_BITS)

# Ops whose result takes the shape of their argument and nothing of its values.
_SHAPE_ONLY = frozenset(("identity_like", "new_full", "new_zeros", "ones_like", "zeros_like"))


class Source:
    """A tensor that required grad, seen at the moment its value left the graph."""

    __slots__ = ("_node", "complete", "length", "op", "orders", "place", "steps")

    def __init__(self, node: Node) -> None:
        self._node = weakref.ref(node)
        self.op: str | None = None if node.plan is None else node.plan.op.name
        self.place = (node.code, node.instruction)
        self.steps: tuple[Step, ...] = ()  # values from outside that went into it
        self.complete = True  # whether ``orders`` has every node behind it
        self.orders = frozenset((node.order,))
        self.length = 0  # of the longest of these
        if node.parents:
            self._look_behind(node)

    def _look_behind(self, node: Node) -> None:
        """Remember the nearest nodes by number: they may not live much longer."""
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
        self.orders = frozenset([each.order for each in waiting])
        if any(each._extras is not None for each in waiting):
            extras = (each._extras for each in waiting if each._extras is not None)
            steps = [step for each in extras if each.cuts for step in each.cuts.values()]
            self.steps = tuple(steps[:_KEPT])
            self.length = max([each.length for each in self.steps], default=0)

    @property
    def node(self) -> Node | None:
        """What made it, while the graph is alive."""
        return self._node()

    @property
    def where(self) -> Where:
        return Where(*self.place)

    def comes_from(self, node: Node) -> bool | None:
        """Whether it was computed from ``node``; None if nobody can tell any more."""
        if node.order in self.orders:
            return True
        if self.complete:
            return False
        start = self._node()
        if start is None:
            return None
        from whygrad.autograd.reach import reachable

        return node in reachable([start])


class Step:
    """One op call on the way of a value outside the graph."""

    __slots__ = ("_code", "_instruction", "inputs", "kind", "length", "op")

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
        if length == _LONGEST:
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
            found += each.steps if isinstance(each, Source) else (each,)
        return tuple(found)


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

    __slots__ = ("_memory", "value")

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
        self.value = value if type(value) is float else None  # to know it again

    def shares(self, array: Any) -> bool:
        """Whether ``array`` is the memory that was handed out."""
        return self._memory is not None and self._memory() is _owner(array)


trips: deque[Trip] = deque(maxlen=64)


def _owner(array: Any) -> Any:
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def cut_of(tensor: Tensor) -> str:
    """Why ``tensor`` has no history, as far as is known, as the end of a sentence."""
    step = step_of(tensor)
    while step is not None and not (step.kind is not None and step.sources):
        step = next(iter(step.before), None)
    if step is None:
        return ": nothing it was computed from requires grad, or it came from NumPy or Python"
    return f": it was cut off by {DEED[str(step.kind)]} at {step.where}"


DEED = {
    "boolean": "an op with a boolean result",
    "copied": "tensor(), which copies numbers only,",
    "data": ".data",
    "detach": "detach()",
    "inference_mode": "inference_mode()",
    "integer": "an op with an integer result",
    "item": "a conversion to a Python number",
    "no_grad": "no_grad()",
    "numpy": "a conversion to NumPy",
}


# --- what the engine tells ----------------------------------------------------------------------


def _input(tensor: Tensor) -> Step | Source | None:
    node = tensor._node
    if node is None:
        return step_of(tensor) if tensor._keys & keys.CUT else None
    if node.plan is not None:
        return Source(node)
    if node.source is None:
        node.source = Source(node)
    return node.source


def step_of(tensor: Tensor) -> Step | None:
    """How a constant was computed from something that required grad; None if it was not."""
    return tensor.__dict__.get("_cut")


def _mark(tensor: Tensor, step: Step) -> None:
    tensor.__dict__["_cut"] = step
    if tensor._node is None:
        tensor._keys |= keys.CUT
    else:
        tensor._node.extras.cuts = {0: step}


def _place() -> tuple[CodeType, int]:
    frame = sys._getframe(2)
    if frame.f_code.co_filename not in user_files:
        frame = outside(frame)
    return frame.f_code, frame.f_lasti


def cut(source: Tensor, result: Tensor, kind: str, op: str | None = None) -> Tensor:
    """``result`` has the values of ``source``, but not its history."""
    before = _input(source)
    if before is not None:
        leaves_graph = type(before) is Source
        _mark(result, Step(kind if leaves_graph else None, op or kind, *_place(), (before,)))
    return result


def new_leaf(tensor: Tensor) -> None:
    """A constant has become a leaf: ``x.detach().requires_grad_()`` still comes from x."""
    step = step_of(tensor)
    if step is not None:
        _mark(tensor, step)


def cut_off(tensor: Tensor, node: Node) -> None:
    """``detach_()``: it was what ``node`` made."""
    _mark(tensor, Step("detach", "detach_", *_place(), (Source(node),)))


def aside(result: Tensor, node: Node) -> None:
    """An integer that a recorded op returned beside its other results, such as an index."""
    kind = "boolean" if result._array.dtype.kind == "b" else "integer"
    _mark(result, Step(kind, node.plan.op.name, *_place(), (Source(node),)))


def copied(made: Tensor, data: Any) -> Tensor:
    """``tensor(data)`` takes numbers only; ``data`` may be or hold tensors, or come from a trip."""
    from whygrad.tensor import Tensor

    if isinstance(data, Tensor):
        return cut(data, made, "copied", "tensor")
    found: list[Step | Source | None] = [_trip_of(data)] if trips else []
    if isinstance(data, (list, tuple)):
        found += [_input(each) for each in _tensors_in(data)]
    known = tuple(each for each in found if each is not None)
    if known:
        leaves_graph = any(type(each) is Source for each in known)
        _mark(made, Step("copied" if leaves_graph else None, "tensor", *_place(), known))
    return made


def _tensors_in(data: Any) -> Iterator[Tensor]:
    from whygrad.tensor import Tensor

    waiting = [data]
    while waiting:
        each = waiting.pop()
        if isinstance(each, Tensor):
            yield each
        elif isinstance(each, (list, tuple)) and not _NUMBERS.issuperset(map(type, each)):
            waiting.extend(each)


def _trip_of(data: Any) -> Trip | None:
    """The trip that this memory, or exactly this number, came back from."""
    for trip in reversed(trips):
        if isinstance(data, np.ndarray):
            if trip.shares(data):
                return trip
        elif type(data) is float and trip.value == data and not data.is_integer():
            return trip
    return None


def left(tensor: Tensor, kind: str, op: str, value: Any) -> Any:
    """``tensor`` was turned into a Python number, a list or an array."""
    if tensor._node is not None or tensor._keys & keys.CUT:
        before = _input(tensor)
        if before is not None:
            trips.append(Trip(kind, op, *_place(), (before,), value))
    return value


def carry_over(target: Tensor, written: Tensor) -> None:
    """``written`` was written into the memory of ``target``."""
    step = step_of(written)
    for each in (target, target._base):
        if step is not None and each is not None and each._node is None:
            _mark(each, step)


# --- the dispatcher's part ----------------------------------------------------------------------


def is_recorded(op: Op, bits: int) -> bool:
    """Whether a call with these keys leaves a node."""
    through_complex = bits & keys.COMPLEX and op.kind == "view"  # real and imag have no rule
    in_graph = bits & keys.AUTOGRAD and not bits & keys.UNRECORDED
    return bool(in_graph and (op.vjp is not None or through_complex))


def noteworthy(op: Op, bits: int) -> bool:
    """Whether a call with these keys takes a value out of the graph, or follows one outside."""
    if bits & keys.UNFOLLOWED or op.name in _SHAPE_ONLY:
        return False
    return bool(bits & keys.CUT or (bits & keys.AUTOGRAD and not is_recorded(op, bits)))


def following(op: Op, bits: int) -> Entry:
    """Carry the call out, and note where the result comes from."""
    recorded = is_recorded(op, bits)
    below = op.table[bits & ~(keys.NOTES | (0 if recorded else keys.AUTOGRAD))]
    name, count, variadic = op.name, len(op.tensor_names), op.variadic
    from whygrad.tensor import Tensor

    def follow(*args: Any) -> Any:
        result = below(*args)
        tensors = args[0] if variadic else args[:count]
        outs = result if type(result) is tuple else (result,)
        if recorded:
            _remember(outs, [each if isinstance(each, Tensor) else None for each in tensors])
            return result
        inputs = []
        leaves_graph = False
        for each in tensors:
            before = _input(each) if isinstance(each, Tensor) else None
            if before is not None:
                inputs.append(before)
                leaves_graph = leaves_graph or type(before) is Source
        if inputs:
            code, instruction = _place()
            for out in outs:
                kind = _kind(out) if leaves_graph else None
                out._cut = Step(kind, name, code, instruction, tuple(inputs))
                out._keys |= keys.CUT
        return result

    return follow


def _kind(result: Tensor) -> str:
    if modes.state.recording:
        return "boolean" if result._array.dtype.kind == "b" else "integer"
    return "inference_mode" if modes.state.inference else "no_grad"


def _remember(outs: tuple[Tensor, ...], tensors: list[Tensor | None]) -> None:
    """A recorded op used constants that come from a graph: its node knows which."""
    steps = {
        position: step
        for position, each in enumerate(tensors)
        if each is not None and each._keys & keys.CUT and (step := step_of(each)) is not None
    }
    for out in outs:
        if out._node is not None and steps:
            out._node.extras.cuts = steps
