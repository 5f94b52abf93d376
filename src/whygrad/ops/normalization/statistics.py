"""The derivative of standardizing, which layer norm and batch norm share.

Both compute x̂ = (x − mean)/√(var + ε) over some dimensions, then scale and shift it.  Mean and
variance are results of those ops, so a node saves them instead of computing them again; when the
rule is recorded in turn, whatever depends on them arrives as their own gradient.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from whygrad.errors import describe, fail
from whygrad.ops.totals import add_rows, dot_rows, equal_lanes
from whygrad.tensor import Tensor, dtypes

__all__ = ["MixedPrecision", "check_dtype", "only_from_first", "pull", "push", "standardized_rows"]

Array = Any
Dims = tuple[int, ...]


def standardized_rows(rows: Array, eps: float) -> tuple[Array, Array, Array]:
    """The rows of a matrix with mean 0 and variance 1; their means and variances, as columns."""
    count = rows.shape[1]
    mean = add_rows(rows)[:, None]
    mean /= count
    out = rows - mean
    var = dot_rows(out, out)[:, None]
    var /= count
    equal = equal_lanes(rows, mean, var, (1,))
    if equal is not None:
        mean = np.where(equal, rows[:, :1], mean)
        var[equal] = 0.0
        np.copyto(out, 0.0, where=equal)
    out *= 1.0 / np.sqrt(var + eps)
    return out, mean, var


def pull(
    xp: Any, incoming: Any, x: Array, scale: Array | None, mean: Array, var: Array,
    dims: Dims, eps: float,
) -> tuple[Array, Array | None]:  # fmt: skip
    """The gradient of x, and what x̂ contributes to that of the scale (not summed)."""
    from_y, from_mean, from_var = incoming
    count = max(prod(x.shape[dim] for dim in dims), 1)
    centered = x - mean
    gradient, of_scale = xp.zeros_like(x), None
    if from_y is not None:
        spread = xp.rsqrt(var + eps)
        standard = centered * spread
        of_scale = from_y * standard
        wanted = from_y if scale is None else from_y * scale
        along = xp.mean(wanted * standard, dims, True)
        gradient = spread * (wanted - xp.mean(wanted, dims, True) - standard * along)
    if from_mean is not None:
        gradient = gradient + from_mean / count
    if from_var is not None:
        gradient = gradient + centered * from_var * (2.0 / count)
    return gradient, of_scale


def only_from_first(incoming: tuple[Any, ...]) -> bool:
    """Whether a gradient comes from y and none from the statistics: every ordinary backward."""
    return incoming[0] is not None and all(each is None for each in incoming[1:])


def push(
    xp: Any, tangents: Any, x: Array, scale: Array | None, mean: Array, var: Array,
    dims: Dims, eps: float,
) -> tuple[Array, Array, Array]:  # fmt: skip
    """Tangents of y, mean and variance; those of scale and shift come in a shape that fits x."""
    x_tangent, scale_tangent, shift_tangent = tangents
    centered, spread = x - mean, xp.rsqrt(var + eps)
    if x_tangent is None:
        x_tangent = xp.zeros_like(x)
    of_mean = xp.mean(x_tangent, dims, True)
    of_var = 2.0 * xp.mean(centered * x_tangent, dims, True)
    of_y = spread * (x_tangent - of_mean - 0.5 * centered * spread * spread * of_var)
    if scale is not None:
        of_y = of_y * scale
    if scale_tangent is not None:
        of_y = of_y + centered * spread * scale_tangent
    if shift_tangent is not None:
        of_y = of_y + shift_tangent
    return of_y, of_mean, of_var


class MixedPrecision(Exception):
    """The input is in half precision, and all that goes with it in float32: compute in float32."""


def check_dtype(name: str, input: Tensor, **vectors: Tensor | None) -> None:
    """Parameters and statistics in another precision than the input are an oversight.

    Except for a layer in float32 that gets a half precision input, as inside ``autocast``.
    """
    if input.dtype in (dtypes.float16, dtypes.bfloat16):
        others = {each.dtype for each in vectors.values() if each is not None}
        if others == {dtypes.float32}:
            raise MixedPrecision
    for label, vector in vectors.items():
        if vector is not None and vector.dtype is not input.dtype:
            raise fail(
                RuntimeError,
                call=f"{name}(input: {describe(input)}, {label}: {describe(vector)})",
                cause=f"mixed dtype: expect {label} to have the dtype of the input, "
                f"{input.dtype.name}, but it has {vector.dtype.name}",
                fix=f"convert the input, input.to({vector.dtype}), or the whole model",
            )
