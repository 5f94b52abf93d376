"""Softmax and its relatives, stable for any logits: the largest is subtracted first."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from whygrad.ops.activation.smooth import ONLY_FLOATS
from whygrad.ops.batching import shift_dims
from whygrad.ops.define import composite, define
from whygrad.ops.geometry import dims_or_all
from whygrad.ops.namespace import on_arrays, raw
from whygrad.ops.totals import add_up
from whygrad.ops.undefined import UNMASKED_ROW
from whygrad.tensor import Tensor, dtypes

__all__ = [
    "below_the_largest",
    "log_softmax_backward",
    "log_softmax_kernel",
    "softmax_backward",
    "softmax_kernel",
    "softmin",
]

Array = Any
Dims = tuple[int, ...]


def softmax_kernel(x: Array, dim: Dims) -> Array:
    out = below_the_largest(x, dim)
    np.exp(out, out)
    out /= add_up(out, dim, True)
    return out


def log_softmax_kernel(x: Array, dim: Dims) -> Array:
    out = below_the_largest(x, dim)
    out -= np.log(add_up(np.exp(out), dim, True))
    return out


def below_the_largest(x: Array, dim: Dims) -> Array:
    largest = np.maximum.reduce(x, dim, keepdims=True, initial=-np.inf)
    return np.subtract(x, largest, out=np.empty(x.shape, x.dtype))


def _softmax_rule(xp: Any, incoming: Array, y: Array, dim: Dims) -> Array:
    if xp is raw:
        return xp.softmax_backward(incoming, y, dim)
    weighted = incoming * y
    return weighted - y * xp.sum(weighted, dim, True)


@on_arrays
def softmax_backward(incoming: Array, y: Array, dim: Dims) -> Array:
    """The rule of ordinary backward, in place."""
    weighted = incoming * y
    weighted -= y * add_up(weighted, dim, True)
    return weighted


def _log_softmax_rule(xp: Any, incoming: Array, y: Array, dim: Dims) -> Array:
    if xp is raw:
        return xp.log_softmax_backward(incoming, y, dim)
    return incoming - xp.exp(y) * xp.sum(incoming, dim, True)


@on_arrays
def log_softmax_backward(incoming: Array, y: Array, dim: Dims) -> Array:
    """The rule of ordinary backward, in place."""
    gradient = np.exp(y, out=np.empty_like(y))
    gradient *= add_up(incoming, dim, True)
    return np.subtract(incoming, gradient, gradient)


def _log_softmax_jvp(xp: Any, tangents: Any, y: Array, dim: Dims) -> Array:
    (tangent,) = tangents
    return tangent - xp.sum(xp.exp(y) * tangent, dim, True)


def _arguments(input: Tensor, dim: int | None, dtype: Any, name: str) -> Any:
    if dtype is not None:
        input = input.to(dtypes.of(dtype))
    if dim is None:
        dim = 0 if input.ndim in (0, 1, 3) else 1
        warnings.warn(
            f"Implicit dimension choice for {name} has been deprecated. "
            f"Change the call to include dim={dim} as an argument.",
            stacklevel=4,
        )
    return input, dims_or_all(dim, input.ndim, name)


def _softmax_args(input: Tensor, dim: int | None = None, dtype: Any = None) -> Any:
    """Positive numbers that sum to 1 along ``dim``, in the proportions of exp(x)."""
    return _arguments(input, dim, dtype, "softmax")


def _log_softmax_args(input: Tensor, dim: int | None = None, dtype: Any = None) -> Any:
    """log(softmax(x)), without ever forming the softmax."""
    return _arguments(input, dim, dtype, "log_softmax")


def _samples(make: Any) -> list[Any]:
    return [
        make.call(make(3, 4), 1),
        make.call(make(3, 4), 0),
        make.call(make(2, 3, 2), dim=-2),
        make.call(make(), 0),
        make.call(make(0, 3), 0),
        make.call(make(3, 0), 0),
        make.call(make(5), -1, dtype=dtypes.float64),
        make.call(make.ints(2, 3), 1, dtype=dtypes.float64),
        make.call(make(2, 3, low=-1e4, high=1e4), 1),
    ]


define(
    "softmax(x; dim)",
    "y = exp(x) / Σ exp(x) over dim;  ∂x = y·(incoming − Σ incoming·y)",
    complex_rule="holomorphic",
    image=(0.0, 1.0),
    undefined=UNMASKED_ROW,
    forward=softmax_kernel,
    vjp={"x": _softmax_rule},
    jvp=lambda xp, tangents, y, dim: _softmax_rule(xp, tangents[0], y, dim),
    meta=lambda x, dim: (x.shape, x.dtype),
    batching=shift_dims("dim"),
    refuses=ONLY_FLOATS,
    public=_softmax_args,
    samples=_samples,
)
define(
    "log_softmax(x; dim)",
    "y = x − log Σ exp(x) over dim;  ∂x = incoming − exp(y)·Σ incoming",
    complex_rule="holomorphic",
    image=(-np.inf, 0.0),
    undefined=UNMASKED_ROW,
    forward=log_softmax_kernel,
    vjp={"x": _log_softmax_rule},
    jvp=_log_softmax_jvp,
    meta=lambda x, dim: (x.shape, x.dtype),
    batching=shift_dims("dim"),
    refuses=ONLY_FLOATS,
    public=_log_softmax_args,
    samples=_samples,
)


def softmin(input: Tensor, dim: int | None = None, dtype: Any = None) -> Tensor:
    """Softmax of −x: the smallest number gets the largest share."""
    return (-input).softmax(dim, dtype)


composite(
    softmin,
    "y = softmax(−x)",
    torch="nn.functional.softmin",
    samples=lambda make: [
        make.call(make(3, 4), 1),
        make.call(make(2, 3, 2), dim=-2),
        make.call(make(), 0),
        make.call(make(5), 0, dtype=dtypes.float64),
    ],
)
