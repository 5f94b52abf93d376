"""Choosing by condition or mask, and whole slices by index."""

from __future__ import annotations

from typing import Any

import numpy as np

from whygrad.errors import describe, fail
from whygrad.ops.batching import only, shift
from whygrad.ops.define import composite, define, public_form, table
from whygrad.ops.geometry import normalize_dim
from whygrad.ops.indexing.masking import choose
from whygrad.ops.indexing.positions import check_bounds
from whygrad.ops.indexing.searching import nonzero
from whygrad.ops.indexing.subscripts import read
from whygrad.ops.numbers import number_for
from whygrad.tensor import Tensor, dtypes

__all__ = ["require_integers", "require_same_dtype", "require_vector", "single", "where"]

Array = Any
Shape = tuple[int, ...]

_where_op = define(
    "where(condition, a, b)",
    "y = a where the condition holds, b elsewhere;  ∂a = incoming there,  ∂b = incoming elsewhere",
    forward=choose,
    vjp={
        "a": lambda xp, incoming, condition: xp.where(condition, incoming, 0.0),
        "b": lambda xp, incoming, condition: xp.where(condition, 0.0, incoming),
    },
    kind="elementwise",
    linear=True,
    promote="same",
    promoted="a b",
    meta=lambda condition, a, b: (
        np.broadcast_shapes(*(getattr(each, "shape", ()) for each in (condition, a, b))),
        (a if hasattr(a, "dtype") else b).dtype,
    ),
    method=False,
    samples=lambda make: [
        make.call(make.bools(3, 4), make(3, 4), make(4)),
        make.call(make.bools(3, 1), make(4), make()),
        make.call(make.bools(3, 4), make(3, 4), 0.5),
        make.call(make.bools(4), 1, make(2, 4)),
        make.call(make.bools(3), 1, 0.5),
        make.call(make.bools(3), make.ints(3), make(3)),
        make.call(make.bools(), make(), make()),
        make.call(make.bools(0, 3), make(0, 3), make(3)),
        make.call(make.bools(3, 4)),
    ],
)


def where(condition: Tensor, input: Any = None, other: Any = None) -> Any:
    """``input`` where the condition holds, else ``other``; alone: where the condition holds."""
    if input is None and other is None:
        return nonzero(condition, as_tuple=True)
    if input is None or other is None:
        raise fail(
            TypeError,
            call=f"where({describe(condition)}, {describe(input)}, {describe(other)})",
            cause="where() received an invalid combination of arguments: it takes the condition "
            "alone, or the condition and two values",
            fix="pass both values; a number will do",
        )
    if condition.dtype is dtypes.uint8:
        condition = condition.to(dtypes.bool_)
    _require_mask(
        condition,
        "where",
        f"where expected condition to be a boolean tensor, but got a tensor with dtype "
        f"{condition.dtype.name}",
    )
    return _where_op.call(condition, input, other)


def _where_method(self: Tensor, condition: Tensor, other: Any) -> Any:
    """This tensor where the condition holds, else ``other``."""
    return where(condition, self, other)


public_form(_where_op)(where)
setattr(Tensor, _where_op.name, _where_method)


def _require_mask(mask: Tensor, name: str, cause: str) -> None:
    if mask.dtype is not dtypes.bool_:
        raise fail(
            RuntimeError,
            call=f"{name} with {describe(mask)}",
            cause=cause,
            fix="compare to get a mask, for instance x > 0, or convert with .to(whygrad.bool)",
        )


def masked_fill(input: Tensor, mask: Tensor, value: Any) -> Tensor:
    """``input`` with ``value`` (a number or a 0-d tensor) wherever the mask is True."""
    _require_mask(
        mask,
        "masked_fill",
        f"masked_fill_ only supports boolean masks, but got mask with dtype {mask.dtype.name}",
    )
    filled: Tensor = _where_op.call(mask, single(input, value, "masked_fill"), input)
    return filled


def single(input: Tensor, value: Any, name: str) -> Any:
    """One value in the dtype of ``input``: a number, or a 0-d tensor whose gradient is kept."""
    if not isinstance(value, Tensor):
        return number_for(input, value, name)
    if value.ndim:
        raise fail(
            RuntimeError,
            call=f"{name}({describe(input)}, …, {describe(value)})",
            cause=f"{name}_ only supports a 0-dimensional value tensor, but got tensor with "
            f"{value.ndim} dimension(s)",
            fix="use where for several values",
        )
    if value.dtype.is_complex and not input.dtype.is_complex:
        return number_for(input, value.item(), name)
    return value.to(input.dtype)


composite(
    masked_fill,
    "y = value where the mask is True, x elsewhere;  ∂x = incoming, 0 under the mask",
    inplace=True,
    samples=lambda make: [
        make.call(make(3, 4), make.bools(3, 4), 0.5),
        make.call(make(3, 4), make.bools(4), make()),
        make.call(make(4), make.bools(3, 4), -9),
        make.call(make.ints(3), make.bools(3), 2.7),
        make.call(make(), make.bools(), 1),
    ],
)


