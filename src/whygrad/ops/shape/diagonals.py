"""Matrices made from diagonals and blocks, and triangles of matrices."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from whygrad.errors import describe, fail
from whygrad.ops.batching import leading_dims
from whygrad.ops.define import composite, define, table
from whygrad.ops.shape.joining import atleast_2d, cannot_join, require_tensors
from whygrad.ops.shape.parts import diagonal_backward, distinct_dims
from whygrad.ops.shape.reshaping import flatten
from whygrad.ops.shape.views import clone
from whygrad.tensor import Tensor, dtypes, wrap

Array = Any
Shape = tuple[int, ...]


def _kept(x: Array, mask: Array) -> Array:
    """x where the mask is true, else 0, in row-major order."""
    kept = np.zeros(x.shape, x.dtype)
    np.copyto(kept, x, where=mask)
    return kept


def _lower(rows: int, columns: int, diagonal: int) -> Array:
    """True on and below a diagonal."""
    return np.tri(rows, columns, diagonal, bool)


def _upper(rows: int, columns: int, diagonal: int) -> Array:
    """True on and above a diagonal."""
    return ~np.tri(rows, columns, diagonal - 1, bool)


def _triangle_args(name: str) -> Callable[..., Any]:
    def prepare(input: Tensor, diagonal: int = 0) -> Any:
        if input.ndim < 2:
            raise fail(
                RuntimeError,
                call=f"{name}({describe(input)})",
                cause=f"{name}: input tensor must have at least 2 dimensions",
                fix="add dimensions with unsqueeze()",
            )
        return input, operator.index(diagonal)

    return prepare


def _triangle_samples(make: Any) -> list[Any]:
    return [
        make.call(make(3, 4)),
        make.call(make(4, 3), 1),
        make.call(make(2, 3, 3), diagonal=-1),
        make.call(make(0, 3)),
        make.call(make(2, 3), 9),
    ]


define(
    "tril(x; diagonal)",
    "y = x on and below a diagonal, else 0;  ∂x = incoming there, else 0",
    forward=lambda x, diagonal: _kept(x, _lower(x.shape[-2], x.shape[-1], diagonal)),
    vjp={"x": lambda xp, incoming, diagonal: xp.tril(incoming, diagonal)},
    linear=True,
    meta=lambda x, diagonal: (x.shape, x.dtype),
    batching=leading_dims,
    public=_triangle_args("tril"),
    inplace=True,
    samples=_triangle_samples,
)
define(
    "triu(x; diagonal)",
    "y = x on and above a diagonal, else 0;  ∂x = incoming there, else 0",
    forward=lambda x, diagonal: _kept(x, _upper(x.shape[-2], x.shape[-1], diagonal)),
    vjp={"x": lambda xp, incoming, diagonal: xp.triu(incoming, diagonal)},
    linear=True,
    meta=lambda x, diagonal: (x.shape, x.dtype),
    batching=leading_dims,
    public=_triangle_args("triu"),
    inplace=True,
    samples=_triangle_samples,
)


def diag_embed(input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Matrices over ``dim1`` and ``dim2`` with the last dimension of the input as diagonal."""
    first, second = distinct_dims(input.ndim + 1, dim1, dim2, "diag_embed")
    *batch, length = input.shape
    shape = list(batch)
    for dim in sorted((first, second)):
        shape.insert(dim, length + abs(offset))
    return diagonal_backward(input, tuple(shape), offset, first, second)


def diag(input: Tensor, diagonal: int = 0) -> Tensor:
    """A vector as the diagonal of a matrix, or a copy of the diagonal of a matrix."""
    if input.ndim == 1:
        return diag_embed(input, diagonal)
    if input.ndim == 2:
        return clone(table["diagonal"].public(input, diagonal))
    raise fail(
        RuntimeError,
        call=f"diag({describe(input)})",
        cause=f"diag(): Supports 1D or 2D tensors. Got {input.ndim}D",
        fix="use diagonal() or diag_embed() for batches of matrices",
    )


def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """All elements as the diagonal of a matrix."""
    return diag_embed(flatten(input), offset)


