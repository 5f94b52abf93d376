"""Shape changes made from ``view`` and ``reshape``."""

from __future__ import annotations

from math import prod
from typing import Any

from whygrad.errors import describe, fail
from whygrad.ops.define import composite
from whygrad.ops.geometry import normalize_dim, shape_from
from whygrad.ops.shape.views import contiguous, reshape, view
from whygrad.tensor import Tensor
from whygrad.tensor.memory import resolve_shape


def view_as(input: Tensor, other: Tensor) -> Tensor:
    """``view`` in the shape of ``other``."""
    return view(input, other.shape)


def reshape_as(input: Tensor, other: Tensor) -> Tensor:
    """``reshape`` to the shape of ``other``."""
    return reshape(input, other.shape)


def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Merge the dimensions from ``start_dim`` to ``end_dim`` into one."""
    start = normalize_dim(start_dim, input.ndim, "flatten")
    end = normalize_dim(end_dim, input.ndim, "flatten")
    if start > end:
        raise fail(
            RuntimeError,
            call=f"flatten(start_dim={start_dim}, end_dim={end_dim}) of {describe(input)}",
            cause="flatten() has invalid args: start_dim cannot come after end_dim",
            fix="exchange the two",
        )
    if input.ndim == 0:
        return reshape(input, (1,))
    if start == end:
        return input
    shape = tuple(input.shape)
    merged = prod(shape[start : end + 1])
    return reshape(input, (*shape[:start], merged, *shape[end + 1 :]))


def unflatten(input: Tensor, dim: int, sizes: Any) -> Tensor:
    """Split one dimension into several."""
    dim = normalize_dim(dim, input.ndim, "unflatten")
    parts = shape_from((sizes,))
    shape = tuple(input.shape)
    try:
        if not parts:
            raise RuntimeError
        split = resolve_shape(parts, shape[dim])
    except RuntimeError:
        raise fail(
            RuntimeError,
            call=f"unflatten({describe(input)}, dim={dim}, sizes={parts})",
            cause=f"unflatten: Provided sizes {list(parts)} don't multiply up to the size of dim "
            f"{dim} ({shape[dim]}) in the input tensor"
            if parts
            else "unflatten: sizes must be non-empty",
            fix=f"choose sizes whose product is {shape[dim]}; one of them may be -1",
        ) from None
    return view(input, (*shape[:dim], *split, *shape[dim + 1 :]))


def ravel(input: Tensor) -> Tensor:
    """All elements in one dimension; a copy only if they do not lie in row-major order."""
    return view(contiguous(input), (-1,))


composite(
    view_as,
    "y = x in the shape of another tensor, same memory",
    torch="Tensor.view_as",
    samples=lambda make: [make.call(make(3, 4), make.constant(make(2, 6)))],
)
composite(
    reshape_as,
    "y = x in the shape of another tensor",
    torch="Tensor.reshape_as",
    samples=lambda make: [make.call(make(3, 4), make.constant(make(2, 6)))],
)


composite(
    flatten,
    "y = x with a range of dimensions merged into one",
    samples=lambda make: [
        make.call(make(2, 3, 2)),
        make.call(make(2, 3, 2), 1),
        make.call(make(2, 3, 2), 0, 1),
        make.call(make(2, 3), 1, 1),
        make.call(make()),
        make.call(make(2, 0)),
    ],
)
composite(
    unflatten,
    "y = x with one dimension split into several, same memory",
    samples=lambda make: [make.call(make(2, 6), 1, (2, 3)), make.call(make(6, 2), -2, (-1, 2))],
)
composite(
    ravel,
    "y = x in one dimension, a view if possible, else a copy",
    samples=lambda make: [make.call(make(2, 3)), make.call(make()), make.call(make(0, 2))],
)
