"""Diagonals as matrices, and triangles of matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from whygrad import dtypes
from whygrad.autograd.source import caller
from whygrad.errors import describe, fail
from whygrad.ops.define import composite, define, table
from whygrad.ops.parts import diagonal_backward, distinct_dims
from whygrad.ops.views import clone, flatten
from whygrad.tensor import Tensor, wrap

Array = Any


def _kept(x: Array, mask: Array) -> Array:
    """x where the mask is true, else 0, in row-major order."""
    kept = np.zeros(x.shape, x.dtype)
    np.copyto(kept, x, where=mask)
    return kept


def _tril(x: Array, diagonal: int) -> Array:
    return _kept(x, np.tri(*x.shape[-2:], k=diagonal, dtype=bool))


def _triu(x: Array, diagonal: int) -> Array:
    return _kept(x, ~np.tri(*x.shape[-2:], k=diagonal - 1, dtype=bool))


def _triangle_args(name: str) -> Callable[..., Any]:
    def prepare(input: Tensor, diagonal: int = 0) -> Any:
        if input.ndim < 2:
            raise fail(
                RuntimeError,
                call=f"{name}({describe(input)})",
                cause=f"{name}: input tensor must have at least 2 dimensions",
                fix="add dimensions with unsqueeze()",
                where=caller(),
            )
        return input, diagonal

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
    forward=_tril,
    vjp={"x": lambda xp, incoming, diagonal: xp.tril(incoming, diagonal)},
    linear=True,
    meta=lambda x, diagonal: (x.shape, x.dtype),
    public=_triangle_args("tril"),
    inplace=True,
    samples=_triangle_samples,
)
define(
    "triu(x; diagonal)",
    "y = x on and above a diagonal, else 0;  ∂x = incoming there, else 0",
    forward=_triu,
    vjp={"x": lambda xp, incoming, diagonal: xp.triu(incoming, diagonal)},
    linear=True,
    meta=lambda x, diagonal: (x.shape, x.dtype),
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
        where=caller(),
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


def tril_indices(row: int, col: int, offset: int = 0, *, dtype: Any = dtypes.int64) -> Tensor:
    """Row and column numbers of the lower triangle of a matrix, one column per element."""
    return _indices("tril_indices", row, col, np.tri, offset, dtype)


def triu_indices(row: int, col: int, offset: int = 0, *, dtype: Any = dtypes.int64) -> Tensor:
    """Row and column numbers of the upper triangle of a matrix, one column per element."""
    return _indices(
        "triu_indices",
        row,
        col,
        lambda *size, k, dtype: ~np.tri(*size, k - 1, dtype),
        offset,
        dtype,
    )


def _indices(name: str, row: int, col: int, mask: Any, offset: int, dtype: Any) -> Tensor:
    for label, size in (("row", row), ("col", col)):
        if size < 0:
            raise fail(
                RuntimeError,
                call=f"{name}({row}, {col}, {offset})",
                cause=f"{label} must be non-negative, got {size}",
                fix="give the sizes of a matrix",
                where=caller(),
            )
    found = np.nonzero(mask(row, col, k=offset, dtype=bool))
    return wrap(np.stack(found).astype(dtypes.of(dtype).numpy))


for _indices_of in (tril_indices, triu_indices):
    composite(
        _indices_of,
        "y = positions of a triangle: row numbers, column numbers",
        method=False,
        differentiable=False,
        samples=lambda make: [make.call(3, 3), make.call(3, 4, 1), make.call(3, 2, -1)],
    )
