"""Many numbers into fewer."""

from __future__ import annotations

from typing import Any

import numpy as np

from whygrad import dtypes
from whygrad.ops.define import define
from whygrad.ops.geometry import dims_or_all
from whygrad.tensor import Tensor

Array = Any
Dims = tuple[int, ...]


def spread(xp: Any, reduced: Array, shape: tuple[int, ...], dim: Dims, keepdim: bool) -> Array:
    """Copy a reduced value back over the dimensions it was reduced from (as a view)."""
    if not keepdim:
        kept = tuple(1 if axis in dim else size for axis, size in enumerate(shape))
        reduced = xp.view(reduced, kept)
    return xp.expand(reduced, shape)


def reduced_shape(shape: tuple[int, ...], dim: Dims, keepdim: bool) -> tuple[int, ...]:
    if keepdim:
        return tuple(1 if axis in dim else size for axis, size in enumerate(shape))
    return tuple(size for axis, size in enumerate(shape) if axis not in dim)


def _sum_args(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    if dtype is not None:
        input = input.to(dtypes.of(dtype))
    elif input.dtype.category <= dtypes.INTEGER:
        input = input.to(dtypes.int64)
    return input, dims_or_all(dim, input.ndim, "sum"), keepdim


define(
    "sum(x; dim, keepdim)",
    "y = Σ x over dim;  ∂y/∂x = 1",
    forward=lambda x, dim, keepdim: np.add.reduce(x, axis=dim, keepdims=keepdim),
    vjp={
        "x": lambda xp, incoming, x_shape, dim, keepdim: spread(xp, incoming, x_shape, dim, keepdim)
    },
    kind="reduction",
    linear=True,
    meta=lambda x, dim, keepdim: (reduced_shape(x.shape, dim, keepdim), x.dtype),
    public=_sum_args,
    samples=lambda make: [
        make.call(make(3, 4)),
        make.call(make(3, 4), 1),
        make.call(make(2, 3, 4), (0, -1), keepdim=True),
        make.call(make()),
        make.call(make(0, 3), 0),
    ],
)
