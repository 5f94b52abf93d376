"""Writing into a tensor's own memory, safely.

Every in-place method is its out-of-place op followed by :func:`assign`, so there is one rule per
op and one place that decides whether a write may happen.  The checks come before the write: a
refused write changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from sys import _getframe as getframe
from typing import Any

import numpy as np

from whygrad.dispatch import quiet
from whygrad.dispatch.answers import Answer, public_codes
from whygrad.dispatch.calls import method_of
from whygrad.errors import describe, fail
from whygrad.ops.batching import align
from whygrad.ops.complex_numbers import is_complex
from whygrad.ops.define import Op, define, table
from whygrad.ops.numbers import number_for
from whygrad.source import caller
from whygrad.tensor import Tensor, dtypes, keys, modes, wrap
from whygrad.tensor.above import above
from whygrad.tensor.graph import lineage

__all__ = [
    "assign",
    "check_writable",
    "install",
    "overlaps_itself",
    "payload",
    "plain_operands",
    "snapshot",
]


def _copy_meta(x: Any, *_: Any) -> Any:
    return x.shape, x.dtype


def _fill_args(input: Tensor, value: Any) -> tuple[Tensor, Any]:
    if not isinstance(value, Tensor):
        return input, number_for(input, value, "fill")
    if value.ndim:
        raise fail(
            RuntimeError,
            call=f"fill({describe(input)}, {describe(value)})",
            cause="fill_ only supports 0-dimension value tensor but got tensor with "
            f"{value.ndim} dimensions",
            fix="use copy_() to write many values",
        )
    return input, value


define(
    "fill(x, value)",
    "y = value everywhere;  ∂y/∂x = 0,  ∂y/∂value = 1 (summed over x)",
    complex_rule="holomorphic",
    forward=lambda x, value: np.full_like(x, value),
    public=_fill_args,
    vjp={
        "x": lambda xp, incoming: xp.zeros_like(incoming),
        "value": lambda xp, incoming, value_dtype: xp.cast(incoming, dtypes.of(value_dtype)),
    },
    jvp=lambda xp, tangents, y: xp.expand(
        xp.zeros_like(y) if tangents[1] is None else tangents[1], y.shape
    ),
    meta=_copy_meta,
    batching=lambda xp, x, value: (
        xp.copy(x, align(value, x.ndim - 1)) if isinstance(value, Tensor) else xp.fill(x, value)
    ),
    inplace=True,
    samples=lambda make: [make.call(make(3, 4), 2.5), make.call(make(3, 4), make())],
)


def _copy_args(input: Tensor, src: Any, non_blocking: bool = False) -> tuple[Any, Any]:
    """The source comes to the device of the target; ``non_blocking`` changes nothing here."""
    return input, src.to(input.device) if isinstance(src, Tensor) else src


def _copied_from(xp: Any, incoming: Any, source_dtype: Any) -> Any:
    if is_complex(incoming) and source_dtype.kind == "f":
        incoming = xp.real_part(incoming)
    return xp.cast(incoming, dtypes.of(source_dtype))


define(
    "copy(x, source)",
    "y = source in the shape and dtype of x;  ∂y/∂x = 0,  ∂y/∂source = 1",
    forward=lambda x, source: np.broadcast_to(source, x.shape).astype(x.dtype),
    vjp={
        "x": lambda xp, incoming: xp.zeros_like(incoming),
        "source": _copied_from,
    },
    complex_rule="own",
    jvp=lambda xp, tangents, y, x_dtype: (
        xp.zeros_like(y)
        if tangents[1] is None
        else xp.cast(xp.expand(tangents[1], y.shape), dtypes.of(x_dtype))
    ),
    meta=_copy_meta,
    batching=lambda xp, x, source: xp.copy(x, align(source, x.ndim - 1)),
    public=_copy_args,
    internal=True,
    inplace=True,
    samples=lambda make: [make.call(make(3, 4), make(3, 4)), make.call(make(3, 4), make(4))],
)


def assign(target: Tensor, result: Tensor, name: str, uniform: bool = False) -> Tensor:
    """Write ``result`` into the memory of ``target`` and give ``target`` its history.

    ``uniform``: every element gets the same number, so they may share memory.
    """
    if (target._keys | result._keys) & keys.BATCHED:
        pair: tuple[Tensor, Tensor] = above.physical_pair(target, result, name)
        assign(*pair, name, uniform)
        return target
    if result.shape != target.shape:
        raise fail(
            RuntimeError,
            call=f"{name} on {describe(target)}",
            cause=f"output with shape {list(target.shape)} doesn't match the broadcast shape "
            f"{list(result.shape)}",
            fix="use the out-of-place form, whose result may be larger",
        )
    if not dtypes.can_cast(result.dtype, target.dtype):
        raise fail(
            RuntimeError,
            call=f"{name} on {describe(target)}",
            cause=f"result type {result.dtype.name} can't be cast to the desired output type "
            f"{target.dtype.name}",
            fix=f"convert the target first: x.to(whygrad.{result.dtype.name})",
        )
    check_writable(target, name, result, uniform)
    if result.dtype is not target.dtype:
        result = result.to(target.dtype)
    if target._base is None and _loses_history(target, result):
        result = table["copy"].call(snapshot(target, table["copy"]), result)
    if not target._keys & keys.META:
        np.copyto(target._array, result._array)
    target._storage.bump(name, caller())
    if result._keys & keys.CUT or lineage.is_known(target):
        lineage.written(target, result, name)
    if result._keys & keys.VARYING:
        for written in (target, target._base):
            if written is not None:
                written._keys |= keys.VARYING
    above.rewrite(target, result)
    return target


def _loses_history(target: Tensor, result: Tensor) -> bool:
    """What was there before gets a gradient of zeros, not None.  A view's base sees to that."""
    if modes.state.recording and target._node is not None and result._node is None:
        return True
    return target._tangent is not None and result._tangent is None


