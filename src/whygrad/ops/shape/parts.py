"""Views of some of the elements, and the adjoints that write into a tensor of zeros.

Each view here selects; its adjoint puts back what was selected.  Both are ops of the table with
the other as their rule, so derivatives of any order alternate between them.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from whygrad.errors import describe, fail
from whygrad.ops.batching import shift, shift_dims
from whygrad.ops.define import composite, define
from whygrad.ops.geometry import normalize_dim
from whygrad.tensor import Tensor, dtypes
from whygrad.tensor.memory import strided

Array = Any
Shape = tuple[int, ...]
Index = tuple[Any, ...]


def along(dim: int, item: Any) -> Index:
    """The index that applies ``item`` to one dimension and keeps those before it."""
    return (*(slice(None),) * dim, item)


def _slice(x: Array, index: Index) -> Array:
    # an Ellipsis keeps NumPy from answering with a scalar, which would be a copy
    part = x[index] if Ellipsis in index else x[(*index, Ellipsis)]
    return _step_over(part, x, index) if None in index else part


def _step_over(part: Array, x: Array, index: Index) -> Array:
    """Give new dimensions the strides ``unsqueeze`` would; NumPy gives them 0."""
    missing = x.ndim - sum(1 for item in index if item is not None and item is not Ellipsis)
    strides: list[int] = []
    dim = 0  # of x
    for item in index:
        if item is None:
            strides.append(x.shape[dim] * x.strides[dim] if dim < x.ndim else x.itemsize)
        elif item is Ellipsis:
            strides.extend(x.strides[dim : dim + missing])
            dim += missing
        else:
            if isinstance(item, slice):
                strides.append(part.strides[len(strides)])
            dim += 1
    strides.extend(part.strides[len(strides) :])
    return strided(part, part.shape, tuple(strides))


def _slice_backward(x: Array, shape: Shape, index: Index) -> Array:
    whole = np.zeros(shape, x.dtype)
    whole[index] = x
    return whole


slice_view = define(
    "slice(x; index)",
    "y = x[index], index of integers, slices, None and Ellipsis;  ∂x = incoming at index, else 0",
    forward=_slice,
    vjp={
        "x": lambda xp, incoming, x_shape, index: xp.slice_backward(incoming, x_shape, index),
    },
    kind="view",
    linear=True,
    batching=lambda xp, x, index: xp.slice(x, (slice(None), *index)),
    method=False,
    torch="Tensor.__getitem__",
    samples=lambda make: [
        make.call(make(3, 4), (1,)),
        make.call(make(3, 4), (slice(None, None, 2), slice(1, 3))),
        make.call(make(3, 4), (Ellipsis, None, 0)),
        make.call(make(3, 4, 2), (None, slice(1, 3), None, Ellipsis, None)),
        make.call(make(3), (2,)),
        make.call(make(), (None, None)),
        make.call(make(3), (slice(2, 2),)),
    ],
).call
define(
    "slice_backward(x; shape, index)",
    "y = 0 in the given shape, with x written at index;  ∂x = incoming[index]",
    forward=_slice_backward,
    vjp={"x": lambda xp, incoming, index: xp.slice(incoming, index)},
    linear=True,
    meta=lambda x, shape, index: (shape, x.dtype),
    batching=lambda xp, x, shape, index, batch: xp.slice_backward(
        x, (batch, *shape), (slice(None), *index)
    ),
    internal=True,
    samples=lambda make: [
        make.call(make(4), (3, 4), (1,)),
        make.call(make(2, 2), (3, 4), (slice(None, None, 2), slice(1, 3))),
    ],
)


def select(input: Tensor, dim: int, index: Any) -> Tensor:
    """One position of a dimension, which disappears."""
    index = operator.index(index)
    if input.ndim == 0:
        raise _too_flat(input, "select", IndexError)
    dim = normalize_dim(dim, input.ndim, "select")
    size = input.shape[dim]
    if not -size <= index < size:
        raise fail(
            IndexError,
            call=f"select({describe(input)}, dim={dim}, index={index})",
            cause=f"select(): index {index} out of range for tensor of size {list(input.shape)} "
            f"at dimension {dim}",
            fix=f"choose an index from {-size} to {size - 1}",
        )
    return slice_view(input, along(dim, index))


def narrow(input: Tensor, dim: int, start: Any, length: int) -> Tensor:
    """The positions ``start … start + length − 1`` of a dimension."""
    if isinstance(start, Tensor) and (start.ndim or start.dtype.category != dtypes.INTEGER):
        raise fail(
            RuntimeError,
            call=f"narrow({describe(input)}, dim={dim}, start={describe(start)}, length={length})",
            cause="start must be an 0-dim integral Tensor.",
            fix="pass an int, or one element of the tensor",
        )
    start, length = operator.index(start), operator.index(length)
    if input.ndim == 0:
        raise _too_flat(input, "narrow", RuntimeError)
    dim = normalize_dim(dim, input.ndim, "narrow")
    size = input.shape[dim]
    kind: type[Exception] = RuntimeError
    if length < 0:
        cause = "narrow(): length must be non-negative"
    elif not -size <= start <= size:
        kind = IndexError
        cause = (
            f"start out of range (expected to be in range of [{-size}, {size}], but got {start})"
        )
    else:
        start += size if start < 0 else 0
        if start + length <= size:
            return slice_view(input, along(dim, slice(start, start + length)))
        cause = f"start ({start}) + length ({length}) exceeds dimension size ({size})"
    raise fail(
        kind,
        call=f"narrow({describe(input)}, dim={dim}, start={start}, length={length})",
        cause=cause,
        fix=f"stay within the {size} positions of dimension {dim}",
    )


def _too_flat(input: Tensor, call: str, kind: type[Exception]) -> Exception:
    return fail(
        kind,
        call=f"{call} of {describe(input)}",
        cause=f"{call}() cannot be applied to a 0-dim tensor",
        fix="a 0-d tensor has no dimension to choose from; use it as it is",
    )


composite(
    select,
    "y = x at one position of dim",
    kernel=lambda x, dim, index: _slice(x, along(dim % x.ndim, index)),
    samples=lambda make: [
        make.call(make(3, 4), 0, 1),
        make.call(make(3, 4), -1, -2),
        make.call(make(3), 0, 2),
    ],
)
composite(
    narrow,
    "y = a range of positions of dim",
    kernel=lambda x, dim, start, length: _slice(
        x, along(dim % x.ndim, slice(start, start + length))
    ),
    samples=lambda make: [
        make.call(make(3, 4), 0, 1, 2),
        make.call(make(3, 4), -1, -3, 2),
        make.call(make(3, 4), 1, 4, 0),
    ],
)


def _diagonal(x: Array, offset: int, dim1: int, dim2: int) -> Array:
    size1, size2 = x.shape[dim1], x.shape[dim2]
    step1, step2 = x.strides[dim1], x.strides[dim2]
    length = max(min(size1, size2 - offset) if offset >= 0 else min(size1 + offset, size2), 0)
    start = 0 if length == 0 else offset * step2 if offset >= 0 else -offset * step1
    kept = [dim for dim in range(x.ndim) if dim not in (dim1 % x.ndim, dim2 % x.ndim)]
    shape = (*(x.shape[dim] for dim in kept), length)
    strides = (*(x.strides[dim] for dim in kept), step1 + step2)
    return strided(x, shape, strides, start)


def _diagonal_backward(x: Array, shape: Shape, offset: int, dim1: int, dim2: int) -> Array:
    whole = np.zeros(shape, x.dtype)
    _diagonal(whole, offset, dim1, dim2)[...] = x
    return whole


def _diagonal_args(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    """The elements whose indices along two dimensions differ by ``offset``, as the last dim."""
    return input, operator.index(offset), *distinct_dims(input.ndim, dim1, dim2, "diagonal")


def distinct_dims(ndim: int, dim1: int, dim2: int, call: str) -> tuple[int, int]:
    first, second = normalize_dim(dim1, ndim, call), normalize_dim(dim2, ndim, call)
    if first == second:
        raise fail(
            RuntimeError,
            call=f"{call}(dim1={dim1}, dim2={dim2})",
            cause=f"diagonal dimensions cannot be identical {dim1}, {dim2}",
            fix="name two different dimensions",
        )
    return first, second


define(
    "diagonal(x; offset, dim1, dim2)",
    "y = the diagonal of x over dim1, dim2, same memory;  ∂x = incoming on the diagonal, else 0",
    forward=_diagonal,
    vjp={
        "x": lambda xp, incoming, x_shape, offset, dim1, dim2: xp.diagonal_backward(
            incoming, x_shape, offset, dim1, dim2
        )
    },
    kind="view",
    linear=True,
    batching=shift_dims("dim1", "dim2"),
    public=_diagonal_args,
    samples=lambda make: [
        make.call(make(3, 4)),
        make.call(make(3, 4), 1),
        make.call(make(3, 4), -1),
        make.call(make(2, 3, 3), 0, -2, -1),
        make.call(make(2, 3, 3), 1, 2, 0),
        make.call(make(3, 4), 7),
    ],
)
diagonal_backward = define(
    "diagonal_backward(x; shape, offset, dim1, dim2)",
    "y = 0 in the given shape, with x written on the diagonal;  ∂x = the diagonal of incoming",
    forward=_diagonal_backward,
    vjp={
        "x": lambda xp, incoming, offset, dim1, dim2: xp.diagonal(incoming, offset, dim1, dim2),
    },
    linear=True,
    meta=lambda x, shape, offset, dim1, dim2: (shape, x.dtype),
    batching=lambda xp, x, shape, offset, dim1, dim2, batch: xp.diagonal_backward(
        x, (batch, *shape), offset, shift(dim1), shift(dim2)
    ),
    internal=True,
    samples=lambda make: [
        make.call(make(3), (3, 4), 0, 0, 1),
        make.call(make(2, 2), (2, 3, 3), -1, 2, 1),
    ],
).call


def _unfold(x: Array, dimension: int, size: int, step: int) -> Array:
    if x.ndim == 0:
        return strided(x, (size,), (x.itemsize,))
    shape, strides = list(x.shape), list(x.strides)
    shape[dimension] = (shape[dimension] - size) // step + 1
    strides[dimension] *= step
    return strided(x, (*shape, size), (*strides, x.strides[dimension]))


def _unfold_backward(x: Array, shape: Shape, dimension: int, size: int, step: int) -> Array:
    if not shape:
        return x.sum(dtype=x.dtype)
    whole = np.zeros(shape, x.dtype)
    span = (x.shape[dimension] - 1) * step + 1
    for place in range(size):  # one add per position in the window: windows never overlap there
        whole[along(dimension, slice(place, place + span, step))] += x[..., place]
    return whole


def _unfold_args(input: Tensor, dimension: int, size: int, step: int) -> Any:
    """All windows of ``size`` elements along a dimension, ``step`` apart, as a new last dim."""
    dim = normalize_dim(dimension, input.ndim, "unfold")
    size, step = operator.index(size), operator.index(step)
    length = input.shape[dim] if input.ndim else 1
    problem = None
    if size < 0:
        problem = f"size is {size} but must be >= 0"
    elif size > length:
        problem = f"maximum size for tensor at dimension {dim} is {length} but size is {size}"
    elif step <= 0:
        problem = f"step is {step} but must be > 0"
    if problem:
        raise fail(
            RuntimeError,
            call=f"unfold({describe(input)}, dimension={dimension}, size={size}, step={step})",
            cause=problem,
            fix=f"take windows of 0 to {length} elements, at least 1 apart",
        )
    return input, dim, size, step


define(
    "unfold(x; dimension, size, step)",
    "y = windows of x along a dimension, same memory;  ∂x = Σ incoming over the windows",
    forward=_unfold,
    vjp={
        "x": lambda xp, incoming, x_shape, dimension, size, step: xp.unfold_backward(
            incoming, x_shape, dimension, size, step
        )
    },
    kind="view",
    linear=True,
    batching=shift_dims("dimension"),
    public=_unfold_args,
    torch="Tensor.unfold",
    samples=lambda make: [
        make.call(make(6), 0, 3, 1),
        make.call(make(2, 5), -1, 2, 2),
        make.call(make(5, 2), 0, 2, 3),
        make.call(make(), 0, 1, 1),
        make.call(make(3), 0, 0, 1),
    ],
)


def _unfold_backward_of_batch(
    xp: Any, x: Array, shape: Shape, dimension: int, size: int, step: int, batch: int
) -> Array:
    if not shape:
        return xp.sum(x, (1,), False)
    return xp.unfold_backward(x, (batch, *shape), shift(dimension), size, step)


define(
    "unfold_backward(x; shape, dimension, size, step)",
    "y = Σ of the windows in x at the places they came from;  ∂x = the windows of incoming",
    forward=_unfold_backward,
    vjp={
        "x": lambda xp, incoming, dimension, size, step: xp.unfold(incoming, dimension, size, step)
    },
    linear=True,
    meta=lambda x, shape, dimension, size, step: (shape, x.dtype),
    batching=_unfold_backward_of_batch,
    internal=True,
    samples=lambda make: [
        make.call(make(4, 3), (6,), 0, 3, 1),
        make.call(make(2, 2, 2), (2, 5), 1, 2, 2),
    ],
)
