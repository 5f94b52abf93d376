"""Picking and placing single elements along one dimension.

``gather`` reads, the ``scatter`` ops write: element by element, ``index`` says where along
``dim``, and the element's own coordinates say where in every other dimension.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from whygrad.errors import describe, fail
from whygrad.ops.batching import shift_dims
from whygrad.ops.define import define, public_form, table
from whygrad.ops.geometry import normalize_dim
from whygrad.ops.indexing.positions import check_bounds, overwritten
from whygrad.ops.numbers import number_for
from whygrad.tensor import Tensor, dtypes

__all__ = ["accumulating", "same_as_input", "with_source"]

Array = Any
Shape = tuple[int, ...]


def _check_index(x: Array, index: Array, dim: int, call: str) -> None:
    size = x.shape[dim] if x.ndim else 1
    check_bounds(index, size, call=call, dim=dim, kind=RuntimeError)


def _cells(index: Array, shape: Shape, dim: int) -> Array:
    """The flat position in an array of this shape that each element of ``index`` means."""
    if not shape or not index.ndim:
        return index.reshape(-1).astype(np.intp, copy=False)
    position = index * prod(shape[dim + 1 :])
    for axis, size in enumerate(index.shape):
        if axis != dim and size > 1:
            along = np.arange(size) * prod(shape[axis + 1 :])
            position = position + along.reshape((-1,) + (1,) * (index.ndim - axis - 1))
    return position.reshape(-1).astype(np.intp, copy=False)


def _gather(x: Array, index: Array, dim: int) -> Array:
    _check_index(x, index, dim, "gather")
    if not index.ndim or not x.ndim:
        return x.reshape(-1)[index]
    if not index.size:
        return np.empty(index.shape, x.dtype)
    places: list[Any] = list(np.ogrid[tuple(map(slice, index.shape))])
    places[dim] = index
    return x[tuple(places)]


def _gather_last(x: Array, index: Array, dim: int) -> Array:
    picked = _gather(x, index, dim)
    lost = overwritten(_cells(index, x.shape, dim), x.size)
    if lost.any():
        picked[lost.reshape(picked.shape)] = 0
    return picked


def _scatter(x: Array, index: Array, source: Array, dim: int) -> Array:
    _check_index(x, index, dim, "scatter")
    out = np.array(x, order="C")
    out.reshape(-1)[_cells(index, x.shape, dim)] = np.reshape(source, -1)
    return out


def accumulating(name: str, ufunc: np.ufunc) -> Callable[..., Array]:
    """A kernel that combines ``source`` with what is at ``index`` already."""

    def kernel(x: Array, index: Array, source: Array, dim: int) -> Array:
        _check_index(x, index, dim, name)
        out = np.array(x, order="C")
        # flat and contiguous is the one form that ufunc.at handles without its slow iterator
        ufunc.at(out.reshape(-1), _cells(index, x.shape, dim), source.reshape(-1))
        return out

    return kernel


def same_as_input(x: Array, *_: Any) -> tuple[Shape, Any]:
    """Meta rule of everything that returns a changed copy of its first input."""
    return x.shape, x.dtype


def _gather_args(input: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False) -> Any:
    return input, *_checked("gather", input, dim, index)


def _checked(name: str, input: Tensor, dim: Any, index: Tensor) -> tuple[Tensor, int]:
    """Index and dimension, if they suit the input."""
    dim = normalize_dim(dim, input.ndim, name)
    if not index.numel():
        return index.to(dtypes.int64), dim  # PyTorch does not ask what nothing is made of
    call = f"{name}({describe(input)}, dim={dim}, index: {describe(index)})"
    if index.dtype not in (dtypes.int32, dtypes.int64):
        raise fail(
            RuntimeError,
            call=call,
            cause=f"{name}(): Expected dtype int32/int64 for index, not {index.dtype.name}",
            fix="convert it: index.to(whygrad.int64)",
        )
    if max(index.ndim, 1) != max(input.ndim, 1):
        raise fail(
            RuntimeError,
            call=call,
            cause="Index tensor must have the same number of dimensions as input tensor",
            fix=f"give the index {input.ndim} dimensions, for instance with unsqueeze({dim})",
        )
    for axis in range(min(index.ndim, input.ndim)):
        if axis != dim and index.shape[axis] > input.shape[axis]:
            raise fail(
                RuntimeError,
                call=call,
                cause=f"Size does not match at dimension {axis} expected index "
                f"{list(index.shape)} to be no larger than self {list(input.shape)} "
                f"apart from dimension {dim}",
                fix="make the index as small as the input in every other dimension",
            )
    return index, dim


def with_source(name: str, input: Tensor, dim: Any, index: Tensor, src: Tensor) -> Any:
    """The kernel's arguments, with the source cut down to the shape of the index."""
    index, dim = _checked(name, input, dim, index)
    call = f"{name}({describe(input)}, dim={dim}, index: {describe(index)}, src: {describe(src)})"
    if src.dtype is not input.dtype:
        raise fail(
            RuntimeError,
            call=call,
            cause="scatter(): Expected self.dtype to be equal to src.dtype",
            fix=f"convert the source: src.to(whygrad.{input.dtype.name})",
        )
    if not index.numel():
        return input, index, src.reshape((-1,))[:0].reshape(index.shape), dim
    if max(src.ndim, 1) != max(index.ndim, 1):
        raise fail(
            RuntimeError,
            call=call,
            cause="Index tensor must have the same number of dimensions as src tensor",
            fix="every element of the index takes the element of src at the same place",
        )
    if any(mine > theirs for mine, theirs in zip(index.shape, src.shape, strict=False)):
        raise fail(
            RuntimeError,
            call=call,
            cause=f"Expected index {list(index.shape)} to be no larger than self "
            f"{list(input.shape)} apart from dimension {dim} and to be no larger size than src "
            f"{list(src.shape)}",
            fix="every element of the index takes the element of src at the same place",
        )
    if src.ndim != index.ndim:
        src = src.reshape(index.shape)
    elif src.shape != index.shape:
        src = src[tuple(map(slice, index.shape))]
    return input, index, src, dim


