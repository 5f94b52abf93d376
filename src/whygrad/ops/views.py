"""Views: the same memory seen with another shape, strides or offset."""

from __future__ import annotations

from typing import Any

import numpy as np

from whygrad.ops.define import composite, define
from whygrad.ops.geometry import shape_from
from whygrad.tensor import Tensor

Array = Any
Shape = tuple[int, ...]


def _view(x: Array, shape: Shape) -> Array:
    return np.reshape(x, shape, copy=False)


def _view_args(input: Tensor, *shape: Any) -> Any:
    return input, shape_from(shape)


define(
    "view(x; shape)",
    "y = x in another shape, same memory;  ∂x = incoming in the shape of x",
    forward=_view,
    vjp={"x": lambda xp, incoming, x_shape: xp.reshape(incoming, x_shape)},
    kind="view",
    linear=True,
    public=_view_args,
    torch="Tensor.view",
    samples=lambda make: [make.call(make(3, 4), 2, 6), make.call(make(3, 4), -1)],
)
define(
    "expand(x; shape)",
    "y = x repeated along new or size-1 dimensions, no copy;  ∂x = Σ incoming over the copies",
    forward=lambda x, shape: np.broadcast_to(x, shape),
    vjp={"x": lambda xp, incoming: incoming},
    kind="view",
    linear=True,
    public=lambda input, *sizes: (input, shape_from(sizes)),
    torch="Tensor.expand",
    samples=lambda make: [make.call(make(3, 1), 3, 4), make.call(make(2), 3, 2)],
)


def reshape(input: Tensor, *shape: Any) -> Tensor:
    """The elements in another shape: a view when strides allow it, a copy otherwise."""
    target = shape_from(shape)
    try:
        return input.view(target)
    except RuntimeError:
        return input.clone().view(target)


composite(
    reshape,
    "y = x in another shape, a view if possible, else a copy",
    kernel=np.reshape,
    samples=lambda make: [make.call(make(3, 4), (2, 6)), make.call(make(3, 4), (-1,))],
)
define(
    "clone(x)",
    "y = a copy of x;  ∂y/∂x = 1",
    forward=lambda x: x.copy(order="K"),
    vjp={"x": lambda xp, incoming: incoming},
    linear=True,
    meta=lambda x: (x.shape, x.dtype),
    samples=lambda make: [make.call(make(3, 4)), make.call(make())],
)


def _slice(x: Array, index: tuple[Any, ...]) -> Array:
    # an Ellipsis keeps NumPy from answering with a scalar, which would be a copy
    return x[index] if Ellipsis in index else x[(*index, Ellipsis)]


def _slice_backward(x: Array, shape: Shape, index: tuple[Any, ...]) -> Array:
    whole = np.zeros(shape, x.dtype)
    whole[index] = x
    return whole


define(
    "slice(x; index)",
    "y = x[index], index of integers, slices, None and Ellipsis;  ∂x = incoming at index, else 0",
    forward=_slice,
    vjp={
        "x": lambda xp, incoming, x_shape, index: xp.slice_backward(incoming, x_shape, index),
    },
    kind="view",
    linear=True,
    method=False,
    torch="Tensor.__getitem__",
    samples=lambda make: [
        make.call(make(3, 4), (1,)),
        make.call(make(3, 4), (slice(None, None, 2), slice(1, 3))),
        make.call(make(3, 4), (Ellipsis, None, 0)),
        make.call(make(3), (2,)),
        make.call(make(3), (slice(2, 2),)),
    ],
)
define(
    "slice_backward(x; shape, index)",
    "y = 0 in the given shape, with x written at index;  ∂x = incoming[index]",
    forward=_slice_backward,
    vjp={"x": lambda xp, incoming, index: xp.slice(incoming, index)},
    linear=True,
    method=False,
    meta=lambda x, shape, index: (shape, x.dtype),
    torch="",
    samples=lambda make: [
        make.call(make(4), (3, 4), (1,)),
        make.call(make(2, 2), (3, 4), (slice(None, None, 2), slice(1, 3))),
    ],
)
