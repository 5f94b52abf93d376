"""Evenly spaced numbers."""

from __future__ import annotations

import math
import operator
from typing import Any, Unpack

import numpy as np

from whygrad.errors import fail
from whygrad.ops.creation.creation import Options, build, number_and_dtype
from whygrad.ops.define import creation
from whygrad.ops.numbers import fitting
from whygrad.tensor import Tensor, dtypes

Array = Any


def arange(start: Any = 0, end: Any = None, step: Any = 1, **options: Unpack[Options]) -> Tensor:
    """``start, start + step, …`` up to but without ``end``; ``arange(end)`` starts at 0."""
    if end is None:
        start, end = 0, start
    bounds = [number_and_dtype(bound)[0] for bound in (start, end, step)]
    dtype = _arange_dtype(bounds, options)
    count = _arange_count(bounds, dtype)
    first, stride = bounds[0], bounds[2]
    if dtype.category == dtypes.INTEGER:
        first, stride = int(first), int(stride)

    def make(chosen: Any) -> Array:
        steps = np.arange(count)
        return (first + stride * steps).astype(chosen)

    options["dtype"] = dtype
    return build("arange", (count,), make, options)


def _arange_dtype(bounds: list[Any], options: Options) -> dtypes.DType:
    if options.get("dtype") is not None:
        dtype = dtypes.of(options["dtype"])
    elif any(isinstance(bound, float) for bound in bounds):
        dtype = dtypes.get_default_dtype()
    else:
        dtype = dtypes.int64
    if dtype.category not in (dtypes.INTEGER, dtypes.FLOAT):
        raise fail(
            NotImplementedError,
            call=_arange_call(bounds) + f" with dtype={dtype}",
            cause=f"arange is not implemented for {dtype.name}",
            fix="count in an integer or float dtype and convert with .to()",
        )
    return dtype


