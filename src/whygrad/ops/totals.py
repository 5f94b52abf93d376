"""Sums and means that stay right however many numbers go in, and whatever the numbers are.

``np.add.reduce`` adds in pairs along memory and one by one in every other direction; a product
with ones, which BLAS computes faster, adds one by one too.  The error of adding one by one grows
with how many there are: 2e-5 of a sum of ten million float32.  So long sums are made of short
ones, which costs nothing.

A rounded mean of equal numbers need not be that number, and then they seem to deviate from it:
their standard deviation, which is 0 with slope 0, becomes 1e-16 with a slope of order 1.  So where
the deviations are so small that they may be rounding alone, the numbers are compared.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

__all__ = [
    "add_columns",
    "add_rows",
    "add_up",
    "dot_rows",
    "equal_lanes",
    "mean_and_deviation",
]

Array = Any
Dims = tuple[int, ...]

_add: Any = np.add.reduce  # NumPy's stubs want to know keepdims before the program runs

_MANY = 2**14  # elements below which no sum is long enough to matter
_LONG = 512  # numbers that may be added one by one
_FOLD = 128
_LANES = 128
_ROW = 2048  # numbers that BLAS may add up along memory; it keeps several partial sums of its own
_COLUMN = 1024  # and across memory


def add_up(x: Array, axis: Dims, keepdims: bool) -> Array:
    """Σ x over some axes."""
    if x.size < _MANY or x.dtype.kind not in "fc":
        return _add(x, axis=axis, dtype=x.dtype, keepdims=keepdims)
    return _add_many(x, axis, keepdims)


def _add_many(x: Array, axis: Dims, keepdims: bool) -> Array:
    crossing = _one_by_one(x, axis)
    if prod(x.shape[each] for each in crossing) > _LONG:
        longest = max(crossing, key=x.shape.__getitem__)
        x, rest = _folded(x, longest)
        total = _add_many(x, axis, keepdims)
        if rest.size:
            total += _add_many(rest, axis, keepdims)
        return total
    return _add(x, axis=axis, keepdims=keepdims)


def _one_by_one(x: Array, axis: Dims) -> Dims:
    """Which of the axes NumPy does not add in pairs: all but those that are one run of memory."""
    if len(axis) == x.ndim and (x.flags.c_contiguous or x.flags.f_contiguous):
        return ()
    crossing, run = list(axis), 0
    by_stride = sorted((abs(x.strides[each]), each) for each in range(x.ndim) if x.shape[each] > 1)
    for stride, each in by_stride:
        if each not in crossing or run not in (0, stride):
            break
        crossing.remove(each)
        run = stride * x.shape[each]
    return tuple(crossing)


def _folded(x: Array, axis: int) -> tuple[Array, Array]:
    """``x`` with an axis about ``_FOLD`` times shorter, by sums, and what is left over.

    Sums of neighbours stay in the nearest cache, if there are enough lanes side by side to fill
    the processor; else what lies far apart is added, and everything in between is a lane.
    """
    size = x.shape[axis]
    length = max(size // _FOLD, 1)
    layers = size // length
    before, after = x.shape[:axis], x.shape[axis + 1 :]
    neighbours = prod(after) >= _LANES
    split = (length, layers) if neighbours else (layers, length)
    whole = (slice(None),) * axis
    head = x[(*whole, slice(0, layers * length))].reshape(*before, *split, *after)
    return _add(head, axis=axis + neighbours), x[(*whole, slice(layers * length, None))]


def add_rows(rows: Array) -> Array:
    """Σ along the last axis.

    A product with a vector of ones: BLAS computes it several times faster than ``np.add.reduce``.
    """
    size = rows.shape[-1]
    if size <= _ROW:
        return rows @ np.ones(size, rows.dtype)
    pieces, rest = _cut(rows)
    total = add_up(np.vecdot(pieces, np.ones(_ROW, rows.dtype)), (rows.ndim - 1,), False)
    total += rest @ np.ones(rest.shape[-1], rows.dtype)
    return total


def add_columns(x: Array) -> Array:
    """Σ over the first axis of a matrix."""
    count = len(x)
    return np.ones(count, x.dtype) @ x if count <= _COLUMN else add_up(x, (0,), False)


def dot_rows(a: Array, b: Array) -> Array:
    """Σ of the products along the last axis, of rows with rows or of rows with one vector."""
    if a.shape[-1] <= _ROW:
        return a @ b if b.ndim == 1 else np.vecdot(a, b)
    (pieces, rest), (others, remainder) = _cut(a), _cut(b)
    total = add_up(np.vecdot(pieces, others), (a.ndim - 1,), False)
    total += np.vecdot(rest, remainder)
    return total


def _cut(rows: Array) -> tuple[Array, Array]:
    """The last axis in pieces of ``_ROW``, and what is left over."""
    count = rows.shape[-1] // _ROW
    pieces = rows[..., : count * _ROW].reshape(*rows.shape[:-1], count, _ROW)
    return pieces, rows[..., count * _ROW :]


def _first_of(x: Array, axis: Dims) -> Array:
    """The first element of every lane, with the axes kept."""
    return x[tuple(slice(0, 1) if each in axis else slice(None) for each in range(x.ndim))]


# The square of how much a mean may be off by rounding, as a part of it.  Too large costs a
# comparison of numbers that lie close together; too small would miss equal ones.
_DOUBT = {np.dtype(name): (2048 * np.finfo(name).eps) ** 2 for name in ("f4", "f8", "c8", "c16")}


def equal_lanes(x: Array, mean: Array, spread: Array, axis: Dims, count: int = 1) -> Array | None:
    """Which lanes consist of one number only; None if none does, which is seen at a glance.

    ``spread`` is the sum of ``count`` squares of deviations from the mean.
    """
    doubt = _DOUBT[mean.dtype] * count
    if not np.count_nonzero(spread <= np.vdot(mean, mean).real * doubt) or not x.size:
        return None
    if not np.count_nonzero(spread <= np.square(np.abs(mean)) * doubt):
        return None
    equal = np.logical_and.reduce(x == _first_of(x, axis), axis=axis, keepdims=True)
    return equal if np.count_nonzero(equal) else None


def mean_and_deviation(x: Array, axis: Dims) -> tuple[Array, Array]:
    """The mean over some axes, which are kept, and x − mean; exactly 0 where all are equal."""
    count = prod([x.shape[each] for each in axis])
    mean = add_up(x, axis, True)
    mean /= count
    deviation = x - mean
    if count:
        one = np.abs(_first_of(deviation, axis))
        equal = equal_lanes(x, mean, one * one, axis)
        if equal is not None:
            mean = np.where(equal, _first_of(x, axis), mean)
            deviation = x - mean
    return mean, deviation
