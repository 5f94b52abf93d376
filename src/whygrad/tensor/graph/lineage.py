"""What became of a value that left the graph.

The tape ends where gradients end: at ``detach()``, inside ``no_grad``, at an op with an integer
result.  The value lives on as a constant, and somebody who misses a gradient later wants to know
where it was cut.  So a tensor that was computed from one that required grad, but has no history,
carries one key bit (``CUT``) and a :class:`Step`: the op, the user's line, and the steps before it.
Results of ops on such a tensor carry one as well; an op that is recorded leaves it with its node.

A program that cuts nothing never comes here: the bit is not there.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from whygrad.source import outside, user_files
from whygrad.tensor import keys, modes
from whygrad.tensor.graph.steps import Source, Step, Trip, Trips, floats_in, sources_of

if TYPE_CHECKING:
    from types import CodeType

    from whygrad.dispatch.paths import Entry
    from whygrad.ops.define import Op
    from whygrad.tensor import Tensor
    from whygrad.tensor.graph.node import Node

__all__ = [
    "DEED",
    "aside",
    "chosen_by",
    "copied",
    "cut",
    "cut_of",
    "cut_off",
    "following",
    "gradients",
    "is_known",
    "is_update",
    "left",
    "new_constant",
    "new_data",
    "new_leaf",
    "noteworthy",
    "step_of",
    "trips",
    "written",
]

_NUMBERS = frozenset(keys.SCALAR_BITS)
_LOOKED_THROUGH = 1000  # numbers of a list that may have been tensors before

# Ops whose result takes the shape of their argument and nothing of its values.
_SHAPE_ONLY = frozenset(("identity_like", "new_full", "new_zeros", "ones_like", "zeros_like"))
# Ops that write over their first argument: nothing of it is left.
_OVERWRITING = frozenset(("copy", "fill"))

trips = Trips()


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
    "copied": "a copy of its numbers",
    "create_graph": "grad() without create_graph=True",
    "data": ".data",
    "detach": "detach()",
    "inference_mode": "inference_mode()",
    "integer": "an op with an integer result",
    "item": "a conversion to a Python number",
    "no_grad": "no_grad()",
    "not differentiable": "an op without a derivative",
    "numpy": "a conversion to NumPy",
    "sampled": "a random draw",
    "shared": "another leaf over its memory",
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


def is_known(tensor: Tensor) -> bool:
    """Whether something of its memory came from a graph; also if it is a leaf now."""
    base = tensor._base
    return "_cut" in tensor.__dict__ or (base is not None and "_cut" in base.__dict__)


def _mark(tensor: Tensor, step: Step | None) -> None:
    """From now on ``tensor`` has this lineage, or none."""
    node = tensor._node
    if step is None:
        tensor.__dict__.pop("_cut", None)
        tensor._keys &= ~keys.CUT
    else:
        tensor.__dict__["_cut"] = step
        if node is None:
            tensor._keys |= keys.CUT
    if node is not None and (step is not None or node._extras is not None):
        _enter(node, _ITSELF, step)


_ITSELF = -1  # the place in a node's cuts for what was written into its result


def _enter(node: Node, position: int, step: Step | None) -> None:
    cuts = dict(node.extras.cuts or {})
    cuts.pop(position, None)
    if step is not None:
        cuts[position] = step
    node.extras.cuts = cuts or None
    if node.plan is None:
        node.source = None  # it was made before this


def _place() -> tuple[CodeType, int]:
    frame = sys._getframe(2)
    if frame.f_code.co_filename not in user_files:
        frame = outside(frame)
    while frame.f_code.co_filename == copy.__file__ and frame.f_back is not None:
        frame = frame.f_back
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


def new_constant(tensor: Tensor) -> None:
    """A leaf has become a constant; where its value came from has not changed."""
    if step_of(tensor) is not None:
        tensor._keys |= keys.CUT


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
    known: list[Step | Source] = []
    if trips:
        numbers = (data,) if isinstance(data, np.ndarray) else floats_in(data)
        back = map(trips.returning, islice(numbers, _LOOKED_THROUGH))
        known += dict.fromkeys(trip for trip in back if trip is not None)
    if isinstance(data, (list, tuple)):
        known += (before for each in _tensors_in(data) if (before := _input(each)) is not None)
    if known:
        leaves_graph = any(type(each) is Source for each in known)
        _mark(made, Step("copied" if leaves_graph else None, "tensor", *_place(), tuple(known)))
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


def left(tensor: Tensor, kind: str, op: str, value: Any) -> Any:
    """``tensor`` was turned into a Python number, a list or an array."""
    if tensor._node is not None or tensor._keys & keys.CUT:
        before = _input(tensor)
        if before is not None:
            trips.add(Trip(kind, op, *_place(), (before,), value))
    return value


def gradients(results: Iterable[Tensor | None], outputs: Iterable[Tensor]) -> None:
    """``grad()`` without ``create_graph`` returned constants, computed from a whole graph."""
    roots = tuple(Source(each._node) for each in outputs if each._node is not None)
    step = Step("create_graph", "grad", *_place(), roots)
    for each in results:
        while each is not None and each._keys & keys.BATCHED:
            each = each._array.tensor
        if each is not None and each._node is None:
            _mark(each, step)


def chosen_by(result: Tensor, indices: Iterable[Tensor]) -> Tensor:
    """``indices``, which come from a graph, picked the elements of ``result``, or where it is."""
    steps = [step for each in indices if (step := step_of(each)) is not None]
    if result._node is not None:
        for place, step in enumerate(steps, 1):
            _enter(result._node, place, step)
    elif steps:
        before = _input(result)
        known = steps if before is None else [before, *steps]
        _mark(result, Step(None, "index", *_place(), tuple(known)))
    return result


def new_data(tensor: Tensor, value: Tensor) -> None:
    """``tensor.data = value``"""
    before = _input(value)
    step = None
    if before is not None:
        kind = "data" if type(before) is Source else None
        step = Step(kind, "data", *_place(), (before,))
    _overwrite(tensor, step)


def written(target: Tensor, result: Tensor, name: str) -> None:
    """``result`` was written into the memory of ``target``, and so into whatever shares it."""
    step = step_of(result) if result._keys & keys.CUT else None
    base = target if target._base is None else target._base
    whole = target._array.size == base._array.size
    for each in (target, base, *target._storage.live_views(), *target._storage.seen_as()):
        if each is target or whole:
            _overwrite(each, step)
        elif step is not None and (each is base or _overlap(each, target)):
            before = step_of(each)
            both = step if before is None else Step(None, name, *_place(), (before, step))
            _overwrite(each, both)


def _overlap(one: Tensor, other: Tensor) -> bool:
    if one._keys & keys.META:  # no memory to compare
        return True
    return np.may_share_memory(one._array, other._array)


def _overwrite(tensor: Tensor, step: Step | None) -> None:
    node = tensor._node
    if node is None or step is None or not _only_from(node, step):
        _mark(tensor, step)


def _only_from(node: Node, step: Step) -> bool:
    """Whether it is an update of a tensor with its own value, as in every training step.

    A gradient came from the whole graph, but nobody asks about a loss by way of an update.
    """
    return all(source.node is node for source in sources_of(step, beyond="create_graph"))


def is_update(target: Tensor, arg: Tensor, bits: int) -> bool:
    """Whether ``arg``, but for its lineage plain data, is a gradient to change a leaf by."""
    if target._node is None or arg._keys != bits | keys.CUT:
        return False
    step = step_of(arg)
    while step is not None and step.kind is None and len(step.inputs) == 1:
        step = step.before[0]  # lr * gradient
    return step is not None and step.kind == "create_graph"


# --- the dispatcher's part ----------------------------------------------------------------------


def is_recorded(op: Op, bits: int) -> bool:
    """Whether a call with these keys leaves a node."""
    in_graph = bits & keys.AUTOGRAD and not bits & keys.UNRECORDED
    return bool(in_graph and op.vjp is not None)


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
    overwriting = name in _OVERWRITING
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
        for each in tensors[1:] if overwriting else tensors:
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
    if not modes.state.recording:
        return "inference_mode" if modes.state.inference else "no_grad"
    if result.dtype.is_differentiable:
        return "not differentiable"
    return "boolean" if result._array.dtype.kind == "b" else "integer"


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
