"""The linear map behind every way of resizing, and its adjoint."""

from __future__ import annotations

from typing import Any

import numpy as np

from whygrad.ops.batching import leading_dims
from whygrad.ops.define import define
from whygrad.ops.resampling.taps import taps

__all__ = ["resample"]

Array = Any
Shape = tuple[int, ...]
Scales = tuple[float | None, ...]


def _resample(
    x: Array, sizes: Shape, mode: str, align_corners: bool, scales: Scales, antialias: bool
) -> Array:
    for dim, (count, scale) in enumerate(zip(sizes, scales, strict=True), x.ndim - len(sizes)):
        index, weights = taps(x.shape[dim], count, mode, align_corners, scale, antialias)
        if len(index) == 1:
            x = np.take(x, index[0], dim)
            continue
        after = (1,) * (x.ndim - dim - 1)
        weights = weights.astype(x.dtype).reshape(len(index), count, *after)
        whole = np.take(x, index[0], dim) * weights[0]
        for places, share in zip(index[1:], weights[1:], strict=True):
            whole += np.take(x, places, dim) * share
        x = whole
    return np.ascontiguousarray(x)


def _resample_backward(
    x: Array, shape: Shape, mode: str, align_corners: bool, scales: Scales, antialias: bool
) -> Array:
    for dim in reversed(range(len(shape) - len(scales), len(shape))):
        count, scale = x.shape[dim], scales[dim - len(shape)]
        index, weights = taps(shape[dim], count, mode, align_corners, scale, antialias)
        whole = np.zeros((*x.shape[:dim], shape[dim], *x.shape[dim + 1 :]), x.dtype)
        before: tuple[Any, ...] = (slice(None),) * dim
        after = (1,) * (x.ndim - dim - 1)
        for places, share in zip(index, weights.astype(x.dtype), strict=True):
            part = x if len(index) == 1 else x * share.reshape(count, *after)
            reached, starts = np.unique(places, return_index=True)
            whole[(*before, reached)] += np.add.reduceat(part, starts, dim, dtype=x.dtype)
        x = whole
    return x


def _sized(x: Array, sizes: Shape) -> Shape:
    return (*x.shape[: len(x.shape) - len(sizes)], *sizes)


resample = define(
    "resample(x; sizes, mode, align_corners, scales, antialias)",
    "y = Σ weights · x over the taps of every output;  ∂x = incoming, spread over the taps",
    forward=_resample,
    vjp={
        "x": lambda xp, incoming, x_shape, mode, align_corners, scales, antialias: (
            xp.resample_backward(incoming, x_shape, mode, align_corners, scales, antialias)
        )
    },
    linear=True,
    meta=lambda x, sizes, *_: (_sized(x, sizes), x.dtype),
    batching=leading_dims,
    internal=True,
    samples=lambda make: [
        make.call(make(2, 3), (5,), "linear", False, (None,), False),
        make.call(make(4, 3), (2, 5), "cubic", False, (None, 1.7), False),
        make.call(make(5, 3), (2, 2), "cubic", False, (None, None), True),
        make.call(make(4, 3), (6, 2), "nearest", False, (None, None), False),
    ],
).call
define(
    "resample_backward(x; shape, mode, align_corners, scales, antialias)",
    "y = x, every element spread over the taps it was made of;  ∂x = incoming resampled",
    forward=_resample_backward,
    vjp={
        "x": lambda xp, incoming, x_shape, mode, align_corners, scales, antialias: xp.resample(
            incoming, x_shape[len(x_shape) - len(scales) :], mode, align_corners, scales, antialias
        )
    },
    linear=True,
    meta=lambda x, shape, *_: (shape, x.dtype),
    batching=lambda xp, x, shape, mode, align_corners, scales, antialias, batch: (
        xp.resample_backward(x, (batch, *shape), mode, align_corners, scales, antialias)
    ),
    internal=True,
    samples=lambda make: [
        make.call(make(2, 5), (2, 3), "linear", True, (None,), False),
        make.call(make(2, 5), (4, 3), "cubic", False, (None, None), True),
        make.call(make(6, 2), (4, 3), "nearest-exact", False, (None, None), False),
    ],
)
