"""Where things are: nonzero places, distinct values, classes and bins.

The results are integers or depend on the data in jumps, so no gradient flows.
"""

from __future__ import annotations

import operator
from itertools import pairwise
from typing import Any

import numpy as np

from whygrad.errors import describe, fail
from whygrad.ops.batching import dynamic_shape, leading_dims
from whygrad.ops.define import composite, define, public_form, table
from whygrad.ops.geometry import normalize_dim
from whygrad.tensor import Tensor, dtypes, keys, wrap

__all__ = ["nonzero"]

Array = Any

_nonzero_op = define(
    "nonzero(x)",
    "y = the coordinates of the elements that are not 0, one row each",
    forward=lambda x: np.array(np.argwhere(x), order="F"),  # one dimension's positions together
    vjp=None,
    batching=dynamic_shape,
    samples=lambda make: [
        make.call(make.bools(3, 4)),
        make.call(make.ints(5, high=2)),
        make.call(make.bools(2, 2, 2), as_tuple=True),
        make.call(make()),
        make.call(make(), as_tuple=True),
        make.call(make(0, 3)),
    ],
)


def nonzero(input: Tensor, *, as_tuple: bool = False) -> Any:
    """Coordinates of the elements that are not 0: one row each, or one tensor per dimension."""
    if not as_tuple:
        return _nonzero_op.call(input)
    if input.ndim == 0:
        input = input.reshape((1,))
    rows = _nonzero_op.call(input)
    return tuple(rows[:, dim] for dim in range(input.ndim))


public_form(_nonzero_op)(nonzero)


def argwhere(input: Tensor) -> Tensor:
    """Coordinates of the elements that are not 0, one row each."""
    rows: Tensor = _nonzero_op.call(input)
    return rows


composite(
    argwhere,
    "y = the coordinates of the elements that are not 0, one row each",
    differentiable=False,
    samples=lambda make: [make.call(make.bools(3, 4)), make.call(make())],
)


def _unique(x: Array, dim: int | None, return_inverse: bool, return_counts: bool) -> Any:
    if dim is not None and 0 < x.shape[dim] <= _FEW and np.isnan(x).any():
        wanted = (True, return_inverse, return_counts)
        kept = [
            each for each, asked in zip(_unique_with_nan(np.moveaxis(x, dim, 0)), wanted) if asked
        ]
        slices = np.moveaxis(kept[0], 0, dim)
        return (slices, *kept[1:]) if len(kept) > 1 else slices
    found: Any = np.unique(  # type: ignore[call-overload]
        x,
        return_inverse=return_inverse,
        return_counts=return_counts,
        axis=dim,
        equal_nan=False,
    )
    if dim is not None and return_inverse:
        return (found[0], found[1].reshape(-1), *found[2:])
    return found


_FEW = 16  # slices that PyTorch sorts by insertion


def _unique_with_nan(slices: Array) -> tuple[Array, Array, Array]:
    """Slices that NaN makes neither less nor greater than others, in the order PyTorch finds them.

    Which order that is depends on how one sorts; NaN is never equal to NaN, so nothing is merged.
    """
    rows = slices.reshape(len(slices), -1)

    def less(a: int, b: int) -> bool:
        different = (rows[a] < rows[b]) | (rows[a] > rows[b])
        first = int(np.argmax(different))
        return bool(different.any()) and bool(rows[a, first] < rows[b, first])

    order: list[int] = []
    for each in range(len(rows)):
        place = len(order)
        if order and less(each, order[0]):
            place = 0
        else:
            while place and less(each, order[place - 1]):
                place -= 1
        order.insert(place, each)
    starts = [True] + [not (rows[a] == rows[b]).all() for a, b in pairwise(order)]
    number = np.cumsum(starts) - 1
    inverse = np.empty(len(rows), np.int64)
    inverse[order] = number
    return slices[np.array(order)[starts]], inverse, np.bincount(number)


