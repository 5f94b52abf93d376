"""Sorting, and elements picked by their rank.

Sorting is always stable, so equal elements keep their order whether or not that was asked for.
NaN counts as larger than every number, as in PyTorch.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from whygrad.errors import describe, fail
from whygrad.ops.batching import shift_dims
from whygrad.ops.define import define, public_form, table
from whygrad.ops.geometry import normalize_dim
from whygrad.ops.public import return_types
from whygrad.ops.reduction.chosen import (
    INDEX,
    NO_ORDER,
    chosen_jvp,
    chosen_vjp,
    declare_along,
    declare_of_all,
    refuse_empty,
)
from whygrad.ops.reduction.shared import operand

Array = Any


def _order(x: Array, dim: int, descending: bool) -> Array:
    """The positions of the elements of each lane, smallest (or largest) first."""
    if not x.ndim:
        return np.zeros((), INDEX)
    if not descending:
        return np.argsort(x, axis=dim, kind="stable")
    backwards = np.argsort(np.flip(x, dim), axis=dim, kind="stable")
    return x.shape[dim] - 1 - np.flip(backwards, dim)


def _take(x: Array, indices: Array, dim: int) -> Array:
    return np.take_along_axis(x, indices, dim) if x.ndim else x.copy()


def _sort(x: Array, dim: int, descending: bool) -> tuple[Array, Array]:
    indices = _order(x, dim, descending)
    return _take(x, indices, dim), indices


def _order_samples(make: Any) -> Any:
    return [
        make.call(make.distinct(3, 4)),
        make.call(make.distinct(3, 4), 0),
        make.call(make.distinct(2, 3, 2), dim=-2, descending=True),
        make.call(make.ints(8, high=3), stable=True),
        make.call(make.ints(8, high=3), stable=True, descending=True),
        make.call(make.constant(np.array([1.0, np.nan, 0.0, np.nan, 2.0]))),
        make.call(make.constant(np.array([1.0, np.nan, 0.0, np.nan, 2.0])), descending=True),
        make.call(make()),
        make.call(make(0, 3), 0),
    ]


_sort_op = define(
    "sort(x; dim, descending)",
    "values = x in order along dim, taken from indices;  ∂x = incoming put back at indices",
    forward=_sort,
    vjp={"x": chosen_vjp},
    jvp=chosen_jvp,
    outputs=("values", "indices"),
    meta=lambda x, dim, descending: [(x.shape, x.dtype), (x.shape, INDEX)],
    batching=shift_dims("dim"),
    refuses=NO_ORDER,
    subgradient="tied elements keep their order",
    samples=_order_samples,
)


@public_form(_sort_op)
def _sort_public(
    input: Any, dim: int = -1, descending: bool = False, *, stable: bool | None = None
) -> Any:
    """The elements in order along ``dim``, as a named tuple ``(values, indices)``."""
    input = operand(input)
    axis = normalize_dim(dim, input.ndim, "sort")
    return return_types.sort(*_sort_op.call(input, axis, bool(descending)))


def _argsort_args(
    input: Any, dim: int = -1, descending: bool = False, *, stable: bool | None = None
) -> Any:
    input = operand(input)
    return input, normalize_dim(dim, input.ndim, "argsort"), bool(descending)


define(
    "argsort(x; dim, descending)",
    "y = the positions that put x in order along dim",
    forward=_order,
    vjp=None,
    meta=lambda x, dim, descending: (x.shape, INDEX),
    batching=shift_dims("dim"),
    public=_argsort_args,
    refuses=NO_ORDER,
    samples=_order_samples,
)


def _topk(x: Array, k: int, dim: int, largest: bool) -> tuple[Array, Array]:
    if not x.ndim:
        return x.copy(), np.zeros((), INDEX)
    size = x.shape[dim]
    if k < size:
        split = size - k if largest else k
        part = np.argpartition(x, min(split, size - 1), axis=dim)
        indices = np.take(part, np.arange(split, size) if largest else np.arange(k), axis=dim)
        indices.sort(axis=dim)  # so that ties come out in order of position
    else:
        indices = np.broadcast_to(
            np.arange(size).reshape((-1,) + (1,) * (x.ndim - 1 - dim)), x.shape
        )
    order = _order(_take(x, indices, dim), dim, largest)
    indices = np.take_along_axis(indices, order, dim)
    return _take(x, indices, dim), indices


def _topk_meta(x: Array, k: int, dim: int, largest: bool) -> Any:
    shape = (*x.shape[:dim], k, *x.shape[dim + 1 :]) if x.ndim else ()
    return [(shape, x.dtype), (shape, INDEX)]


_topk_op = define(
    "topk(x; k, dim, largest)",
    "values = the k largest (smallest) x along dim, at indices;  ∂x = incoming put back there",
    forward=_topk,
    vjp={"x": chosen_vjp},
    jvp=chosen_jvp,
    outputs=("values", "indices"),
    meta=_topk_meta,
    batching=shift_dims("dim"),
    refuses=NO_ORDER,
    subgradient="which of several tied elements is taken is not specified",
    samples=lambda make: [
        make.call(make.distinct(3, 4), 2),
        make.call(make.distinct(3, 4), 1, 0, largest=False),
        make.call(make.distinct(2, 5, 2), k=3, dim=-2),
        make.call(make.distinct(3, 4), 4),
        make.call(make.distinct(3, 4), 0),
        make.call(make.distinct(7), 3, 0, False, True),
        make.call(make(), 1),
        make.call(make(2, 0), 0),
    ],
)


@public_form(_topk_op)
def _topk_public(
    input: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> Any:
    """The ``k`` largest or smallest along ``dim``, best first, as ``(values, indices)``."""
    input = operand(input)
    k, axis = operator.index(k), normalize_dim(dim, input.ndim, "topk")
    size = input.shape[axis] if input.ndim else 1
    if not 0 <= k <= size:
        raise fail(
            RuntimeError,
            call=f"topk(k={k}, dim={dim}) of {describe(input)}",
            cause="selected index k out of range",
            fix=f"dimension {axis} has {size} elements: pass a k from 0 to {size}",
        )
    return return_types.topk(*_topk_op.call(input, k, axis, bool(largest)))


def _ranked(x: Array, dim: int, rank: int) -> Array:
    return np.take(np.argpartition(x, rank, axis=dim), [rank], axis=dim)


def _lower_median(x: Array, dim: int) -> Array:
    """The middle of a sorted lane, the lower of two; the first NaN if there is one."""
    middle = _ranked(x, dim, (x.shape[dim] - 1) // 2)
    missing = x != x
    if not missing.any():
        return middle
    return np.where(
        missing.any(axis=dim, keepdims=True), np.argmax(missing, axis=dim, keepdims=True), middle
    )


def _lower_nanmedian(x: Array, dim: int) -> Array:
    present = np.add.reduce(x == x, axis=dim, keepdims=True, dtype=np.int64)
    middle = np.maximum(present - 1, 0) // 2
    return np.take_along_axis(_order(x, dim, False), middle, dim)


def _most_common(x: Array, dim: int) -> Array:
    """The last position of the most common value, the smallest of several."""
    order = _order(x, dim, False)
    lanes = np.moveaxis(np.take_along_axis(x, order, dim), dim, -1)
    position = np.arange(lanes.shape[-1])
    starts = np.ones(lanes.shape, bool)
    starts[..., 1:] = lanes[..., 1:] != lanes[..., :-1]
    length = position - np.maximum.accumulate(np.where(starts, position, 0), axis=-1)
    longest = np.argmax(np.moveaxis(length, -1, dim), axis=dim, keepdims=True)
    return np.take_along_axis(order, longest, dim)


def _median_of_all(x: Array) -> Array:
    if not x.size:
        return np.array(np.nan).astype(x.dtype)
    flat = x.reshape(1, -1)
    return flat[0, _lower_median(flat, 1)[0, 0]]


def _nanmedian_of_all(x: Array) -> Array:
    if not x.size:
        return np.array(np.nan).astype(x.dtype)
    flat = x.reshape(1, -1)
    return flat[0, _lower_nanmedian(flat, 1)[0, 0]]


declare_of_all("median", "y = the lower median of x;  ∂y/∂x = 1 there", _median_of_all)
declare_of_all(
    "nanmedian", "y = the lower median of x without NaN;  ∂y/∂x = 1 there", _nanmedian_of_all
)


def _declare_median(name: str, formula: str, find: Any) -> None:
    op = declare_along(
        f"{name}(x; dim, keepdim)",
        formula,
        find,
        subgradient="without dim tied elements share evenly; with dim the element at indices",
        samples=lambda make: [
            make.call(make.distinct(3, 4)),
            make.call(make.distinct(3, 4), 1),
            make.call(make.distinct(2, 3, 2), -2, keepdim=True),
            make.call(make(), 0),
            make.call(make(3, 0), 0),
            make.call(make.constant(np.array([[1.0, np.nan, 0.5, 2.0], [0.0, 3.0, 1.0, 2.0]])), 1),
            make.call(make.constant(np.array([1.0, np.nan, 0.5, 2.0]))),
        ],
    )
    result = getattr(return_types, name)

    @public_form(op)
    def median(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
        input = operand(input)
        if dim is None:
            return table[f"{name}_of_all"].call(input)
        axis = normalize_dim(dim, input.ndim, name)
        refuse_empty(name, input, (axis,) if input.ndim else (), full=False)
        return result(*op.call(input, axis, keepdim))

    median.__doc__ = (
        f"{formula}.  Without ``dim`` one number, with it a named tuple ``(values, indices)``."
    )


_declare_median("median", "values = the lower median along dim, at indices", _lower_median)
_declare_median(
    "nanmedian", "values = the lower median along dim without NaN, at indices", _lower_nanmedian
)

_mode_op = declare_along(
    "mode(x; dim, keepdim)",
    "values = the most common element along dim, the smallest of several",
    _most_common,
    subgradient="the last of the equal elements gets it all",
    samples=lambda make: [
        make.call(make.constant(np.array([[1.0, 2.0, 2.0, 1.0, 3.0], [4.0, 4.0, 0.0, 1.0, 4.0]]))),
        make.call(make.ints(4, 3, high=3), 0, True),
        make.call(make.distinct(3, 4), dim=-1),
        make.call(make()),
        make.call(make(3, 0), 0),
    ],
)


@public_form(_mode_op)
def _mode_public(input: Any, dim: int = -1, keepdim: bool = False) -> Any:
    """The most common element along ``dim``, as a named tuple ``(values, indices)``."""
    input = operand(input)
    axis = normalize_dim(dim, input.ndim, "mode")
    refuse_empty("mode", input, (axis,) if input.ndim else (), full=False)
    return return_types.mode(*_mode_op.call(input, axis, keepdim))


_kthvalue_op = declare_along(
    "kthvalue(x; dim, keepdim, k)",
    "values = the k-th smallest x along dim, at indices;  ∂values/∂x = 1 at indices",
    lambda x, dim, k: _ranked(x, dim, k - 1),
    subgradient="which of several tied elements is taken is not specified",
    samples=lambda make: [
        make.call(make.distinct(3, 4), 2),
        make.call(make.distinct(3, 4), 1, 0),
        make.call(make.distinct(2, 5, 2), k=3, dim=-2, keepdim=True),
        make.call(make(), 1),
    ],
)


@public_form(_kthvalue_op)
def _kthvalue_public(input: Any, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    """The ``k``-th smallest element along ``dim``, as a named tuple ``(values, indices)``."""
    input = operand(input)
    k, axis = operator.index(k), normalize_dim(dim, input.ndim, "kthvalue")
    refuse_empty("kthvalue", input, (axis,) if input.ndim else (), full=False)
    size = input.shape[axis] if input.ndim else 1
    if not 1 <= k <= size:
        raise fail(
            RuntimeError,
            call=f"kthvalue(k={k}, dim={dim}) of {describe(input)}",
            cause=f"selected number k out of range for dimension {axis}",
            fix=f"k counts from 1: pass a k from 1 to {size}",
        )
    return return_types.kthvalue(*_kthvalue_op.call(input, axis, keepdim, k))
