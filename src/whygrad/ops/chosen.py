"""Rules shared by ops whose result is one of their inputs' elements: max, sort, median, …

Either the op knows which element it chose (``indices``), and that one gets the whole gradient; or
it only knows the value, and every element equal to it gets an even share.
"""

from __future__ import annotations

import math
from typing import Any

from whygrad.autograd.source import caller
from whygrad.errors import fail
from whygrad.tensor import Tensor

__all__ = [
    "INDICES_DTYPE",
    "at_chosen",
    "refuse_empty",
    "share_among_tied",
    "tied_average",
    "to_chosen",
]

Array = Any
INDICES_DTYPE = "int64"


def to_chosen(xp: Any, incoming: Array, indices: Array, shape: Any, dim: int) -> Array:
    """Each gradient to the element that was chosen, zero to the others."""
    if not shape:
        return incoming
    if indices.ndim < len(shape):
        incoming, indices = xp.unsqueeze(incoming, dim), xp.unsqueeze(indices, dim)
    return xp.scatter_add(xp.new_zeros(incoming, shape), indices, incoming, dim)


def at_chosen(xp: Any, x: Array, indices: Array, dim: int) -> Array:
    """The elements of ``x`` that were chosen; also without the dimension they came from."""
    if not x.ndim:
        return x
    if indices.ndim < x.ndim:
        return xp.squeeze(xp.gather(x, xp.unsqueeze(indices, dim), dim), (dim,))
    return xp.gather(x, indices, dim)


def share_among_tied(
    xp: Any, incoming: Array, tied: Array, x: Array, dim: tuple[int, ...]
) -> Array:
    """The gradient in equal parts to the tied elements; ``incoming`` has kept its dims."""
    weight = tied * xp.ones_like(x)
    return incoming / xp.sum(weight, dim, True) * weight


def tied_average(
    xp: Any, tangent: Array, tied: Array, dim: tuple[int, ...], keepdim: bool
) -> Array:
    """The forward counterpart: the mean tangent of the tied elements."""
    weight = tied * xp.ones_like(tangent)
    return xp.sum(weight * tangent, dim, keepdim) / xp.sum(weight, dim, keepdim)


def refuse_empty(name: str, input: Tensor, dim: tuple[int, ...], full: bool) -> None:
    """There is no largest, middle or most common element of nothing."""
    shape = input.shape
    if math.prod(shape[axis] for axis in dim):
        return
    if full:
        raise fail(
            RuntimeError,
            call=f"{name}() of a tensor of shape {shape}",
            cause=f"{name}(): Expected reduction dim to be specified for input.numel() == 0",
            fix="reduce over a dimension that is not empty with the 'dim' argument",
            where=caller(),
        )
    empty = next(axis for axis in dim if shape[axis] == 0)
    raise fail(
        IndexError,
        call=f"{name}(dim={dim if len(dim) > 1 else dim[0]}) of a tensor of shape {shape}",
        cause=f"{name}(): Expected reduction dim {empty} to have non-zero size",
        fix="skip empty batches, or reduce over another dimension",
        where=caller(),
    )