define(
    "gather(x, index; dim)",
    "y = x at index along dim;  ∂x = incoming added up at index",
    forward=_gather,
    vjp={
        "x": lambda xp, incoming, index, x_shape, dim: xp.scatter_add(
            xp.new_zeros(incoming, x_shape), index, incoming, dim
        )
    },
    linear=True,
    meta=lambda x, index, dim: (index.shape, x.dtype),
    batching=shift_dims("dim"),
    public=_gather_args,
    samples=lambda make: [
        make.call(make(3, 4), 1, make.ints(3, 2, high=4)),
        make.call(make(3, 4), -2, make.ints(5, 2, high=3)),
        make.call(make(2, 3, 2), 0, make.ints(1, 2, 2, high=2)),
        make.call(make(3), 0, make.ints(high=3)),
        make.call(make(), 0, make.ints(2, high=1)),
        make.call(make(3, 4), 1, make.ints(0, 2)),
    ],
)
define(
    "gather_last(x, index; dim)",
    "y = gather(x, index), 0 where the same place comes again later;  "
    "∂x = incoming written at index",
    forward=_gather_last,
    vjp={
        "x": lambda xp, incoming, index, x_shape, dim: xp.scatter(
            xp.new_zeros(incoming, x_shape), index, incoming, dim
        )
    },
    linear=True,
    meta=lambda x, index, dim: (index.shape, x.dtype),
    batching=shift_dims("dim"),
    internal=True,
    samples=lambda make: [
        make.call(make(3, 4), np.array([[1, 2, 1], [0, 0, 0]]), 1),
        make.call(make(3), np.array(2), 0),
    ],
)
define(
    "scatter_add(x, index, source; dim)",
    "y = x with source added at index along dim;  ∂x = incoming,  ∂source = incoming at index",
    forward=accumulating("scatter_add", np.add),
    vjp={
        "x": lambda xp, incoming: incoming,
        "source": lambda xp, incoming, index, dim: xp.gather(incoming, index, dim),
    },
    linear=True,
    meta=same_as_input,
    batching=shift_dims("dim"),
    public=lambda input, dim, index, src: with_source("scatter_add", input, dim, index, src),
    inplace=True,
    samples=lambda make: [
        make.call(make(3, 4), 1, make.ints(3, 2, high=4), make(3, 2)),
        make.call(make(3, 4), 0, make.ints(4, 2, high=3), make(4, 2)),
        make.call(make(2, 2, 3), -1, make.ints(1, 2, 4, high=3), make(1, 2, 4)),
        make.call(make(3), 0, make.ints(5, high=3), make(5)),
        make.call(make(), 0, make.ints(2, high=1), make(2)),
    ],
)
_scatter_op = define(
    "scatter(x, index, source; dim)",
    "y = x with source written at index along dim;  ∂x = incoming, 0 where written,  "
    "∂source = incoming at index",
    forward=_scatter,
    vjp={
        "x": lambda xp, incoming, index, dim: xp.scatter(incoming, index, 0.0, dim),
        "source": lambda xp, incoming, index, dim: xp.gather_last(incoming, index, dim),
    },
    linear=True,
    meta=same_as_input,
    batching=shift_dims("dim"),
    inplace=True,
    notes="Of several values written to one place the last one stays and only it gets a "
    "gradient; PyTorch sends the gradient to all of them.",
    samples=lambda make: [
        make.call(make(3, 4), 1, np.array([[1, 3], [0, 2]]), make(2, 2)),
        make.call(make(3, 4), 0, np.array([[2, 0, 1, 1]]), 1.5),
        make.call(make(3, 4), -1, np.array([[1, 3]]), value=2),
        make.call(make(3), 0, np.array([1]), make(1)),
    ],
)


def scatter(
    input: Tensor,
    dim: int,
    index: Tensor,
    src: Any = None,
    *,
    value: Any = None,
    reduce: str | None = None,
) -> Tensor:
    """``input`` with ``src`` (a tensor or a number) written at ``index`` along ``dim``."""
    source = value if src is None else src
    if reduce not in (None, "add", "multiply"):
        raise fail(
            RuntimeError,
            call=f"scatter({describe(input)}, …, reduce={reduce!r})",
            cause="reduce argument must be either add or multiply",
            fix="use scatter_reduce for mean, amax and amin",
        )
    if not isinstance(source, Tensor):
        number = number_for(input, source, "scatter")
        if reduce is None:
            index, dim = _checked("scatter", input, dim, index)
            written: Tensor = _scatter_op.call(input, index, number, dim)
            return written
        source = input.new_full(index.shape, number)
    name = {None: "scatter", "add": "scatter_add", "multiply": "scatter_prod"}[reduce]
    result: Tensor = table[name].call(*with_source("scatter", input, dim, index, source))
    return result


public_form(_scatter_op)(scatter)