def _arange_count(bounds: list[Any], dtype: dtypes.DType) -> int:
    start, end, step = bounds
    if not (math.isfinite(start) and math.isfinite(end)):
        raise fail(
            RuntimeError,
            call=_arange_call(bounds),
            cause=f"unsupported range: {start} -> {end}",
            fix="pass finite bounds",
        )
    if dtype is dtypes.int64:  # PyTorch counts in the dtype itself here, in double elsewhere
        start, end, step = int(start), int(end), int(step)
    if step == 0:
        raise fail(
            ValueError if bounds[2] else RuntimeError,
            call=_arange_call(bounds),
            cause="step must be nonzero" + (" (it is truncated to int64)" if bounds[2] else ""),
            fix="pass a step such as 1 or -1",
        )
    if (end - start) * step < 0:
        raise fail(
            RuntimeError,
            call=_arange_call(bounds),
            cause="upper bound and lower bound inconsistent with step sign",
            fix=f"use step={-step}, or swap start and end",
        )
    if dtype is dtypes.int64:
        return int(-((start - end) // step))
    return math.ceil((float(end) - float(start)) / float(step))


def _arange_call(bounds: list[Any]) -> str:
    return "arange({}, {}, {})".format(*bounds)


def range(start: Any, end: Any = None, step: Any = 1, **options: Unpack[Options]) -> Tensor:
    """Numbers from ``start`` to ``end``, the end included; ``arange`` leaves it out."""
    first, last = (0, start) if end is None else (start, end)
    first, last, step = (number_and_dtype(each)[0] for each in (first, last, step))
    call = f"range({first}, {last}, {step})"
    cause = ""
    if step == 0:
        cause, fix = "step must be nonzero", "pass a step such as 1 or -1"
    elif (last - first) * step < 0:
        cause = "upper bound and lower bound inconsistent with step sign"
        fix = f"use step={-step}, or swap start and end"
    if cause:
        raise fail(RuntimeError, call=call, cause=cause, fix=fix)
    count = math.floor((last - first) / step) + 1
    _refuse_bool("range", count, options)

    def make(chosen: Any) -> Array:
        return (first + step * np.arange(count)).astype(chosen)

    return build("range", (count,), make, options)


def linspace(start: Any, end: Any, steps: int, **options: Unpack[Options]) -> Tensor:
    """``steps`` numbers from ``start`` to ``end``, both included."""
    first, last, dtype = _ends("linspace", start, end, steps)
    _refuse_bool("linspace", steps, options)
    if options.get("dtype") is not None:
        first, last = (_within(each, dtypes.of(options["dtype"])) for each in (first, last))
    return build(
        "linspace", (steps,), lambda chosen: _spaced(first, last, steps, chosen), options, dtype
    )


def logspace(
    start: Any, end: Any, steps: int, base: float = 10.0, **options: Unpack[Options]
) -> Tensor:
    """``steps`` numbers from ``base**start`` to ``base**end``, in equal ratios."""
    first, last, dtype = _ends("logspace", start, end, steps)
    _refuse_bool("logspace", steps, options)

    def make(chosen: Any) -> Array:
        exponents = _spaced(first, last, steps, np.dtype(np.result_type(first, last, 1.0)))
        return np.power(base, exponents).astype(chosen)

    return build("logspace", (steps,), make, options, dtype)


def _refuse_bool(name: str, count: int, options: Options) -> None:
    chosen = options.get("dtype")
    if count > 1 and chosen is not None and dtypes.of(chosen) is dtypes.bool_:
        raise fail(
            NotImplementedError,
            call=f"{name}(…, dtype={dtypes.bool_})",
            cause=f"{name} is not implemented for bool",
            fix="space in a float dtype and compare or convert",
        )


def _within(bound: Any, dtype: dtypes.DType) -> Any:
    """An end as the dtype holds it."""
    held = fitting(bound, dtype)
    if held is None:
        raise fail(
            RuntimeError,
            call=f"linspace(…) from or to {bound}, dtype={dtype}",
            cause=f"value cannot be converted to type {dtype.name} without overflow",
            fix="choose a dtype that holds both ends",
        )
    return held


def _ends(name: str, start: Any, end: Any, steps: int) -> tuple[Any, Any, dtypes.DType]:
    operator.index(steps)  # no fraction of a step
    call = f"{name}(start, end, steps={steps})"
    for label, bound in (("start", start), ("end", end)):
        if isinstance(bound, Tensor) and bound.ndim:
            raise fail(
                RuntimeError,
                call=call,
                cause=f"{name} only supports 0-dimensional start and end tensors, but got "
                f"{label} with {bound.ndim} dimension(s)",
                fix=f"pass a number as {label}",
            )
    if steps < 0:
        raise fail(
            RuntimeError,
            call=call,
            cause="number of steps must be non-negative",
            fix="pass how many numbers you want",
        )
    first, last = number_and_dtype(start)[0], number_and_dtype(end)[0]
    is_complex = isinstance(first, complex) or isinstance(last, complex)
    dtype = dtypes.default_complex() if is_complex else dtypes.get_default_dtype()
    return first, last, dtype


def _spaced(first: Any, last: Any, steps: int, dtype: Any) -> Array:
    """Counted from the nearer end, so that both ends are hit exactly.

    In the precision of the result, as PyTorch does; in double for integers, in single for halves.
    """
    precision = np.dtype(np.float32 if dtype.itemsize == 2 else dtype)
    if dtype.kind in "biu":
        precision = np.dtype(np.float64)
    first, last = precision.type(first), precision.type(last)
    stride = (last - first) / precision.type(max(steps - 1, 1))
    index = np.arange(steps).astype(precision)
    values = np.where(
        index < max(steps // 2, 1), first + stride * index, last - stride * (steps - 1 - index)
    )
    return values.astype(dtype)


creation(
    arange,
    "y[i] = start + i·step, below end",
    samples=lambda make: [
        make.call(5),
        make.call(1, 7, 2),
        make.call(5, 0, -1),
        make.call(0, 1, 0.1),
        make.call(2.5),
        make.call(3, 3),
        make.call(end=4),
        make.call(-2.5, 3.7, dtype=dtypes.int64),
        make.call(-2.5, 3.7, dtype=dtypes.int32),
        make.call(0, 5, dtype=dtypes.float64),
    ],
)
creation(
    range,
    "y[i] = start + i·step, up to end",
    torch="",  # deprecated there, with a warning
    samples=lambda make: [make.call(0, 4), make.call(1, 2, 0.5), make.call(3, 0, -1)],
)
creation(
    linspace,
    "y[i] = start + i·(end − start)/(steps − 1)",
    samples=lambda make: [
        make.call(0, 1, 5),
        make.call(-1.0, 1.0, 4),
        make.call(0, 1, 1),
        make.call(0, 1, steps=0),
        make.call(0, 10, 5, dtype=dtypes.int64),
        make.call(5, -5, 7, dtype=dtypes.float64),
    ],
)
creation(
    logspace,
    "y[i] = base^(start + i·(end − start)/(steps − 1))",
    samples=lambda make: [
        make.call(0, 2, 3),
        make.call(-1, 1, 5, base=2),
        make.call(0, 3, 1),
        make.call(0, 4, 5, 2.0, dtype=dtypes.int64),
    ],
)