def _unique_args(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    axis = None if dim is None else normalize_dim(dim, input.ndim, "unique")
    return input, axis, return_inverse, return_counts


define(
    "unique(x; dim, return_inverse, return_counts)",
    "y = the distinct elements (or slices along dim) in order, on request where each element "
    "went and how often each occurs",
    forward=_unique,
    vjp=None,
    batching=dynamic_shape,
    public=_unique_args,
    samples=lambda make: [
        make.call(make.ints(3, 4)),
        make.call(make.ints(7), return_inverse=True),
        make.call(make.ints(3, 4), return_counts=True),
        make.call(make.ints(3, 4), True, True, True),
        make.call(make.ints(6, 2, high=2), dim=0, return_inverse=True, return_counts=True),
    ],
)


def _one_hot(x: Array, num_classes: int) -> Array:
    if x.size and x.min() < 0:
        raise _not_a_class("Class values must be non-negative", int(x.min()), num_classes)
    if x.size and x.max() >= num_classes:
        raise _not_a_class(
            "Class values must be smaller than num_classes", int(x.max()), num_classes
        )
    return (x[..., None] == np.arange(num_classes)).astype(np.int64)


def _not_a_class(cause: str, value: int, num_classes: int) -> RuntimeError:
    return fail(
        RuntimeError,
        call=f"one_hot(…, num_classes={num_classes})",
        cause=f"{cause}, found {value}",
        fix="number the classes from 0, and count all of them in num_classes",
    )


def _one_hot_args(tensor: Tensor, num_classes: int = -1) -> Any:
    num_classes = operator.index(num_classes)
    call = f"one_hot({describe(tensor)}, num_classes={num_classes})"
    if tensor.dtype is not dtypes.int64:
        raise fail(
            RuntimeError,
            call=call,
            cause="one_hot is only applicable to index tensor of type LongTensor, not "
            f"{tensor.dtype.name}",
            fix="convert it: tensor.to(whygrad.int64)",
        )
    if num_classes == -1:
        on_meta = bool(tensor._keys & keys.META)
        if on_meta or not tensor.numel():
            raise fail(
                RuntimeError,
                call=call,
                cause="the number of classes depends on the data, and a meta tensor has none"
                if on_meta
                else "Can not infer total number of classes from empty tensor",
                fix="pass num_classes",
            )
        num_classes = max(int(tensor._array.max()) + 1, 0)
    return tensor, num_classes


define(
    "one_hot(x; num_classes)",
    "y = 1 at the class each element names, 0 at the others, along a new last dimension",
    forward=_one_hot,
    vjp=None,
    meta=lambda x, num_classes: ((*x.shape, num_classes), np.dtype(np.int64)),
    batching=leading_dims,
    public=_one_hot_args,
    torch="nn.functional.one_hot",
    samples=lambda make: [
        make.call(make.ints(4)),
        make.call(make.ints(2, 3), 7),
        make.call(make.ints(), num_classes=5),
        make.call(make.ints(0), 3),
    ],
)


def _searchsorted(sequence: Array, x: Array, right: bool, out_int32: bool) -> Array:
    if sequence.size and sequence.dtype.kind == "f" and np.isnan(np.min(sequence)):
        found = _halved(sequence, x, right)
    elif sequence.ndim == 1:
        found = np.searchsorted(sequence, x, side="right" if right else "left")
    else:
        found = _search_rows(sequence, x, right)
    return np.asarray(found).astype(np.int32 if out_int32 else np.int64)


def _halved(sequence: Array, x: Array, right: bool) -> Array:
    """By halving, step by step as PyTorch: with NaN in it no sequence is sorted for every search,
    and what is found depends on the steps."""
    if sequence.ndim == 1:
        sequence = sequence.reshape((1,) * (max(x.ndim, 1) - 1) + sequence.shape)
    lanes = np.broadcast_to(sequence, (*x.shape[:-1], sequence.shape[-1]))
    values = x.reshape(1) if not x.ndim else x
    low, high = np.zeros(values.shape, np.int64), np.full(values.shape, sequence.shape[-1])
    while np.count_nonzero(low < high):
        middle = np.minimum((low + high) // 2, sequence.shape[-1] - 1)
        there = np.take_along_axis(lanes, middle, axis=-1)
        beyond = ~(there > values if right else there >= values)
        searching = low < high
        low, high = (
            np.where(searching & beyond, middle + 1, low),
            np.where(searching & ~beyond, middle, high),
        )
    return low.reshape(x.shape)


def _search_rows(sequence: Array, x: Array, right: bool) -> Array:
    """Every row of ``x`` in the same row of ``sequence``, all rows at once.

    A stable sort of both together puts a value before (or, for ``right``, after) what equals it;
    its place is then the number of elements of the sequence in front of it.
    """
    parts = (sequence, x) if right else (x, sequence)
    order = np.argsort(np.concatenate(parts, axis=-1), axis=-1, kind="stable")
    first = parts[0].shape[-1]
    from_sequence = order < first if right else order >= first
    before = np.empty_like(order)
    np.put_along_axis(before, order, np.cumsum(from_sequence, axis=-1), axis=-1)
    return before[..., first:] if right else before[..., :first]


def _searchsorted_args(
    sorted_sequence: Tensor,
    input: Any,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Tensor | None = None,
) -> Any:
    values = input if isinstance(input, Tensor) else wrap(np.asarray(input))
    call = f"searchsorted({describe(sorted_sequence)}, {describe(values)})"
    problem = _search_problem(sorted_sequence, values, right, side)
    if problem is not None:
        raise fail(RuntimeError, call=call, cause=problem[0], fix=problem[1])
    if sorter is not None:
        sorted_sequence = table["gather"].call(sorted_sequence, sorter, sorted_sequence.ndim - 1)
    return sorted_sequence, values, right or side == "right", out_int32


def _search_problem(
    sequence: Tensor, values: Tensor, right: bool, side: str | None
) -> tuple[str, str] | None:
    """Cause and fix of what is wrong with the arguments, if anything."""
    if side not in (None, "left", "right"):
        return f"side can only be 'left' or 'right' but got {side}", "pass one of the two"
    if right and side == "left":
        return (
            "side and right can't be set to opposites, got side of left while right was True",
            "pass only one of them",
        )
    if sequence.ndim == 0:
        return (
            "boundaries tensor should have positive dimension, but got 0 dimension",
            "pass a sorted sequence of at least one dimension",
        )
    if sequence.ndim > 1 and values.ndim == 0:
        return (
            "input value can be a scalar only when boundaries tensor dimension is 1",
            "pass one row of values per row of the sequence",
        )
    if sequence.ndim > 1 and sequence.shape[:-1] != values.shape[:-1]:
        return (
            "boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries "
            f"tensor and input value tensor must match, but we got boundaries tensor "
            f"{list(sequence.shape)} and input value tensor {list(values.shape)}",
            "pass one row of values per row of the sequence",
        )
    return None


define(
    "searchsorted(sequence, x; right, out_int32)",
    "y = where x would go in the sorted sequence: before equal elements, or after them (right)",
    forward=_searchsorted,
    vjp=None,
    meta=lambda sequence, x, right, out_int32: (
        x.shape,
        np.dtype(np.int32 if out_int32 else np.int64),
    ),
    public=_searchsorted_args,
    method=False,
    samples=lambda make: [
        make.call(np.array([0.0, 1.0, 1.0, 2.0]), np.array([[1.0, 3.0], [-1.0, 0.5]])),
        make.call(np.array([0.0, 1.0, 1.0, 2.0]), np.array([1.0, 3.0]), right=True),
        make.call(np.array([0.0, 1.0, 1.0, 2.0]), 1.0, side="right"),
        make.call(np.array([[0, 1, 1], [2, 4, 6]]), np.array([[1, 0], [5, 4]])),
        make.call(np.array([[0, 1, 1], [2, 4, 6]]), np.array([[1, 0], [5, 4]]), right=True),
        make.call(np.array([2, 0, 1]), np.array([1, 2]), sorter=np.array([1, 2, 0])),
        make.call(np.array([0, 1]), make.ints(3), out_int32=True),
    ],
)


def bucketize(
    input: Any, boundaries: Tensor, *, out_int32: bool = False, right: bool = False
) -> Tensor:
    """The number of the bin between ``boundaries`` into which each element falls."""
    if boundaries.ndim != 1:
        raise fail(
            RuntimeError,
            call=f"bucketize({describe(input)}, {describe(boundaries)})",
            cause=f"boundaries tensor must be 1 dimension, but got dim({boundaries.ndim})",
            fix="use searchsorted for one sequence per row",
        )
    found: Tensor = table["searchsorted"].public(
        boundaries, input, out_int32=out_int32, right=right
    )
    return found


composite(
    bucketize,
    "y = the number of boundaries below x (with right: at or below x)",
    differentiable=False,
    method=False,
    samples=lambda make: [
        make.call(make(3, 4), np.array([-1.0, 0.0, 1.0])),
        make.call(make.ints(5), np.array([1, 2, 3]), right=True),
        make.call(2, np.array([1, 2, 3]), out_int32=True),
    ],
)