def check_writable(
    target: Tensor, name: str, source: Tensor | None = None, uniform: bool = False
) -> None:
    """Raise unless a write to ``target`` leaves every gradient right."""
    where = caller()
    while target._keys & keys.BATCHED:
        target = target._array.tensor
    while source is not None and source._keys & keys.BATCHED:
        source = source._array.tensor
    array = target._array
    if not isinstance(array, np.ndarray):
        kind = " and ".join(keys.describe(target._keys & (keys.DEVICES | keys.LAYOUTS)))
        raise fail(
            RuntimeError,
            call=f"{name} on {describe(target)} ({kind})",
            cause="in-place writes need a strided tensor on cpu or meta",
            fix="use the out-of-place form; the values of a sparse tensor are x._values()",
        )
    if not uniform and not target._keys & keys.META and overlaps_itself(array):
        raise fail(
            RuntimeError,
            call=f"{name} on {describe(target)}",
            cause="unsupported operation: more than one element of the written-to tensor refers "
            "to a single memory location (it was made by expand)",
            fix="clone() the tensor before writing to it",
        )
    if not target._keys & keys.META and not array.flags.writeable:
        raise fail(
            RuntimeError,
            call=f"{name} on {describe(target)}",
            cause="its memory is read-only: it was made from a NumPy array that is not writeable, "
            "or it is the input of a function being differentiated by whygrad.func, or the "
            "gradient that a custom function's backward was lent",
            fix="clone() the tensor before writing to it",
        )
    if modes.state.run is not None and source is not None:
        above.check_captured(target, source, name)
    target._storage.prepare_write(name, where)
    if modes.state.recording:
        above.check_recorded_write(target, source, name, where, uniform)


def overlaps_itself(array: Any) -> bool:
    """Whether a dimension was expanded, so that its elements are one."""
    return array.size > 0 and any(
        step == 0 and size > 1 for step, size in zip(array.strides, array.shape, strict=True)
    )


def snapshot(tensor: Tensor, op: Op) -> Tensor:
    """What the op should read: a copy if backward will need the value the write destroys."""
    if tensor._keys & keys.BATCHED:
        return above.add_batch(snapshot(tensor._array.tensor, op), tensor._array.level)
    recording = modes.state.recording
    if not recording or (op.kind != "composite" and not _saves_first_input(op)):
        copy = wrap(tensor._array)
    else:
        copy = wrap(tensor._array.copy())
    if op.name in ("copy", "fill") and tensor._base is not None:
        return copy  # nothing of the old value is left, and the base knows which part is gone
    copy._keys = tensor._keys
    copy._node = tensor._node
    copy._slot = tensor._slot
    copy._tangent = tensor._tangent
    if tensor._keys & keys.CUT:
        copy.__dict__["_cut"] = lineage.step_of(tensor)
    return copy


def _saves_first_input(op: Op) -> bool:
    return bool(op.tensor_names) and op.tensor_names[0] in op.saves()


