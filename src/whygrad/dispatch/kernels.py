"""The function on payloads that computes an op: the bottom of every call path."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from whygrad.errors import fail
from whygrad.tensor import devices, keys

if TYPE_CHECKING:
    from whygrad.ops.define import Op

__all__ = ["Kernel", "kernel_for", "meta_rule"]


class Kernel(NamedTuple):
    """What computes an op on payloads, and where it comes from."""

    origin: str
    function: Callable[..., Any]  # the one a person wrote
    run: Callable[..., Any]  # the one that is called: ``function``, or a wrapper around it


def kernel_for(op: Op, bits: int) -> Kernel:
    """The function on payloads that computes ``op`` for these keys."""
    foreign = bits & (keys.DEVICES | keys.LAYOUTS) & ~keys.CPU
    for mask, function in op.table.kernels:
        # what is registered for the cpu takes NumPy arrays, not the sparse ones there
        if bits & mask == mask and not (mask & keys.CPU and foreign & ~mask):
            origin = f"registered for {' and '.join(keys.describe(mask)) or 'every key'}"
            return Kernel(origin, function, function)
    if bits & keys.META:
        rule = op.forward if op.kind == "view" else meta_rule(op)
        return Kernel("meta rule: shapes only", rule, _meta_kernel(op))
    if foreign:
        missing = _no_kernel(op, foreign)
        return Kernel(f"missing for {' and '.join(keys.describe(foreign))}", missing, missing)
    if bits & keys.HALVES and op.kind != "view" and op.name not in ("cast", "clone"):
        return Kernel("reference, computed in float32", op.forward, _in_float32(op.forward))
    return Kernel("reference", op.forward, op.forward)


def _no_kernel(op: Op, foreign: int) -> Callable[..., Any]:
    def missing(*_: Any) -> Any:
        names = " and ".join(keys.describe(foreign))
        convert = ".to_dense()" if foreign & keys.LAYOUTS else ".to('cpu')"
        raise fail(
            RuntimeError,
            call=f"{op.name} on {names}",
            cause=f"{op.name} has no kernel for {names}",
            fix=f"convert with {convert}, or add a kernel with whygrad.dispatch.register",
        )

    return missing


def _in_float32(forward: Callable[..., Any]) -> Callable[..., Any]:
    """Compute half precision in float32 and round once, as PyTorch's CPU kernels do."""

    def widened(*args: Any) -> Any:
        half: Any = None

        def widen(arg: Any) -> Any:
            nonlocal half
            if isinstance(arg, np.ndarray) and arg.dtype.itemsize == 2 and arg.dtype.kind in "fV":
                half = arg.dtype
                return arg.astype(np.float32)
            if isinstance(arg, (list, tuple)):
                return type(arg)(widen(each) for each in arg)
            return arg

        out = forward(*[widen(arg) for arg in args])
        if isinstance(out, (tuple, list)):
            return tuple(_round(each, half) for each in out)
        return _round(out, half)

    return widened


def _round(array: Any, half: Any) -> Any:
    return np.asarray(array).astype(half) if array.dtype == np.float32 else array


def _meta_kernel(op: Op) -> Callable[..., Any]:
    """Shapes and dtypes only."""
    if op.kind == "view":
        return op.forward

    def shapes_only(*args: Any) -> Any:
        answer = meta_rule(op)(*args)
        if isinstance(answer, list):
            return tuple(devices.meta_array(shape, dtype) for shape, dtype in answer)
        return devices.meta_array(*answer)

    return shapes_only


def meta_rule(op: Op) -> Callable[..., Any]:
    if op.meta is not None:
        return op.meta
    if op.kind == "elementwise":
        return _elementwise_meta

    def unknown(*_: Any) -> Any:
        raise fail(
            RuntimeError,
            call=f"{op.name} on meta tensors",
            cause="the shape of the result depends on the data",
            fix="run it on cpu",
        )

    return unknown


def _elementwise_meta(*args: Any) -> Any:
    arrays = [arg for arg in args if isinstance(arg, np.ndarray)]
    return np.broadcast_shapes(*(each.shape for each in arrays)), arrays[0].dtype
