"""What ops have in common whose result is an element of their input: max, sort, median, …

Either such an op knows which element it chose (``indices``), and that one gets the whole gradient;
or it only knows the value, and every element equal to it gets an even share.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from whygrad.errors import describe, fail
from whygrad.ops.batching import shift_dims
from whygrad.ops.define import Op, define
from whygrad.ops.reduction.shared import count, reduced_shape
from whygrad.tensor import Tensor

__all__ = [
    "INDEX",
    "NO_ORDER",
    "chosen_jvp",
    "chosen_vjp",
    "declare_along",
    "declare_of_all",
    "one_per_lane",
    "refuse_empty",
    "share_among_tied",
    "tied_average",
]

Array = Any
Dims = tuple[int, ...]
Shape = tuple[int, ...]

INDEX = np.dtype("int64")
NO_ORDER = {"complex": ("complex numbers have no order", "compare x.abs() instead")}


def chosen_vjp(xp: Any, incoming: Any, indices: Array, x_shape: Shape, dim: int) -> Array:
    """Each gradient to the element that was chosen, zero to the others."""
    of_values, _ = incoming
    if not x_shape:
        return of_values
    if indices.ndim < len(x_shape):
        of_values, indices = xp.unsqueeze(of_values, dim), xp.unsqueeze(indices, dim)
    return xp.scatter_add(xp.new_zeros(of_values, x_shape), indices, of_values, dim)


def chosen_jvp(xp: Any, tangents: Any, indices: Array, dim: int) -> tuple[Array, None]:
    """The tangents of the elements that were chosen."""
    (of_x,) = tangents
    if not of_x.ndim:
        return of_x, None
    if indices.ndim < of_x.ndim:
        return xp.squeeze(xp.gather(of_x, xp.unsqueeze(indices, dim), dim), (dim,)), None
    return xp.gather(of_x, indices, dim), None


def one_per_lane(find: Callable[..., Array]) -> Callable[..., tuple[Array, Array]]:
    """A kernel from ``find(x, dim, …)``, which gives one index per lane and keeps the dimension."""

    def kernel(x: Array, dim: int, keepdim: bool, *params: Any) -> tuple[Array, Array]:
        if not x.ndim:
            return x.copy(), np.zeros((), INDEX)
        if x.size:
            indices = find(x, dim, *params)
        else:
            indices = np.zeros(reduced_shape(x.shape, (dim,), True), INDEX)
        values = np.take_along_axis(x, indices, dim)
        return (values, indices) if keepdim else (values.squeeze(dim), indices.squeeze(dim))

    return kernel


def declare_along(signature: str, formula: str, find: Callable[..., Array], **row: Any) -> Op:
    """One element of every lane along a dimension, and its index, which gets the gradient."""

    def meta(x: Array, dim: int, keepdim: bool, *_: Any) -> Any:
        shape = reduced_shape(x.shape, (dim,), keepdim)
        return [(shape, x.dtype), (shape, INDEX)]

    return define(
        signature,
        formula,
        forward=one_per_lane(find),
        vjp={"x": chosen_vjp},
        jvp=chosen_jvp,
        kind="reduction",
        outputs=("values", "indices"),
        meta=meta,
        batching=shift_dims("dim"),
        refuses=NO_ORDER,
        **row,
    )


def share_among_tied(xp: Any, incoming: Array, tied: Array, x: Array, dim: Dims) -> Array:
    """The gradient in equal parts to the tied elements; ``incoming`` has kept its dims."""
    weight = tied * xp.ones_like(x)
    return incoming / xp.sum(weight, dim, True) * weight


def tied_average(xp: Any, tangent: Array, tied: Array, dim: Dims, keepdim: bool) -> Array:
    """The forward counterpart: the mean tangent of the tied elements."""
    weight = tied * xp.ones_like(tangent)
    return xp.sum(weight * tangent, dim, keepdim) / xp.sum(weight, dim, keepdim)


def _equal_or_both_nan(xp: Any, x: Array, y: Array) -> Array:
    return xp.where(y != y, x != x, x == y)


def _of_all_vjp(xp: Any, incoming: Array, x: Array, y: Array) -> Array:
    everything = tuple(range(x.ndim))
    return share_among_tied(xp, incoming, _equal_or_both_nan(xp, x, y), x, everything)


def _of_all_jvp(xp: Any, tangents: Any, x: Array, y: Array) -> Array:
    everything = tuple(range(x.ndim))
    return tied_average(xp, tangents[0], _equal_or_both_nan(xp, x, y), everything, False)


def declare_of_all(
    name: str, formula: str, kernel: Callable[[Array], Array], batching: Any = None
) -> None:
    """``{name}_of_all``: one element out of all of them; ties share the gradient."""
    define(
        f"{name}_of_all(x)",
        formula,
        forward=kernel,
        vjp={"x": _of_all_vjp},
        jvp=_of_all_jvp,
        kind="reduction",
        meta=lambda x: ((), x.dtype),
        batching=batching,
        internal=True,
        torch=name,
        refuses=NO_ORDER,
        subgradient="tied elements share evenly",
        kinks={"x": (1.0,)},
        samples=lambda make: [
            make.call(make.distinct(3, 4)),
            make.call(make.distinct(5)),
            make.call(make()),
        ],
    )


def refuse_empty(name: str, input: Tensor, dim: Dims, full: bool) -> None:
    """There is no largest, middle or most common element of nothing."""
    if count(input.shape, dim):
        return
    if full:
        raise fail(
            IndexError if name in ("argmax", "argmin") else RuntimeError,
            call=f"{name}() of {describe(input)}",
            cause=f"{name}(): Expected reduction dim to be specified for input.numel() == 0",
            fix="reduce over a dimension that is not empty with the 'dim' argument",
        )
    empty = next(axis for axis in dim if input.shape[axis] == 0)
    raise fail(
        IndexError,
        call=f"{name}(dim={dim if len(dim) > 1 else dim[0]}) of {describe(input)}",
        cause=f"{name}(): Expected reduction dim {empty} to have non-zero size",
        fix="skip empty batches, or reduce over another dimension",
    )
