"""Picking and placing elements by index or mask."""

from __future__ import annotations

from typing import Any

import numpy as np

from whygrad.ops.define import define

Array = Any
Shape = tuple[int, ...]


def _along(shape: Shape, index_shape: Shape, dim: int) -> tuple[slice, ...]:
    """The corner of an array that an index of this shape runs over."""
    return tuple(
        slice(None) if axis == dim else slice(size) for axis, size in enumerate(index_shape)
    )


def _grid(index: Array, dim: int) -> tuple[Array, ...]:
    """``index`` along ``dim``, and the own coordinate along every other dimension."""
    places: list[Array] = list(np.ogrid[tuple(map(slice, index.shape))])
    places[dim] = index
    return tuple(places)


def _gather(x: Array, index: Array, dim: int) -> Array:
    if index.ndim == 0:
        return x.reshape(1)[index]
    return x[_grid(index, dim)]


def _scatter_add(x: Array, index: Array, source: Array, dim: int) -> Array:
    out = np.array(x)
    if index.ndim == 0:
        out += source
        return out
    np.add.at(out, _grid(index, dim), source[tuple(map(slice, index.shape))])
    return out


define(
    "where(condition, a, b)",
    "y = a where the condition holds, b elsewhere;  ∂a = incoming there, ∂b = incoming elsewhere",
    forward=np.where,
    vjp={
        "a": lambda xp, incoming, condition: xp.where(condition, incoming, 0.0),
        "b": lambda xp, incoming, condition: xp.where(condition, 0.0, incoming),
    },
    kind="elementwise",
    linear=True,
    promote="same",
    promoted="a b",
    meta=lambda condition, a, b: (
        np.broadcast_shapes(*(getattr(each, "shape", ()) for each in (condition, a, b))),
        (a if hasattr(a, "dtype") else b).dtype,
    ),
    samples=lambda make: [make.call(make.bools(3, 4), make(3, 4), make(4))],
)
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
    public=lambda input, dim, index: (input, index, dim),
    samples=lambda make: [make.call(make(3, 4), 1, make.ints(3, 2, high=4))],
)
define(
    "scatter_add(x, index, source; dim)",
    "y = x with source added at index along dim;  ∂x = incoming, ∂source = incoming at index",
    forward=_scatter_add,
    vjp={
        "x": lambda xp, incoming: incoming,
        "source": lambda xp, incoming, index, source_shape, dim: xp.gather(incoming, index, dim),
    },
    linear=True,
    meta=lambda x, index, source, dim: (x.shape, x.dtype),
    public=lambda input, dim, index, src: (input, index, src, dim),
    samples=lambda make: [
        make.call(make(3, 4), 1, make.ints(3, 2, high=4), make(3, 2)),
    ],
)
define(
    "index_select(x, index; dim)",
    "y = the slices of x at index along dim;  ∂x = incoming added up at index",
    forward=lambda x, index, dim: np.take(x, index, dim),
    vjp={
        "x": lambda xp, incoming, index, x_shape, dim: xp.index_backward(
            incoming, index, x_shape, (dim,)
        )
    },
    linear=True,
    meta=lambda x, index, dim: ((*x.shape[:dim], *index.shape, *x.shape[dim + 1 :]), x.dtype),
    public=lambda input, dim, index: (input, index, dim),
    samples=lambda make: [make.call(make(3, 4), 1, make.ints(5, high=4))],
)