composite(
    diag_embed,
    "y = 0, with x on the diagonals of the matrices over dim1, dim2",
    samples=lambda make: [
        make.call(make(2, 3)),
        make.call(make(2, 3), 1, 0, 2),
        make.call(make(2, 3), -1, 2, 0),
        make.call(make(0)),
    ],
)
composite(
    diag,
    "y = a matrix with diagonal x, or the diagonal of x",
    samples=lambda make: [
        make.call(make(3)),
        make.call(make(3), -1),
        make.call(make(3, 4), 1),
        make.call(make(3, 4), -2),
    ],
)
composite(
    diagflat,
    "y = a matrix with all elements of x on its diagonal",
    samples=lambda make: [make.call(make(2, 2), 1), make.call(make())],
)


def _block_diag(tensors: Sequence[Array]) -> Array:
    whole = np.zeros(_block_shape(tensors), tensors[0].dtype)
    for each, block in zip(tensors, _blocks([each.shape for each in tensors])):
        whole[block] = each
    return whole


def _block_shape(tensors: Sequence[Array]) -> Shape:
    return sum(each.shape[0] for each in tensors), sum(each.shape[1] for each in tensors)


def _blocks(shapes: Sequence[Shape]) -> list[tuple[slice, slice]]:
    """Where each block lies: below and to the right of the one before."""
    found = []
    row = column = 0
    for height, width in shapes:
        found.append((slice(row, row + height), slice(column, column + width)))
        row, column = row + height, column + width
    return found


def _block_diag_args(*tensors: Any) -> Any:
    """A matrix with the given matrices along its diagonal and zeros elsewhere."""
    listed = require_tensors(tensors, "block_diag")
    for position, each in enumerate(listed):
        if each.ndim > 2:
            raise cannot_join(
                listed, "block_diag: Input tensors must have 2 or fewer dimensions. Input "
                f"{position} has {each.ndim} dimensions",
                "pass the matrices of a batch one by one", "block_diag",
            )  # fmt: skip
    return ([atleast_2d(each) for each in listed],)


define(
    "block_diag(*tensors)",
    "y = x₁, x₂, … as blocks on the diagonal, else 0;  ∂xᵢ = its block of incoming",
    forward=_block_diag,
    vjp=lambda xp, incoming, tensors_shape: [
        xp.slice(incoming, block) for block in _blocks(tensors_shape)
    ],
    linear=True,
    promote="same",
    meta=lambda tensors: (_block_shape(tensors), tensors[0].dtype),
    public=_block_diag_args,
    method=False,
    samples=lambda make: [
        make.call(make(2, 2), make(3), make()),
        make.call(make(1, 3), make.ints(2, 0)),
    ],
)


def tril_indices(
    row: int,
    col: int,
    offset: int = 0,
    *,
    dtype: Any = dtypes.int64,
    device: Any = None,
    layout: Any = None,
) -> Tensor:
    """Row and column numbers of the lower triangle of a matrix, one column per element."""
    return _positions("tril_indices", _lower, row, col, offset, dtype).to(device)


def triu_indices(
    row: int,
    col: int,
    offset: int = 0,
    *,
    dtype: Any = dtypes.int64,
    device: Any = None,
    layout: Any = None,
) -> Tensor:
    """Row and column numbers of the upper triangle of a matrix, one column per element."""
    return _positions("triu_indices", _upper, row, col, offset, dtype).to(device)


def _positions(
    name: str, mask: Callable[..., Array], row: int, col: int, offset: int, dtype: Any
) -> Tensor:
    row, col, offset = map(operator.index, (row, col, offset))
    for label, size in (("row", row), ("col", col)):
        if size < 0:
            raise fail(
                RuntimeError,
                call=f"{name}({row}, {col}, {offset})",
                cause=f"{label} must be non-negative, got {size}",
                fix="give the sizes of a matrix",
            )
    chosen = dtypes.of(dtype)
    if chosen not in (dtypes.int32, dtypes.int64):
        raise fail(
            NotImplementedError,
            call=f"{name}({row}, {col}, {offset}, dtype={chosen})",
            cause=f"{name} is not implemented for {chosen.name}: these are positions to index with",
            fix="ask for int64 or int32, and convert with .to()",
        )
    return wrap(np.stack(np.nonzero(mask(row, col, offset))).astype(chosen.numpy))


for _indices_of in (tril_indices, triu_indices):
    composite(
        _indices_of,
        "y = positions of a triangle: row numbers, column numbers",
        method=False,
        differentiable=False,
        samples=lambda make: [make.call(3, 3), make.call(3, 4, 1), make.call(3, 2, -1)],
    )
