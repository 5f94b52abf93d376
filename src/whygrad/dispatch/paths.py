"""Call paths: run a kernel on the payloads and, under autograd, leave a node behind.

The paths for one and for two tensors spell out what the general one does in a loop, because they
are most of what a training step calls.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from whygrad.dispatch.silence import quiet
from whygrad.errors import describe_call, explained, fail, kind_of, too_large
from whygrad.source import outside, user_files, user_frame
from whygrad.tensor import Tensor, dtype_keys, dtypes, keys, modes, wrap
from whygrad.tensor.graph import lineage
from whygrad.tensor.graph.bases import share_memory
from whygrad.tensor.graph.node import ManyOutputs, Node, next_order
from whygrad.tensor.storage import InferenceStorage

if TYPE_CHECKING:
    from whygrad.ops.define import Op
    from whygrad.ops.plan import Plan

__all__ = ["Entry", "plain", "recording"]

Entry = Callable[..., Any]
new_tensor = Tensor.__new__
ndarray = np.ndarray
getframe = sys._getframe
active = modes.active
state = modes.state
AUTOGRAD = keys.AUTOGRAD
CPU_AUTOGRAD = keys.CPU | keys.AUTOGRAD
FIRST, FIRST_TWO = (0,), (0, 0)  # shared, so that a node costs one object less


def _payload(arg: Any) -> Any:
    if isinstance(arg, Tensor):
        return arg._array
    if isinstance(arg, (list, tuple)):
        return [each._array if isinstance(each, Tensor) else each for each in arg]
    return arg


def plain(op: Op, kernel: Callable[..., Any]) -> Entry:
    """Compute; record nothing."""
    count = len(op.tensor_names)
    viewing = op if op.kind == "view" else None
    if count == 1 and not op.variadic:
        return _plain_single(op, kernel)

    def compute(*args: Any) -> Any:
        try:
            result = quiet.run(kernel, *[_payload(arg) for arg in args[:count]], *args[count:])
        except Exception as error:
            if explained(error):
                raise
            raise _explain_failure(op, args, error) from error
        if isinstance(result, tuple):
            return tuple(_output(each, args[0], viewing) for each in result)
        return _output(result, args[0], viewing)

    return compute


def _plain_single(op: Op, kernel: Callable[..., Any]) -> Entry:
    """One tensor in, parameters welcome."""
    viewing = op if op.kind == "view" else None

    def compute(x: Tensor, *params: Any) -> Any:
        try:
            result = quiet.run(kernel, x._array, *params)
        except Exception as error:
            if explained(error):
                raise
            raise _explain_failure(op, (x, *params), error) from error
        if isinstance(result, tuple):
            return tuple(_output(each, x, viewing) for each in result)
        return _output(result, x, viewing)

    return compute


def _output(array: Any, source: Any, viewing: Op | None) -> Tensor:
    """Wrap what the kernel returned; ``viewing`` is the op if that is a view of ``source``."""
    out = wrap(array)
    if viewing is not None:
        share_memory(out, source, viewing)
    elif active.count and state.inference:
        out._storage = InferenceStorage(array)
    return out


def recording(op: Op, kernel: Callable[..., Any], bits: int) -> Entry:
    """Compute, and leave a node behind."""
    plain = bits & (keys.DEVICES | keys.LAYOUTS) == keys.CPU
    kind = _kind_of_numbers(op, bits)
    count = len(op.tensor_names)
    complete = all(op.has_rule(name) for name in op.tensor_names)
    single = len(op.output_names) == 1 and not op.returns_list
    if plain and single and op.kind != "view" and count == 2 and complete and not op.param_names:
        return _recording_binary(op, kernel, bits)
    if count == 1 and single and not op.variadic:
        return _recording_single(op, kernel, plain, kind)
    return _recording_any(op, kernel, plain, kind)


def _kind_of_numbers(op: Op, bits: int) -> tuple[bool, bool]:
    """Whether the rules compute in float32, and whether gradients are conjugated around them."""
    conjugates = bool(bits & keys.COMPLEX) and op.complex_rule == "holomorphic"
    return bool(bits & keys.HALVES), conjugates


def _recording_any(
    op: Op, kernel: Callable[..., Any], plain: bool, kind: tuple[bool, bool]
) -> Entry:
    """Any number of tensors in and out."""
    count = len(op.tensor_names)
    viewing = op if op.kind == "view" else None
    variadic = op.variadic
    has_rule = [op.has_rule(name) for name in op.tensor_names]
    complete = all(has_rule)

    def record(*args: Any) -> Any:
        tensors = args[:count]
        arrays = [_payload(arg) for arg in tensors]
        try:
            result = quiet.run(kernel, *arrays, *args[count:])
        except Exception as error:
            if explained(error):
                raise
            raise _explain_failure(op, args, error) from error
        inputs = tensors[0] if variadic else tensors
        nodes = [each._node if isinstance(each, Tensor) else None for each in inputs]
        if complete:
            needs = tuple([node is not None for node in nodes])
        else:
            needs = tuple([node is not None and ok for node, ok in zip(nodes, has_rule)])
        several = isinstance(result, tuple)
        made = result if several else (result,)
        outs = tuple([_output(each, args[0], viewing) for each in made])
        if outs and True in needs:
            plan = op.plan(needs, not plain or type(outs[0]._array) is not ndarray, *kind)
            node = _node(plan, inputs, outs, several)
            made = [out._array for out in outs]
            if op.returns_list:
                made = [made]
            node.values = plan.save((*arrays, *made, *args[count:]))
            node.guards = _guards(plan, tensors, outs)
            for slot, out in enumerate(outs):
                if _carries_gradient(out):
                    out._node = node
                    out._slot = slot
                    out._keys |= AUTOGRAD
                else:
                    lineage.aside(out, node)
        return outs if several else outs[0]

    return record


def _carries_gradient(out: Tensor) -> bool:
    return out._array.dtype.kind not in "iub"


def _node(plan: Plan, inputs: Any, outs: tuple[Tensor, ...], several: bool) -> Node:
    parents = [inputs[position] for position in plan.positions]
    node: Node
    if several:
        node = many = ManyOutputs.__new__(ManyOutputs)
        many.outputs = tuple([(out._array.shape, out._array.dtype) for out in outs])
    else:
        node = Node()
    node.plan = plan
    node.parents = tuple([parent._node for parent in parents])
    node.slots = tuple([parent._slot for parent in parents])
    node.shape = outs[0]._array.shape
    node.dtype = outs[0]._array.dtype
    node.order = next_order()
    frame = user_frame()
    node.code = frame.f_code
    node.instruction = frame.f_lasti
    node._extras = None
    return node


def _guards(plan: Plan, tensors: tuple[Any, ...], outs: tuple[Tensor, ...]) -> tuple[Any, ...]:
    guards = []
    for index, place in plan.guarded:
        source = tensors[place] if place < len(tensors) else outs[place - len(tensors)]
        for each in source if isinstance(source, (list, tuple)) else (source,):
            if isinstance(each, Tensor):
                storage = each._storage
                guards.append((storage, storage.version, index))
    return tuple(guards)


def _recording_single(
    op: Op, kernel: Callable[..., Any], plain: bool, kind: tuple[bool, bool]
) -> Entry:
    """One tensor in, one out, parameters welcome."""
    on_tensors = op.plan((True,), True, *kind)
    plan = op.plan((True,), False, *kind) if plain else on_tensors
    is_view = op.kind == "view"

    def record(x: Tensor, *params: Any) -> Any:
        source = x._array
        try:
            out = wrap(quiet.run(kernel, source, *params))
        except Exception as error:
            if explained(error):
                raise
            raise _explain_failure(op, (x, *params), error) from error
        array = out._array
        if is_view:
            share_memory(out, x, op)
        node = Node()
        node.plan = plan if type(array) is ndarray else on_tensors
        node.parents = (x._node,)
        node.slots = FIRST if x._slot == 0 else (x._slot,)
        if plan.saved_names:
            node.values = plan.save((source, array, *params))
            node.guards = _guards(plan, (x,), (out,)) if plan.guarded else ()
        else:
            node.values = node.guards = ()
        node.shape = array.shape
        node.dtype = array.dtype
        node.order = next_order()
        frame = getframe(2)
        if frame.f_code.co_filename not in user_files:
            frame = outside(frame)
        node.code = frame.f_code
        node.instruction = frame.f_lasti
        node._extras = None
        out._node = node
        out._keys |= AUTOGRAD
        return out

    return record


def _recording_binary(op: Op, kernel: Callable[..., Any], bits: int) -> Entry:
    """The hot path: two operands, one result, no parameters."""
    kind = _kind_of_numbers(op, bits)
    both, left_only, right_only = (
        op.plan(needs, False, *kind) for needs in ((True, True), (True, False), (False, True))
    )
    same_dtype = op.kind == "elementwise" and not bits & keys.COMPLEX  # |a − b| is real
    out_keys = bits & ~keys.SCALARS | AUTOGRAD
    number_dtype = _dtype_for_numbers(kernel, bits)
    last_number: tuple[Any, Any] = (None, None)  # the operand and its array
    guards_left = any(place != 1 for _, place in left_only.guarded)

    def record(a: Any, b: Any) -> Any:
        nonlocal last_number
        if isinstance(a, Tensor):
            left = a._array
            left_node = a._node
        else:
            left = a
            left_node = None
        try:
            if isinstance(b, Tensor):
                right = b._array
                right_node = b._node
                guarded = True
            else:
                right = b
                right_node = None
                guarded = guards_left
                if number_dtype is not None:
                    known, right = last_number
                    if known is not b:
                        right = np.array(b, number_dtype)
                        last_number = (b, right)
            array = quiet.run(kernel, left, right)
        except Exception as error:
            if explained(error):
                raise
            raise _explain_failure(op, (a, b), error) from error
        if type(array) is not ndarray:
            array = np.asarray(array)
        node = Node()
        out = new_tensor(Tensor)
        out._array = array
        out._keys = out_keys if same_dtype else CPU_AUTOGRAD | dtype_keys[array.dtype]
        out._base = None
        out._node = node
        out._slot = 0
        if right_node is None:
            plan = left_only
            node.parents = (left_node,)
            node.slots = FIRST if a._slot == 0 else (a._slot,)
        elif left_node is None:
            plan = right_only
            node.parents = (right_node,)
            node.slots = FIRST if b._slot == 0 else (b._slot,)
        else:
            plan = both
            node.parents = (left_node, right_node)
            node.slots = FIRST_TWO if a._slot == b._slot == 0 else (a._slot, b._slot)
        node.plan = plan
        if plan.saved_names:
            node.values = plan.save((left, right, array))
            node.guards = _guards(plan, (a, b), (out,)) if guarded and plan.guarded else ()
        else:
            node.values = node.guards = ()
        node.shape = array.shape
        node.dtype = array.dtype
        node.order = next_order()
        frame = getframe(2)
        if frame.f_code.co_filename not in user_files:
            frame = outside(frame)
        node.code = frame.f_code
        node.instruction = frame.f_lasti
        node._extras = None
        return out

    return record


def _dtype_for_numbers(kernel: Callable[..., Any], bits: int) -> Any:
    """The dtype to turn a Python number into before a ufunc sees it, or None to leave it.

    NumPy takes twice as long for a ufunc with a Python number as with a 0-d array, and backward
    meets the same number again.
    """
    if not isinstance(kernel, np.ufunc) or not bits & keys.KINDS["float"]:
        return None
    return dtypes.by_key[bits & keys.DTYPES].numpy


def _why_not_broadcast(names: tuple[str, ...], shapes: list[tuple[int, ...]]) -> str:
    """Name the first dimension, from the last one backwards, whose sizes differ."""
    text = f"the shapes {' and '.join(map(str, shapes))} do not broadcast"
    for back in range(1, max(map(len, shapes)) + 1):
        sizes = [
            (name, shape[-back])
            for name, shape in zip(names, shapes)
            if len(shape) >= back and shape[-back] != 1
        ]
        for name, size in sizes[1:]:
            if size != sizes[0][1]:
                return (
                    f"{text}: the size of tensor {sizes[0][0]} ({sizes[0][1]}) must match the size "
                    f"of tensor {name} ({size}) in dimension -{back}"
                )
    return text


def _explain_failure(op: Op, args: tuple[Any, ...], error: Exception) -> Exception:
    """Restate a kernel's exception: the call, the shapes, the cause, the user's line."""
    names = (*op.tensor_names, *op.param_names)
    kind: type[Exception] = RuntimeError if isinstance(error, ValueError) else kind_of(error)
    shapes = [tuple(arg.shape) for arg in args if isinstance(arg, Tensor)]
    cause, fix = too_large(error) or str(error), "check the shapes and parameters above"
    if op.kind == "elementwise" and "broadcast" in cause:
        cause = _why_not_broadcast(op.tensor_names, shapes)
        fix = (
            "sizes must be equal or 1, counted from the last dimension; insert one with unsqueeze()"
        )
    return fail(
        kind,
        call=describe_call(op.name, names, args),
        cause=cause,
        fix=fix,
    )
