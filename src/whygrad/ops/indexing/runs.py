"""Places and runs: consecutive repeats, flat positions, chosen pairs, combined rows."""

from __future__ import annotations

import itertools
import operator
from typing import Any

import numpy as np

from whygrad.errors import describe, fail
from whygrad.ops.batching import dynamic_shape
from whygrad.ops.define import composite, define, table
from whygrad.ops.geometry import normalize_dim
from whygrad.tensor import Tensor, dtypes

Array = Any
Shape = tuple[int, ...]


def _unique_consecutive(
    x: Array, dim: int | None, return_inverse: bool, return_counts: bool
) -> Any:
    lanes = x.reshape(-1, 1) if dim is None else np.moveaxis(x, dim, 0).reshape(x.shape[dim], -1)
    starts = np.ones(len(lanes), bool)
    starts[1:] = (lanes[1:] != lanes[:-1]).any(axis=1)
    places = np.flatnonzero(starts)
    kept = x.reshape(-1)[places] if dim is None else np.take(x, places, axis=dim)
    results = [kept]
    if return_inverse:
        number = np.cumsum(starts) - 1
        results.append(number.reshape(x.shape) if dim is None else number)
    if return_counts:
        results.append(np.diff(np.append(places, len(lanes))))
    return results[0] if len(results) == 1 else tuple(results)


