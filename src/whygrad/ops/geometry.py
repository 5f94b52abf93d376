"""Normalising dimensions and shapes the way PyTorch does, shared by every family."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from whygrad.errors import fail

__all__ = ["dims_or_all", "normalize_dim", "normalize_dims", "shape_from"]


def normalize_dim(dim: Any, ndim: int, call: str = "this op") -> int:
    """A dimension counted from the front; 0-d tensors accept 0 and −1, as in PyTorch."""
    try:
        position = operator.index(dim)
    except TypeError:
        raise fail(
            TypeError,
            call=f"{call}: dim={dim!r}",
            cause=f"dim must be an integer, not {type(dim).__name__}",
            fix="pass the position of a dimension, such as 0 or -1",
        ) from None
    reach = max(ndim, 1)
    if not -reach <= position < reach:
        raise fail(
            IndexError,
            call=f"{call}: dim={position} on a tensor with {ndim} dimensions",
            cause=f"Dimension out of range (expected to be in range of [{-reach}, {reach - 1}], "
            f"but got {position})",
            fix="count dimensions from 0, or from -1 backwards",
        )
    return position % reach


def normalize_dims(dims: Any, ndim: int, call: str = "this op") -> tuple[int, ...]:
    """One or several dimensions, each counted from the front, none twice."""
    if not isinstance(dims, (tuple, list)):
        return (normalize_dim(dims, ndim, call),)
    result = tuple(normalize_dim(dim, ndim, call) for dim in dims)
    if len(set(result)) != len(result):
        raise fail(
            RuntimeError,
            call=f"{call}: dim={tuple(dims)}",
            cause="a dimension appears multiple times in the list of dims",
            fix="name every dimension once",
        )
    return result


def dims_or_all(dims: Any, ndim: int, call: str = "this op") -> tuple[int, ...]:
    """Like ``normalize_dims``; None and the empty tuple mean all dimensions."""
    if dims is None or (isinstance(dims, (tuple, list)) and not dims):
        return tuple(range(ndim))
    dims = normalize_dims(dims, ndim, call)
    return dims if ndim else ()


def shape_from(sizes: tuple[Any, ...]) -> tuple[int, ...]:
    """Accept ``view(2, 3)`` and ``view((2, 3))``."""
    if len(sizes) == 1 and isinstance(sizes[0], Sequence):
        sizes = tuple(sizes[0])
    return tuple(map(operator.index, sizes))
