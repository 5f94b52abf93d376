"""Reading and writing at computed positions: what advanced indexing is made of.

However many index arrays ``x[i, :, j]`` has, they pick cells of a grid spanned by the indexed
dimensions.  Numbering those cells row by row turns all the arrays into a single integer array,
``position``, so there is one kernel to read, one to add and one to write, and backward saves one
array.  The picked block takes the place of the indexed dimensions if these are neighbours, and
comes first otherwise, as in NumPy and PyTorch.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from whygrad.errors import fail
from whygrad.ops.batching import only, shift
from whygrad.ops.define import define

__all__ = [
    "add_rows",
    "check_bounds",
    "index_put",
    "overwritten",
    "picked_shape",
    "within",
    "write",
]

Array = Any
Shape = tuple[int, ...]
Dims = tuple[int, ...]

# Below this many elements, building a sparse matrix costs more than it saves.
_SPARSE_FROM = 30_000


def within(index: Array, size: int) -> bool:
    """Whether every index lies between 0 and size − 1."""
    # a negative number, read as unsigned, is larger than any size: one comparison does for both
    unsigned = np.uint64 if index.dtype.itemsize == 8 else np.uint32
    return not index.size or bool(np.maximum.reduce(index.view(unsigned), axis=None) < size)


def check_bounds(
    index: Array,
    size: int,
    *,
    call: str,
    dim: int,
    kind: type[Exception] = IndexError,
    wraps: bool = False,
    phrase: str = "",
) -> None:
    """Raise unless every index points into a dimension of this size (``wraps``: or −size … −1)."""
    if within(index, size):
        return
    low, high = int(index.min()), int(index.max())
    least = -size if wraps else 0
    if low >= least and high < size:
        return
    wrong = low if low < least else high
    raise fail(
        kind,
        call=call,
        cause=f"{phrase}index {wrong} is out of bounds for dimension {dim} with size {size}",
        fix=f"indices must lie between {least} and {size - 1}"
        if size
        else "the dimension is empty: there is nothing to index",
    )


def _adjacent(dims: Dims) -> bool:
    return dims[-1] - dims[0] == len(dims) - 1


def _cells(shape: Shape, dims: Dims) -> int:
    return prod(shape[dim] for dim in dims)


def picked_shape(shape: Shape, position_shape: Shape, dims: Dims) -> Shape:
    """The shape of ``index(x, position, dims)``."""
    if _adjacent(dims):
        return (*shape[: dims[0]], *position_shape, *shape[dims[-1] + 1 :])
    rest = (size for dim, size in enumerate(shape) if dim not in dims)
    return (*position_shape, *rest)


def _merged(x: Array, dims: Dims) -> Array:
    """``x`` with neighbouring ``dims`` made into one (a view of a contiguous array)."""
    first, last = dims[0], dims[-1]
    return x.reshape(*x.shape[:first], _cells(x.shape, dims), *x.shape[last + 1 :])


def _coordinates(position: Array, shape: Shape, dims: Dims) -> tuple[Any, ...]:
    """The position as one array per dimension, slices elsewhere: a NumPy index."""
    places: list[Any] = [slice(None)] * (dims[-1] + 1)
    for dim in reversed(dims):
        size = max(shape[dim], 1)  # an empty dimension has only empty positions
        places[dim] = position % size if dim != dims[0] else position
        position = position // size
    return tuple(places)


def _index(x: Array, position: Array, dims: Dims) -> Array:
    if _adjacent(dims) and x.flags.c_contiguous:
        return np.take(_merged(x, dims), position, axis=dims[0])
    return x[_coordinates(position, x.shape, dims)]


def add_rows(target: Array, rows: Array, source: Array) -> None:
    """``target[rows[k]] += source[k]`` for every k, repeated rows included."""
    width = target.shape[1]
    if source.size >= _SPARSE_FROM and width > 1:
        from scipy.sparse import csc_array

        count = len(rows)
        ones = np.ones(count, target.dtype)
        placement = csc_array((ones, rows, np.arange(count + 1)), shape=(len(target), count))
        target += placement @ source
        return
    if width > 1:
        rows = rows[:, None] * width + np.arange(width)
    # flat and contiguous is the one form that np.add.at handles without its slow iterator
    np.add.at(target.reshape(-1), rows.reshape(-1), source.reshape(-1))


def _index_backward(x: Array, position: Array, shape: Shape, dims: Dims) -> Array:
    cells = _cells(shape, dims)
    rows = position.reshape(-1).astype(np.intp, copy=False)
    if not _adjacent(dims):
        rest = tuple(dim for dim in range(len(shape)) if dim not in dims)
        whole = np.zeros((cells, prod(shape[dim] for dim in rest)), x.dtype)
        if whole.size:
            add_rows(whole, rows, x.reshape(len(rows), whole.shape[1]))
        order = (*dims, *rest)
        spread = whole.reshape([shape[dim] for dim in order])
        return np.ascontiguousarray(spread.transpose(np.argsort(order)))
    before, after = prod(shape[: dims[0]]), prod(shape[dims[-1] + 1 :])
    whole = np.zeros((before * cells, after), x.dtype)
    if before > 1:
        rows = (np.arange(before)[:, None] * cells + rows).reshape(-1)
    if whole.size:
        add_rows(whole, rows, x.reshape(len(rows), after))
    return whole.reshape(shape)


def write(out: Array, value: Array, position: Array, dims: Dims) -> None:
    """``out`` at the positions becomes ``value``, in place."""
    if _adjacent(dims) and out.flags.c_contiguous:
        merged = _merged(out, dims)
        merged[(*(slice(None),) * dims[0], position)] = value
    else:
        out[_coordinates(position, out.shape, dims)] = value


def index_put(x: Array, value: Array, position: Array, dims: Dims, accumulate: bool) -> Array:
    """A copy of ``x`` with ``value`` written or added at the positions."""
    if accumulate:
        shape = picked_shape(x.shape, position.shape, dims)
        added = np.broadcast_to(np.asarray(value, x.dtype), shape)
        return x + _index_backward(added, position, x.shape, dims)
    out = np.array(x, order="C")
    write(out, value, position, dims)
    return out


def overwritten(position: Array, cells: int) -> Array:
    """Which entries of a flat position array a later entry writes over."""
    order = np.arange(position.size)
    last = np.empty(cells, np.intp)
    last[position] = order
    return last[position] != order


def _index_last(x: Array, position: Array, dims: Dims) -> Array:
    picked = _index(x, position, dims)
    lost = overwritten(position.reshape(-1), _cells(x.shape, dims))
    if lost.any():
        after = x.ndim - dims[-1] - 1 if _adjacent(dims) else x.ndim - len(dims)
        lost = lost.reshape(position.shape + (1,) * after)
        picked[np.broadcast_to(lost, picked.shape)] = 0
    return picked


def _positions(make: Any, dims: Dims, *shape: int) -> Any:
    """Sample arguments: an array, positions in the grid of ``dims`` with repeats, and dims."""
    return make(*shape), make.ints(5, high=_cells(shape, dims)), dims


def _index_of_batch(xp: Any, x: Array, position: Array, dims: Dims) -> Array:
    picked = xp.index(x, position, shift(dims))
    if _adjacent(dims):
        return picked
    batch = position.ndim  # the picked block has come before the batch
    rest = (dim for dim in range(picked.ndim) if dim != batch)
    return xp.permute(picked, (batch, *rest))


define(
    "index(x, position; dims)",
    "y = the cells of x at position, counted over dims;  ∂x = incoming added up at position",
    forward=_index,
    vjp={
        "x": lambda xp, incoming, position, x_shape, dims: xp.index_backward(
            incoming, position, x_shape, dims
        )
    },
    linear=True,
    meta=lambda x, position, dims: (picked_shape(x.shape, position.shape, dims), x.dtype),
    batching=only("x", _index_of_batch),
    internal=True,
    samples=lambda make: [
        make.call(*_positions(make, (0,), 3, 4)),
        make.call(*_positions(make, (1, 2), 2, 3, 4)),
        make.call(*_positions(make, (0, 2), 2, 3, 4)),
        make.call(make(3, 4), make.ints(2, 2, high=3), (0,)),
        make.call(make(3, 4), make.ints(0), (1,)),
    ],
)
define(
    "index_backward(x, position; shape, dims)",
    "y = 0 in the given shape with x added at position;  ∂x = incoming at position",
    forward=_index_backward,
    vjp={"x": lambda xp, incoming, position, dims: xp.index(incoming, position, dims)},
    linear=True,
    meta=lambda x, position, shape, dims: (shape, x.dtype),
    internal=True,
    samples=lambda make: [
        make.call(make(5, 4), make.ints(5, high=3), (3, 4), (0,)),
        make.call(make(2, 5), make.ints(5, high=12), (2, 3, 4), (1, 2)),
        make.call(make(5, 3), make.ints(5, high=8), (2, 3, 4), (0, 2)),
        make.call(make(3, 0), make.ints(0), (3, 4), (1,)),
    ],
)
define(
    "index_last(x, position; dims)",
    "y = index(x, position), 0 where the same position comes again later;  "
    "∂x = incoming written at position",
    forward=_index_last,
    vjp={
        "x": lambda xp, incoming, position, x_shape, dims: xp.index_put(
            xp.new_zeros(incoming, x_shape), incoming, position, dims, False
        )
    },
    linear=True,
    meta=lambda x, position, dims: (picked_shape(x.shape, position.shape, dims), x.dtype),
    internal=True,
    samples=lambda make: [
        make.call(make(3, 4), np.array([2, 0, 2]), (0,)),
        make.call(make(2, 3, 4), np.array([5, 0, 5]), (0, 2)),
        make.call(make(2, 3, 4), np.array([[5, 0], [1, 5]]), (1, 2)),
    ],
)