def _spread(input: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Both in their common shape, which has at least one dimension."""
    try:
        shape = np.broadcast_shapes(input.shape, mask.shape) or (1,)
    except ValueError:
        raise fail(
            RuntimeError,
            call=f"{describe(input)} under the mask {describe(mask)}",
            cause=f"the shapes {input.shape} and {mask.shape} do not broadcast",
            fix="sizes must be equal or 1, counted from the last dimension",
        ) from None
    return input.expand(shape), mask.expand(shape)


def masked_select(input: Tensor, mask: Tensor) -> Tensor:
    """The elements of ``input`` under a mask, in a row."""
    _require_mask(
        mask,
        "masked_select",
        f"masked_select: expected BoolTensor for mask, not {mask.dtype.name}",
    )
    values, places = _spread(input, mask)
    return values[places]


composite(
    masked_select,
    "y = the elements of x under the mask, in a row;  ∂x = incoming under the mask, else 0",
    samples=lambda make: [
        make.call(make(3, 4), make.bools(3, 4)),
        make.call(make(4), make.bools(3, 1)),
        make.call(make(), np.array(True)),
        make.call(make(2), np.array([False, False])),
    ],
)


def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """``input`` with the elements of ``source``, in order, at the places where the mask is True."""
    _require_mask(
        mask,
        "masked_scatter",
        f"masked_scatter_ only supports boolean masks, but got mask with dtype {mask.dtype.name}",
    )
    require_same_dtype(input, source, "masked_scatter: expected self and source to have same")
    values, places = _spread(input, mask)
    chosen = read(values, places)
    count = chosen.shape[0]
    if source.numel() < count:
        raise fail(
            RuntimeError,
            call=f"masked_scatter({describe(input)}, {describe(mask)}, {describe(source)})",
            cause=f"Number of elements of source ({source.numel()}) < number of ones in mask "
            f"({count})",
            fix="give one element for every True",
        )
    row = source.reshape((-1,))[:count]
    written: Tensor = table["index_put"].call(values, row, chosen.position, chosen.dims, False)
    shape = np.broadcast_shapes(input.shape, mask.shape)
    return written if written.shape == shape else written.reshape(shape)


def require_same_dtype(input: Tensor, source: Tensor, phrase: str) -> None:
    if input.dtype is not source.dtype:
        raise fail(
            RuntimeError,
            call=f"{describe(input)} and {describe(source)}",
            cause=f"{phrase} dtype, but got {input.dtype.name} and {source.dtype.name}",
            fix=f"convert the source: source.to(whygrad.{input.dtype.name})",
        )


composite(
    masked_scatter,
    "y = x with source written under the mask, in order;  ∂x = incoming, 0 under the mask,  "
    "∂source = incoming under the mask",
    inplace=True,
    samples=lambda make: [
        make.call(make(3, 4), make.bools(3, 4), make(12)),
        make.call(make(4), make.bools(3, 1), make(3, 4)),
        make.call(make(), np.array(True), make(2)),
    ],
)


def _index_select(x: Array, index: Array, dim: int) -> Array:
    check_bounds(
        index, x.shape[dim], call="index_select", dim=dim, phrase="index out of range in self: "
    )
    return np.take(x, index, dim)


def _index_select_args(input: Tensor, dim: int, index: Tensor) -> Any:
    dim = normalize_dim(dim, input.ndim, "index_select")
    require_integers(index, "index_select")
    require_vector(index, "index_select", IndexError, "Index is supposed to be a vector")
    if input.ndim:
        return input, index if index.ndim else index.reshape((1,)), dim
    if index.numel() != 1:
        raise fail(
            RuntimeError,
            call=f"index_select({describe(input)}, {dim}, {describe(index)})",
            cause="Index to scalar can have only 1 value, got "
            f"{index.numel()} value(s): a 0-d tensor has one element only",
            fix="add a dimension first with x[None]",
        )
    return input.reshape((1,)), index.reshape(()), dim


def require_integers(index: Tensor, name: str, *, kind: type[Exception] = RuntimeError) -> None:
    """Raise unless the index is an int32 or int64 tensor."""
    if index.dtype not in (dtypes.int32, dtypes.int64):
        raise fail(
            kind,
            call=f"{name} with index {describe(index)}",
            cause=f"{name}(): Expected dtype int32 or int64 for index, not {index.dtype.name}",
            fix="convert it: index.to(whygrad.int64)",
        )


def require_vector(index: Tensor, name: str, kind: type[Exception], phrase: str) -> None:
    if index.ndim > 1:
        raise fail(
            kind,
            call=f"{name} with index {describe(index)}",
            cause=f"{name}(): {phrase}, not {index.ndim}-dimensional",
            fix="flatten it: index.reshape(-1)",
        )


define(
    "index_select(x, index; dim)",
    "y = the slices of x at index along dim;  ∂x = incoming added up at index",
    forward=_index_select,
    vjp={
        "x": lambda xp, incoming, index, x_shape, dim: xp.index_backward(
            incoming, index, x_shape, (dim,)
        )
    },
    linear=True,
    meta=lambda x, index, dim: ((*x.shape[:dim], *index.shape, *x.shape[dim + 1 :]), x.dtype),
    batching=only("x", lambda xp, x, index, dim: xp.index_select(x, index, shift(dim))),
    public=_index_select_args,
    samples=lambda make: [
        make.call(make(3, 4), 1, make.ints(5, high=4)),
        make.call(make(3, 4), -2, make.ints(high=3)),
        make.call(make(2, 3, 2), 1, make.ints(2, high=3)),
        make.call(make(), 0, make.ints(1, high=1)),
        make.call(make(3, 4), 0, make.ints(0)),
    ],
)
