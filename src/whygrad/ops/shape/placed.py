"""A tensor with part of it replaced: what writing to a view of a copy would give.

Each takes the view's own arguments.  The geometry of the view says where the part goes; one op,
``copy_slices``, puts it there, so gradients of every order and batches are that op's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from whygrad.errors import describe, fail
from whygrad.ops.define import composite
from whygrad.ops.geometry import normalize_dim, shape_from
from whygrad.ops.namespace import raw, recorded
from whygrad.ops.shape.parts import along, distinct_dims
from whygrad.tensor import Tensor, keys
from whygrad.tensor.memory import row_major

Array = Any


def _placed(name: str, input: Tensor, src: Tensor, look: Callable[[Array], Array]) -> Tensor:
    """``input`` with ``src`` where ``look`` looks."""
    shape = tuple(input.shape)
    ghost = np.empty(shape, np.int8)  # one byte per element, so its strides count elements
    seen = look(ghost)
    if tuple(src.shape) != seen.shape:
        raise fail(
            RuntimeError,
            call=f"{name}({describe(input)}, {describe(src)})",
            cause="expected src to have a size equal to the slice of self. src size = "
            f"{list(src.shape)}, slice size = {list(seen.shape)}",
            fix="expand or reshape src to the size of the slice",
        )
    offset = seen.__array_interface__["data"][0] - ghost.__array_interface__["data"][0]
    part = src.to(input.dtype)
    if not seen.size:
        return input.clone()
    return recorded.copy_slices(
        input.contiguous(), part, seen.shape, seen.strides, offset, row_major(shape)
    )


def select_scatter(input: Tensor, src: Tensor, dim: int, index: int) -> Tensor:
    """``input`` with ``src`` at one position of a dimension."""
    axis = normalize_dim(dim, input.ndim, "select_scatter")
    size = input.shape[axis]
    if not -size <= index < size:
        raise fail(
            IndexError,
            call=f"select_scatter({describe(input)}, dim={dim}, index={index})",
            cause=f"select(): index {index} out of range for tensor of size {list(input.shape)} "
            f"at dimension {axis}",
            fix=f"choose an index from {-size} to {size - 1}",
        )
    return _placed("select_scatter", input, src, lambda ghost: raw.slice(ghost, along(axis, index)))


def slice_scatter(
    input: Tensor,
    src: Tensor,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> Tensor:
    """``input`` with ``src`` at the positions ``start:end:step`` of a dimension."""
    axis = normalize_dim(dim, input.ndim, "slice_scatter")
    return _placed(
        "slice_scatter",
        input,
        src,
        lambda ghost: raw.slice(ghost, along(axis, slice(start, end, step))),
    )


def diagonal_scatter(
    input: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> Tensor:
    """``input`` with ``src`` on its diagonal."""
    first, second = distinct_dims(input.ndim, dim1, dim2, "diagonal_scatter")
    return _placed(
        "diagonal_scatter", input, src, lambda ghost: raw.diagonal(ghost, offset, first, second)
    )


def as_strided_scatter(
    input: Tensor, src: Tensor, size: Any, stride: Any, storage_offset: int | None = None
) -> Tensor:
    """``input`` with ``src`` where ``as_strided`` would look."""
    shape, steps = shape_from((size,)), shape_from((stride,))
    if (input._keys | src._keys) & keys.BATCHED:
        raise fail(
            RuntimeError,
            call=f"as_strided_scatter({describe(input)}, …), inside vmap",
            cause="vmap does not support as_strided_scatter: what lies around a sample in memory "
            "belongs to other samples",
            fix="use select_scatter, slice_scatter or diagonal_scatter",
        )
    if tuple(src.shape) != shape:
        raise fail(
            RuntimeError,
            call=f"as_strided_scatter({describe(input)}, {describe(src)}, {shape}, {steps})",
            cause="expected src to have a size equal to the slice of self. src size = "
            f"{list(src.shape)}, slice size = {list(shape)}",
            fix="expand or reshape src to the size of the slice",
        )
    here = input.storage_offset()
    start = (here if storage_offset is None else storage_offset) - here
    input.as_strided(shape, steps, storage_offset)  # refuses what lies outside
    return recorded.copy_slices(input, src.to(input.dtype), shape, steps, start, input.stride())


composite(
    select_scatter,
    "y = x with src at one position of dim",
    samples=lambda make: [
        make.call(make(3, 4), make(3), 1, 2),
        make.call(make(3, 4), make(4), 0, -1),
    ],
)
composite(
    slice_scatter,
    "y = x with src at start:end:step of dim",
    samples=lambda make: [
        make.call(make(5, 2), make(2, 2), 0, 1, 5, 2),
        make.call(make(2, 5), make(2, 3), dim=1, start=-3),
        make.call(make(3), make(3)),
    ],
)
composite(
    diagonal_scatter,
    "y = x with src on its diagonal",
    samples=lambda make: [
        make.call(make(3, 4), make(3)),
        make.call(make(2, 3, 3), make(2, 2), 1, 1, 2),
    ],
)
composite(
    as_strided_scatter,
    "y = x with src where as_strided would look;  ∂x = incoming, 0 where src is",
    notes="PyTorch 2.13 sends x the gradient of the places that src has taken",
    samples=lambda make: [
        make.call(make.constant(make(6)), make(2, 2), (2, 2), (2, 1), 1),
        make.call(make.constant(make(2, 3)), make(3), (3,), (1,)),
    ],
)
