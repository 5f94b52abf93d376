"""How far points lie from each other: all pairs of two sets, all pairs of one, two tensors.

In the Euclidean case neither the distances nor their gradients need the differences of all pairs,
which are larger than the result by the number of coordinates: a matrix product does both.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from whygrad.errors import describe, fail
from whygrad.ops.batching import aligned
from whygrad.ops.define import composite, define, table
from whygrad.ops.namespace import recorded
from whygrad.ops.reduction.moments import vector_lengths
from whygrad.tensor import Tensor

Array = Any

# PyTorch's: with fewer points the differences themselves are cheap, and more exact.
_FEW_POINTS = 25
# How many differences are held at a time.
_BLOCK = 1 << 22
_MODES = (
    "use_mm_for_euclid_dist_if_necessary",
    "use_mm_for_euclid_dist",
    "donot_use_mm_for_euclid_dist",
)


def _cdist(a: Array, b: Array, p: float, by_product: bool) -> Array:
    if p == 2 and by_product:
        squares = np.square(a).sum(-1)[..., :, None] + np.square(b).sum(-1)[..., None, :]
        inner = a @ np.swapaxes(b, -1, -2)
        return np.sqrt(np.maximum(squares - 2 * inner, 0))
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    y = np.empty((*batch, a.shape[-2], b.shape[-2]), a.dtype)
    per_row = max(math.prod(batch) * b.shape[-2] * b.shape[-1], 1)
    rows = max(_BLOCK // per_row, 1)
    for start in range(0, a.shape[-2], rows):
        part = a[..., start : start + rows, None, :] - b[..., None, :, :]
        y[..., start : start + rows, :] = vector_lengths(part, p, (part.ndim - 1,), False)
    return y


def _differences(xp: Any, a: Array, b: Array) -> Array:
    return xp.unsqueeze(a, -2) - xp.unsqueeze(b, -3)


def _slope(xp: Any, difference: Array, y: Array, p: float) -> Array:
    """∂y/∂a per coordinate, 0 for points that coincide."""
    far = xp.unsqueeze(y, -1)
    if p == 1:
        return xp.sign(difference)
    if math.isinf(p):
        return xp.where(xp.abs(difference) == far, xp.sign(difference), 0.0)
    safe = xp.where(far == 0, 1.0, far)
    size = xp.abs(difference)
    if p < 2:
        size = xp.where(difference == 0, 1.0, size)
    ratio = xp.sign(difference) * xp.pow(size, p - 1) * xp.pow(safe, 1 - p)
    return xp.where(far == 0, 0.0, ratio)


def _cdist_vjp(
    xp: Any,
    incoming: Array,
    a: Array,
    b: Array,
    y: Array,
    p: float,
    by_product: bool,
    needs: tuple[bool, ...],
) -> tuple[Array, Array]:
    if p == 0:
        return (
            a * 0.0 if needs[0] else None,
            b * 0.0 if needs[1] else None,
        )
    last = y.ndim  # of the differences
    if p == 2:
        weight = xp.where(y == 0, 0.0, incoming / xp.where(y == 0, 1.0, y))
        flipped = xp.transpose(weight, -2, -1)
        return (
            a * xp.sum(weight, (last - 1,), True) - xp.matmul(weight, b) if needs[0] else None,
            b * xp.sum(flipped, (last - 1,), True) - xp.matmul(flipped, a) if needs[1] else None,
        )
    pull = xp.unsqueeze(incoming, -1) * _slope(xp, _differences(xp, a, b), y, p)
    return (
        xp.sum(pull, (last - 1,), False) if needs[0] else None,
        -xp.sum(pull, (last - 2,), False) if needs[1] else None,
    )


def _cdist_jvp(
    xp: Any, tangents: Any, a: Array, b: Array, y: Array, p: float, by_product: bool
) -> Array:
    if p == 0:
        return xp.zeros_like(y)
    moved_a = None if tangents[0] is None else xp.unsqueeze(tangents[0], -2)
    moved_b = None if tangents[1] is None else xp.unsqueeze(tangents[1], -3)
    moved = moved_a if moved_b is None else -moved_b if moved_a is None else moved_a - moved_b
    return xp.sum(_slope(xp, _differences(xp, a, b), y, p) * moved, (y.ndim,), False)


def _cdist_meta(a: Array, b: Array, p: float, by_product: bool) -> Any:
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    return (*batch, a.shape[-2], b.shape[-2]), a.dtype


def _cdist_args(
    x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: str | None = _MODES[0]
) -> tuple[Any, ...]:
    """The p-norm distance of every row of ``x1`` from every row of ``x2``."""
    cause, fix = "", "pass stacks of points: (…, points, coordinates)"
    if not (x1.dtype.is_floating_point and x2.dtype.is_floating_point):
        cause, fix = "cdist only supports floating-point dtypes", "convert with .float()"
    elif x1.ndim < 2 or x2.ndim < 2:
        cause = "cdist only supports at least 2D tensors"
    elif x1.shape[-1] != x2.shape[-1]:
        cause = (
            f"X1 and X2 must have the same number of columns. X1: {x1.shape[-1]} X2: {x2.shape[-1]}"
        )
    elif p < 0:
        cause, fix = "cdist only supports non-negative p values", "pass p=2 for Euclidean distance"
    elif compute_mode is not None and compute_mode not in _MODES:
        cause, fix = f"{compute_mode} is not a valid value for compute_mode", "leave it out"
    if cause:
        kind: type[Exception] = ValueError if fix == "leave it out" else RuntimeError
        raise fail(
            kind,
            call=f"cdist({describe(x1)}, {describe(x2)}, p={p})",
            cause=cause,
            fix=fix,
        )
    mode = compute_mode or _MODES[0]
    many = max(x1.shape[-2], x2.shape[-2]) > _FEW_POINTS
    return x1, x2, float(p), mode == _MODES[1] or (mode == _MODES[0] and many)


define(
    "cdist(a, b; p, by_product)",
    "y[i, j] = |aᵢ − bⱼ| in the p-norm;  ∂y/∂a = sign(aᵢ − bⱼ)·|aᵢ − bⱼ|ᵖ⁻¹·y^(1−p),  ∂b = −∂a",
    forward=_cdist,
    vjp=_cdist_vjp,
    jvp=_cdist_jvp,
    promote="same",
    meta=_cdist_meta,
    batching=aligned,
    public=_cdist_args,
    method=False,
    subgradient="0 for points that coincide; for p = inf every coordinate that attains it",
    samples=lambda make: [
        make.call(make(3, 2), make(4, 2)),
        make.call(make(2, 3, 2), make(4, 2), 1.0),
        make.call(make(3, 2), make(2, 4, 2), p=3.0),
        make.call(make(2, 2), make(3, 2), p=1.5),
        make.call(make(3, 2), make(4, 2), p=float("inf")),
        make.call(make(3, 2), make(2, 2), 2.0, "use_mm_for_euclid_dist"),
        make.call(make(3, 2), make(0, 2)),
    ],
    autocast="float32",
)


def pdist(input: Tensor, p: float = 2.0) -> Tensor:
    """The p-norm distance of every pair of rows, as one vector: (0, 1), (0, 2), …, (1, 2), …"""
    if input.ndim != 2:
        raise fail(
            RuntimeError,
            call=f"pdist({describe(input)}, p={p})",
            cause=f"pdist only supports 2D tensors, got: {input.ndim}D",
            fix="pass one set of points, (points, coordinates); cdist takes stacks of them",
        )
    first, second = np.triu_indices(input.shape[0], 1)
    rows = [
        table["index_select"].public(input, 0, table["tensor"].public(each, device=input.device))
        for each in (first, second)
    ]
    pairs = table["cdist"].public(rows[0].unsqueeze(1), rows[1].unsqueeze(1), p)
    return pairs.reshape(-1)


def dist(input: Tensor, other: Tensor, p: float = 2) -> Tensor:
    """The p-norm of the difference of two tensors."""
    return table["norm"].public(recorded.sub(input, other), p)


composite(
    pdist,
    "y = |xᵢ − xⱼ| in the p-norm, for i < j",
    torch="nn.functional.pdist",
    samples=lambda make: [
        make.call(make(4, 3)),
        make.call(make(3, 2), 1.0),
        make.call(make(3, 2), p=2.5),
        make.call(make(1, 2)),
    ],
    autocast="keep",
)
composite(
    dist,
    "y = |a − b| in the p-norm",
    samples=lambda make: [
        make.call(make(3, 4), make(3, 4)),
        make.call(make(3, 4), make(4), 1),
        make.call(make(3), make(3), p=3.5),
    ],
)
