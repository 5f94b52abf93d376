"""Counting how many values fall where.

Counts change in jumps, so no gradient flows; PyTorch has none either.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from whygrad.errors import describe, fail
from whygrad.ops.batching import all_numbers, dynamic_shape
from whygrad.ops.define import composite, define
from whygrad.ops.namespace import recorded
from whygrad.ops.public import return_types
from whygrad.tensor import Tensor, dtypes, wrap

Array = Any


def _refuse(call: str, cause: str, fix: str) -> RuntimeError:
    return fail(RuntimeError, call=call, cause=cause, fix=fix)


def _bincount(x: Array, weights: Array | None, minlength: int) -> Array:
    counted = np.bincount(x.astype(np.int64), weights, minlength)
    single = weights is not None and weights.dtype == np.float32
    return counted.astype(np.float32) if single else counted


def _bincount_args(input: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Any:
    """How often each whole number from 0 on occurs, or the sum of the weights it occurs with."""
    call = f"bincount({describe(input)})"
    if input.ndim != 1 or input.dtype.category > dtypes.INTEGER or input.dtype is dtypes.bool_:
        raise _refuse(
            call,
            "bincount only supports 1-d non-negative integral inputs.",
            "flatten it and convert it: x.reshape(-1).long()",
        )
    if minlength < 0:
        raise _refuse(call, "minlength should be >= 0", "pass the least number of bins")
    if weights is not None and weights.shape != input.shape:
        raise _refuse(
            call,
            "weights should be 1-d and have the same length as input",
            "pass one weight per element",
        )
    if input.device == "cpu" and input.numel() and int(all_numbers(input).min()) < 0:
        raise _refuse(
            call,
            "bincount only supports 1-d non-negative integral inputs.",
            "shift the values: x - x.min()",
        )
    return input, weights, minlength


define(
    "bincount(x, weights; minlength)",
    "y[k] = the number of elements equal to k, or the sum of their weights",
    forward=_bincount,
    vjp=None,
    batching=dynamic_shape,
    public=_bincount_args,
    samples=lambda make: [
        make.call(make.ints(7)),
        make.call(make.ints(7), make.constant(make(7))),
        make.call(make.ints(7), minlength=9),
        make.call(make.ints(0)),
    ],
)


def _bin_numbers(x: Array, edges: Array) -> tuple[Array, Array]:
    """The bin of each value, the last edge included, and which values are in range at all."""
    inside = (x >= edges[0]) & (x <= edges[-1])
    number = np.searchsorted(edges, x, "right") - 1
    return np.where(x == edges[-1], len(edges) - 2, number), inside


def _histc(x: Array, bins: int, low: float, high: float) -> Array:
    values = x.reshape(-1)
    if low == high and values.size:
        low, high = float(values.min()), float(values.max())
    if low == high:
        low, high = low - 1, high + 1
    if not (np.isfinite(low) and np.isfinite(high)):
        raise _refuse(
            f"histc({describe(x)}, bins={bins})",
            f"range of [{low}, {high}] is not finite",
            "give min and max, or remove nan and inf first",
        )
    kept = values[(values >= low) & (values <= high)]
    number = ((kept - low) * bins / (high - low)).astype(np.int64)
    return np.bincount(np.minimum(number, bins - 1), minlength=bins).astype(x.dtype)


def _histc_args(input: Tensor, bins: int = 100, min: float = 0, max: float = 0) -> Any:
    """How many elements fall into each of ``bins`` equal intervals from ``min`` to ``max``."""
    call = f"histc({describe(input)}, bins={bins}, min={min}, max={max})"
    if bins <= 0:
        raise _refuse(call, f"bins must be > 0, but got {bins}", "ask for at least one bin")
    if max < min:
        raise _refuse(call, "max must be larger than min", "exchange them")
    if not input.dtype.is_floating_point:
        raise fail(
            NotImplementedError,
            call=call,
            cause=f"histc is not implemented for {input.dtype.name}",
            fix="convert it first: input.float(), or use bincount",
        )
    return input, bins, float(min), float(max)


define(
    "histc(x; bins, low, high)",
    "y = the number of elements per bin; those out of range count nowhere",
    forward=_histc,
    vjp=None,
    meta=lambda x, bins, low, high: ((bins,), x.dtype),
    public=_histc_args,
    samples=lambda make: [
        make.call(make.constant(make(3, 4)), 5),
        make.call(make.constant(make(30)), bins=4, min=-1, max=1.5),
        make.call(make.constant(np.ones(3)), 3),
        make.call(make.constant(make(0)), 3),
    ],
)


def _histogram(x: Array, weight: Array | None, borders: tuple[Any, ...], density: bool) -> Array:
    """Points are the rows of ``x``; ``borders`` has one sequence per coordinate."""
    edges = [np.asarray(each, x.dtype) for each in borders]
    numbers, inside = [], np.ones(len(x), bool)
    for coordinate, each in enumerate(edges):
        number, within = _bin_numbers(x[:, coordinate], each)
        numbers.append(number)
        inside &= within
    shape = tuple(len(each) - 1 for each in edges)
    flat = np.ravel_multi_index(tuple(each[inside] for each in numbers), shape)
    amounts = None if weight is None else weight[inside]
    counted = np.bincount(flat, amounts, int(np.prod(shape))).astype(x.dtype).reshape(shape)
    if density:
        volume = np.ones((), x.dtype)
        for each in edges:
            volume = volume[..., None] * np.diff(each)
        counted = counted / (counted.sum() * volume)
    return counted


define(
    "histogram_counts(x, weight; borders, density)",
    "y = the number of rows of x (or their weight) per box of a grid; density: per volume",
    forward=_histogram,
    vjp=None,
    meta=lambda x, weight, borders, density: (
        tuple(len(each) - 1 for each in borders),
        x.dtype,
    ),
    internal=True,
    samples=lambda make: [
        make.call(
            make.constant(make(9, 2)), weight, ((-1.0, 0.0, 2.0), (-2.0, 0.5, 1.0, 2.0)), False
        )
        for weight in (None, make.constant(make(9, low=0.5, high=2.0)))
    ],
)


def _edges(call: str, values: Tensor, bins: Any, limits: Any) -> Array:
    """The borders of the bins for one coordinate."""
    if isinstance(bins, Tensor):
        if bins.ndim != 1 or not bins.numel():
            raise _refuse(
                call,
                "bins tensor should have one dimension and at least one element",
                "pass the borders in increasing order",
            )
        if bins.device != "cpu":
            raise _refuse(call, "the borders have no data", "compute on the cpu")
        return bins.detach().numpy().astype(values.dtype.numpy)
    if bins < 1:
        raise _refuse(call, f"bins must be > 0, but got {bins}", "ask for at least one bin")
    if limits is not None:
        low, high = limits
    elif values.numel():
        low, high = values.min().item(), values.max().item()
    else:
        low, high = 0.0, 1.0
    if not (np.isfinite(low) and np.isfinite(high) and low <= high):
        raise _refuse(
            call,
            f"range [{low}, {high}] is not finite, or its ends are in the wrong order",
            "give range=(low, high)",
        )
    if low == high:
        low, high = low - 0.5, high + 0.5
    return np.linspace(low, high, bins + 1, dtype=values.dtype.numpy)


def _counted(
    name: str, points: Tensor, bins: Any, limits: Any, weight: Tensor | None, density: bool
) -> tuple[Tensor, list[Tensor]]:
    """The counts of the rows of ``points``, and the borders they were counted between."""
    call = f"{name}({describe(points)}, bins={describe(bins)})"
    if not points.dtype.is_floating_point:
        raise fail(
            NotImplementedError,
            call=call,
            cause=f"{name} is not implemented for {points.dtype.name}",
            fix="convert it first: input.float()",
        )
    if weight is not None and weight.dtype is not points.dtype:
        raise _refuse(
            call,
            f"if weight tensor is provided, input tensor and weight tensor should have the same "
            f"dtype, but got {points.dtype.name} and {weight.dtype.name}",
            "convert it: weight.to(input.dtype)",
        )
    if weight is not None and weight.numel() != points.shape[0]:
        raise _refuse(
            call,
            "if weight tensor is provided it should have the same shape as the input tensor "
            "excluding its innermost dimension",
            "pass one weight per point",
        )
    edges = tuple(
        _edges(call, points[:, place], each, limit)
        for place, (each, limit) in enumerate(zip(bins, limits, strict=True))
    )
    flat = None if weight is None else weight.reshape(-1)
    counted = recorded.histogram_counts(points, flat, edges, density)
    return counted, [wrap(each).to(points.device) for each in edges]


def histogram(
    input: Tensor,
    bins: Any,
    *,
    range: Any = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> Any:
    """How many elements fall into each bin, and the borders of the bins."""
    if weight is not None and weight.shape != input.shape:
        raise _refuse(
            f"histogram({describe(input)}, weight={describe(weight)})",
            "if weight tensor is provided it should have the same shape as the input tensor",
            "pass one weight per element",
        )
    counted, edges = _counted("histogram", input.reshape(-1, 1), [bins], [range], weight, density)
    return return_types.histogram(counted, edges[0])


def histogramdd(
    input: Tensor,
    bins: Any,
    *,
    range: Any = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> Any:
    """The counts of points, the last dimension their coordinates, in a grid of boxes."""
    if input.ndim < 2:
        raise _refuse(
            f"histogramdd({describe(input)})",
            "input tensor should have at least 2 dimensions",
            "pass points, (points, coordinates); histogram counts single numbers",
        )
    count = input.shape[-1]
    chosen = [bins] * count if isinstance(bins, int) else list(bins)
    if len(chosen) != count or (range is not None and len(range) != 2 * count):
        raise _refuse(
            f"histogramdd({describe(input)}, bins={describe(bins)})",
            f"expected one entry of bins, and two of range, per coordinate ({count} of them)",
            "pass bins=[…] with one entry per coordinate",
        )
    limits = [None] * count if range is None else list(zip(range[::2], range[1::2], strict=True))
    points = input.reshape(-1, count)
    counted, edges = _counted("histogramdd", points, chosen, limits, weight, density)
    per_coordinate: Any = tuple(edges)
    return return_types.histogramdd(counted, per_coordinate)


composite(
    histogram,
    "y, edges = the number (or weight) of elements per bin, the borders of the bins",
    differentiable=False,
    samples=lambda make: [
        make.call(make.constant(make(3, 4)), 4),
        make.call(make.constant(make(9)), 3, range=(-1.0, 1.0), density=True),
        make.call(
            make.constant(make(6)),
            make.constant(np.array([-1.0, 0.0, 0.5, 2.0])),
            weight=make.constant(make(6, low=0.1)),
        ),
    ],
)
composite(
    histogramdd,
    "y, edges = the number (or weight) of points per box of a grid, the borders of the boxes",
    method=False,
    differentiable=False,
    samples=lambda make: [
        make.call(make.constant(make(9, 2)), [2, 3]),
        make.call(make.constant(make(9, 2)), 2, range=[-1.0, 1.0, 0.0, 2.0], density=True),
        make.call(
            make.constant(make(5, 2)),
            [make.constant(np.array([-2.0, 0.0, 2.0])), make.constant(np.array([-2.0, 1.0, 2.0]))],
            weight=make.constant(make(5, low=0.1)),
        ),
    ],
)