def _make_method(op: Op) -> Callable[..., Any]:
    name = f"{op.name}_"
    compute = method_of(op)
    ufunc: Any = op.forward
    operands = ufunc.nin - 1 if isinstance(ufunc, np.ufunc) else None

    def method(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        try:
            uniform = op.name == "fill" and not any(isinstance(arg, Tensor) for arg in args)
            check_writable(self, name, None, uniform)
            if len(args) == operands and not kwargs and plain_operands(self, args):
                quiet.run(ufunc, self._array, *[payload(arg) for arg in args], out=self._array)
                self._storage.bump(name, caller())
                return self
            if kwargs:
                _check_dtype(self, kwargs.get("dtype"), name)
            result = compute(snapshot(self, op), *args, **kwargs)
            if self.dtype.is_complex and result.dtype.is_floating_point:
                raise _not_complex(self, name)
            return assign(self, result, name, uniform)
        except Answer as answer:
            if answer.frame is not getframe():
                raise
            written: Tensor = answer.given()
            return written

    public_codes[method.__code__] = "name"
    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"In-place {op.name}: {op.formula}"
    return method


def _not_complex(target: Tensor, name: str) -> Exception:
    return fail(
        RuntimeError,
        call=f"{name}() on {describe(target)}",
        cause=f"In-place {name[:-1]} is not supported for complex tensors: its result is real",
        fix=f"use the result: x = x.{name[:-1]}()",
    )


def _check_dtype(target: Tensor, dtype: Any, name: str) -> None:
    """A result in another dtype has no place in the target."""
    if dtype is not None and dtypes.of(dtype) is not target.dtype:
        raise fail(
            RuntimeError,
            call=f"{name}(dtype={dtypes.of(dtype).name}) on {describe(target)}",
            cause=f"Bad in-place call: input tensor dtype {target.dtype.name} and output tensor "
            f"dtype {dtypes.of(dtype).name} should match",
            fix=f"use the result: x = x.{name[:-1]}(…, dtype=…)",
        )


_SEEN = keys.INTERCEPTED | keys.OVERRIDDEN
_NOT_PLAIN = keys.HALVES | keys.FORWARD | keys.BATCHED


def payload(arg: Any) -> Any:
    return arg._array if isinstance(arg, Tensor) else arg


def plain_operands(self: Tensor, args: tuple[Any, ...]) -> bool:
    """Whether the kernel may write straight into the target: nothing to record or convert."""
    bits = self._keys & ~(keys.AUTOGRAD | keys.CUT)  # numbers leave its lineage as it is
    if modes.state.added & _SEEN:  # somebody wants to see every op
        return False
    if (modes.state.recording and self._node is not None) or bits & _NOT_PLAIN:
        return False
    if not bits & keys.CPU or bits & keys.LAYOUTS:
        return False
    if self.dtype.category != dtypes.FLOAT:  # integers convert, wrap around and refuse
        return False
    for arg in args:
        if isinstance(arg, Tensor):
            if arg._keys != bits and not lineage.is_update(self, arg, bits):
                return False
            if arg.ndim and arg.shape != self.shape:
                return False
            if np.may_share_memory(arg._array, self._array):
                return False
        elif type(arg) is not float and (type(arg) is not int or abs(arg) > 2**53):
            return False
    return True


_OPERATORS = {
    "iadd": "add_", "isub": "sub_", "imul": "mul_", "itruediv": "div_", "ipow": "pow_",
    "ifloordiv": "floor_divide_", "imod": "remainder_", "iand": "bitwise_and_",
    "ior": "bitwise_or_", "ixor": "bitwise_xor_",
}  # fmt: skip


def zero_(self: Tensor) -> Tensor:
    """Write zeros."""
    fill = table["fill"]
    check_writable(self, "zero_", uniform=True)
    return assign(self, fill.public(snapshot(self, fill), 0), "zero_", uniform=True)


def fill_diagonal_(self: Tensor, fill_value: Any, wrap: bool = False) -> Tensor:
    """Write one value on the main diagonal; ``wrap`` starts it again below, after an empty row."""
    if self.ndim < 2 or (self.ndim > 2 and len(set(self.shape)) > 1):
        cause = "dimensions must larger than 1"
        if self.ndim > 2:
            cause = "all dimensions of input must be of equal length"
        raise fail(
            RuntimeError,
            call=f"fill_diagonal_ on {describe(self)}",
            cause=cause,
            fix="choose the matrices first; x.diagonal(dim1=1, dim2=2).fill_(v) fills one of each",
        )
    height, width = self.shape[:2]
    wraps = wrap and self.ndim == 2
    for start in range(0, height, width + 1) if wraps else (0,):
        diagonal = self[start:]
        while diagonal.ndim > 1:
            diagonal = diagonal.diagonal(0, 0, 1)
        diagonal.fill_(fill_value)
    return self


def float_power_(self: Tensor, exponent: Any) -> Tensor:
    """In-place ``float_power``; double precision needs a tensor that holds it."""
    op = table["float_power"]
    wide = dtypes.result_type(self, exponent).is_complex
    needed = dtypes.complex128 if wide else dtypes.float64
    if self.dtype is not needed:
        raise fail(
            RuntimeError,
            call=f"float_power_ on {describe(self)}",
            cause=f"the base given to float_power_ has dtype {self.dtype.name} but the "
            f"operation's result requires dtype {needed.name}",
            fix=f"convert it first: x.to(whygrad.{needed.name}), or use float_power()",
        )
    check_writable(self, "float_power_")
    return assign(self, op.call(snapshot(self, op), exponent), "float_power_")


def twin(op: Op) -> Callable[..., Tensor]:
    """The method that writes the result of ``op`` into its first argument."""
    return _make_method(op)


def install() -> None:
    """Give ``Tensor`` the in-place methods that are no op's twin, and the operators."""
    for written in (fill_diagonal_, float_power_, zero_):
        setattr(Tensor, written.__name__, written)
    for dunder, name in _OPERATORS.items():
        if hasattr(Tensor, name):
            setattr(Tensor, f"__{dunder}__", getattr(Tensor, name))