def _unique_consecutive_args(
    input: Tensor,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    axis = None if dim is None else normalize_dim(dim, input.ndim, "unique_consecutive")
    return input, axis, return_inverse, return_counts


define(
    "unique_consecutive(x; dim, return_inverse, return_counts)",
    "y = x without elements (or slices along dim) that repeat the one before, on request where "
    "each went and how long each run is",
    forward=_unique_consecutive,
    vjp=None,
    batching=dynamic_shape,
    public=_unique_consecutive_args,
    samples=lambda make: [
        make.call(np.array([1, 1, 2, 2, 2, 1])),
        make.call(make.ints(3, 4, high=2), True, True),
        make.call(np.array([[1, 2], [1, 2], [3, 2]]), dim=0, return_counts=True),
        make.call(make.ints(0)),
    ],
)


def _nonzero_static(x: Array, size: int, fill_value: int) -> Array:
    found = np.argwhere(x)[:size]
    padded = np.full((size, x.ndim), fill_value, np.int64)
    padded[: len(found)] = found
    return padded


def _nonzero_static_args(input: Tensor, *, size: int, fill_value: int = -1) -> Any:
    if size < 0:
        raise fail(
            RuntimeError,
            call=f"nonzero_static({describe(input)}, size={size})",
            cause="nonzero_static: 'size' must be an non-negative integer",
            fix="pass how many rows the result should have",
        )
    return input, size, operator.index(fill_value)


define(
    "nonzero_static(x; size, fill_value)",
    "y = the coordinates of the first elements that are not 0, as many rows as asked for",
    forward=_nonzero_static,
    vjp=None,
    meta=lambda x, size, fill_value: ((size, x.ndim), np.dtype(np.int64)),
    public=_nonzero_static_args,
    samples=lambda make: [
        make.call(make.bools(3, 4), size=4),
        make.call(make.ints(3, high=2), size=5, fill_value=7),
        make.call(make.bools(2), size=0),
    ],
)


def unravel_index(indices: Tensor, shape: Any) -> tuple[Tensor, ...]:
    """Positions in a flattened array as one tensor of coordinates per dimension."""
    sizes = (shape,) if isinstance(shape, int) else tuple(map(int, shape))
    if indices.dtype.category != dtypes.INTEGER:
        raise fail(
            ValueError,
            call=f"unravel_index({describe(indices)}, {sizes})",
            cause=f"expected 'indices' to be integer dtype, but got {indices.dtype.name}",
            fix="convert them: indices.long()",
        )
    if any(size < 0 for size in sizes):
        raise fail(
            ValueError,
            call=f"unravel_index({describe(indices)}, {sizes})",
            cause="'shape' cannot have negative values",
            fix="pass the sizes of the array",
        )
    if not sizes:
        return ()
    coordinates = []
    indices = indices.to(dtypes.int64)  # a narrow dtype may not hold the sizes
    for size in reversed(sizes):
        coordinates.append(indices % size)
        indices = table["floor_divide"].public(indices, size)
    return table["unbind"].public(table["stack"].public(coordinates[::-1], -1), -1)


def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """Every choice of ``r`` elements of a vector, in order, as rows."""
    if input.ndim != 1 or r < 0:
        raise fail(
            RuntimeError,
            call=f"combinations({describe(input)}, r={r})",
            cause=f"Expect a 1D vector, but got shape {list(input.shape)}"
            if r >= 0
            else f"Expect a non-negative number, but got {r}",
            fix="flatten it first: x.reshape(-1)",
        )
    if r == 0:
        return input.new_empty((0,))
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    places = np.array(list(choose(range(input.shape[0]), r)), np.int64).reshape(-1)
    index = table["tensor"].public(places, device=input.device)
    return table["index_select"].public(input, 0, index).reshape(-1, r)


def vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Tensor:
    """Powers of the elements of a vector, one row each, the highest power first."""
    if x.ndim != 1:
        raise fail(
            RuntimeError,
            call=f"vander({describe(x)})",
            cause="x must be a one-dimensional tensor.",
            fix="flatten it first: x.reshape(-1)",
        )
    count = x.shape[0] if N is None else N
    if count < 0:
        raise fail(
            RuntimeError,
            call=f"vander({describe(x)}, N={N})",
            cause="N must be non-negative.",
            fix="pass the number of powers",
        )
    powers = rising_powers(x, count)
    return powers if increasing else table["flip"].public(powers, (1,))


def rising_powers(x: Tensor, count: int) -> Tensor:
    """x⁰, x¹, …, as a new last dimension, by products: exact and smooth at 0 as well."""
    if x.dtype is dtypes.bool_:
        x = x.to(dtypes.int64)
    column = x.unsqueeze(-1)
    ones = table["ones_like"].public(column)
    if count == 0:
        return ones.narrow(-1, 0, 0)
    if count == 1:
        return ones if x.dtype.category >= dtypes.FLOAT else ones.to(dtypes.int64)
    repeated = column.expand(*x.shape, count - 1)
    return table["cat"].public([ones, repeated.cumprod(-1)], -1)


def index_reduce(
    input: Tensor,
    dim: int,
    index: Tensor,
    source: Tensor,
    reduce: str,
    *,
    include_self: bool = True,
) -> Tensor:
    """Combine the slices of ``source`` into the slices of ``input`` that ``index`` names."""
    call = f"index_reduce({describe(input)}, {dim}, {describe(index)}, {describe(source)})"
    axis = normalize_dim(dim, input.ndim, "index_reduce")
    cause = ""
    if reduce not in ("prod", "mean", "amax", "amin"):
        cause = f"reduce argument must be either prod, mean, amax or amin, got {reduce}."
    elif index.ndim > 1:
        cause = f"Index is supposed to be a vector, but got dim: {index.ndim}"
    elif input.dtype is not source.dtype:
        cause = "self and source expected to have the same dtype"
    if cause:
        raise fail(RuntimeError, call=call, cause=cause, fix="see the arguments above")
    if not input.ndim:
        lifted = index_reduce(
            input.reshape(1), 0, index, source.reshape(1), reduce, include_self=include_self
        )
        return lifted.reshape(())
    shape = [1] * source.ndim
    shape[axis] = -1
    spread = index.reshape(shape).expand(source.shape).to(dtypes.int64)
    return table["scatter_reduce"].public(
        input, axis, spread, source, reduce, include_self=include_self
    )


composite(
    unravel_index,
    "y₁, y₂, … = the coordinates of flat positions",
    method=False,
    differentiable=False,
    samples=lambda make: [
        make.call(make.ints(5, high=12), (3, 4)),
        make.call(make.ints(2), 7),
        make.call(make.ints(3).astype(np.uint8), (4, 300)),
    ],
)
composite(
    combinations,
    "y = every choice of r elements",
    method=False,
    samples=lambda make: [
        make.call(make(4)),
        make.call(make(3), 3),
        make.call(make(3), with_replacement=True),
        make.call(make.ints(3), 1),
    ],
)
composite(
    vander,
    "y[i, j] = xᵢ^(N−1−j), or xᵢʲ",
    torch="",  # its backward fails: it writes to what its cumprod has saved
    method=False,
    samples=lambda make: [
        make.call(make(3)),
        make.call(make(3), 2, True),
        make.call(make.ints(4), N=3),
        make.call(make(2), 1),
    ],
)
composite(
    index_reduce,
    "y = input combined with the slices of source at index along dim: prod, mean, amax or amin",
    inplace=True,
    samples=lambda make: [
        make.call(
            make.distinct(3, 4),
            1,
            make.ints(5, high=4),
            make.distinct(3, 5, gap=0.13),
            reduce,
            include_self=include,
        )
        for reduce, include in (
            ("prod", True),
            ("mean", True),
            ("amax", True),
            ("amin", True),
            ("mean", False),
            ("prod", False),
        )
    ],
)
