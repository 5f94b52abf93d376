"""Placing whole slices or flat elements by index."""

from __future__ import annotations

from typing import Any

import numpy as np

from whygrad.errors import describe, fail
from whygrad.ops.batching import all_numbers
from whygrad.ops.define import composite, table
from whygrad.ops.geometry import normalize_dim
from whygrad.ops.indexing.positions import check_bounds, within
from whygrad.ops.indexing.selection import (
    require_integers,
    require_same_dtype,
    require_vector,
    single,
)
from whygrad.tensor import Tensor, keys, wrap

Array = Any


def _placed(
    name: str, input: Tensor, dim: Any, index: Tensor, kind: type[Exception], wraps: bool = False
) -> tuple[Tensor, Tensor, int]:
    """Input, index and dimension, checked; a 0-d input or index gets a dimension."""
    dim = normalize_dim(dim, input.ndim, name)
    require_integers(index, name)
    require_vector(index, name, kind, "Index has to be a vector/scalar")
    if not input.ndim:
        input = input.reshape((1,))
    if not index.ndim:
        index = index.reshape((1,))
    return input, _in_range(name, index, input.shape[dim], dim, kind, wraps), dim


def _in_range(
    name: str, index: Tensor, size: int, dim: int, kind: type[Exception], wraps: bool = False
) -> Tensor:
    """The index with every entry between 0 and size − 1 (a meta tensor has nothing to check)."""
    if index._keys & keys.META:
        return index
    array = all_numbers(index)
    if within(array, size):
        return index
    check_bounds(array, size, call=name, dim=dim, kind=kind, wraps=wraps)
    if index._keys & keys.BATCHED:
        return index + (index < 0) * size
    return wrap(np.where(array < 0, array + size, array))


def _require_slices(
    name: str, input: Tensor, dim: int, index: Tensor, source: Tensor, kind: type[Exception]
) -> Tensor:
    """The source, if it has one slice in the shape of the input's per index."""
    if not source.ndim and input.shape == (1,):
        source = source.reshape((1,))
    call = f"{name}({describe(input)}, {dim}, {describe(index)}, {describe(source)})"
    expected = (*input.shape[:dim], *index.shape, *input.shape[dim + 1 :])
    if source.ndim == input.ndim and source.shape[dim] != index.shape[0]:
        raise fail(
            kind,
            call=call,
            cause=f"{name}_(): Number of indices ({index.shape[0]}) should be equal to "
            f"source.size(dim) ({source.shape[dim]})",
            fix="give one slice per index",
        )
    if source.shape != expected:
        raise fail(
            RuntimeError,
            call=call,
            cause=f"{name}_(): source tensor shape must match self tensor shape, excluding the "
            f"specified dimension. Got self.shape = {list(input.shape)} source.shape = "
            f"{list(source.shape)}",
            fix=f"the source must have shape {expected}",
        )
    return source


def _write(x: Tensor, value: Any, position: Tensor, dim: int, accumulate: bool) -> Tensor:
    written: Tensor = table["index_put"].call(x, value, position, (dim,), accumulate)
    return written


def _in_shape(written: Tensor, shape: Any) -> Tensor:
    """No view where none is needed: the result is a tensor of its own."""
    return written if written.shape == shape else written.reshape(shape)


def index_add(input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Any = 1) -> Tensor:
    """``input`` with ``alpha`` · the slices of ``source`` added at ``index`` along ``dim``."""
    require_same_dtype(input, source, "index_add_(): self and source must have the same")
    grown, index, dim = _placed("index_add", input, dim, index, RuntimeError)
    source = _require_slices("index_add", grown, dim, index, source, RuntimeError)
    added = source if alpha == 1 else source * alpha
    return _in_shape(_write(grown, added, index, dim, True), input.shape)


composite(
    index_add,
    "y = x with alpha·source added at index along dim;  ∂x = incoming,  "
    "∂source = alpha · incoming at index",
    inplace=True,
    samples=lambda make: [
        make.call(make(3, 4), 0, make.ints(5, high=3), make(5, 4)),
        make.call(make(3, 4), -1, make.ints(2, high=4), make(3, 2), alpha=2),
        make.call(make(2, 3, 2), 1, make.ints(4, high=3), make(2, 4, 2)),
        make.call(make(), 0, make.ints(high=1), make()),
    ],
)


def index_copy(input: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """``input`` with the slices of ``source`` written at ``index`` along ``dim``."""
    require_same_dtype(input, source, "index_copy_(): self and source expected to have the same")
    grown, index, dim = _placed("index_copy", input, dim, index, IndexError)
    source = _require_slices("index_copy", grown, dim, index, source, IndexError)
    return _in_shape(_write(grown, source, index, dim, False), input.shape)


composite(
    index_copy,
    "y = x with source written at index along dim;  ∂x = incoming, 0 where written,  "
    "∂source = incoming at index",
    inplace=True,
    samples=lambda make: [
        make.call(make(3, 4), 0, np.array([2, 0]), make(2, 4)),
        make.call(make(3, 4), -1, np.array([1]), make(3, 1)),
    ],
    autocast="promote",
)


def index_fill(input: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
    """``input`` with one value in all slices at ``index`` along ``dim``."""
    value = single(input, value, "index_fill")
    grown, index, dim = _placed("index_fill", input, dim, index, IndexError, wraps=True)
    return _in_shape(_write(grown, value, index, dim, False), input.shape)


composite(
    index_fill,
    "y = x with value in the slices at index along dim;  ∂x = incoming, 0 in these slices,  "
    "∂value = Σ incoming over them",
    inplace=True,
    samples=lambda make: [
        make.call(make(3, 4), 0, np.array([2, 0]), 1.5),
        make.call(make(3, 4), 1, np.array([3]), make()),
        make.call(make.ints(3), 0, np.array([-2]), 2.7),
    ],
)


def _flat(name: str, input: Tensor, index: Tensor) -> tuple[Tensor, Tensor]:
    """The elements in a row, and the index into them."""
    require_integers(index, name)
    size = input.numel()
    return input.reshape((-1,)), _in_range(name, index, size, 0, IndexError, wraps=True)


def take(input: Tensor, index: Tensor) -> Tensor:
    """The elements at ``index``, counted as if ``input`` were one row."""
    row, position = _flat("take", input, index)
    picked: Tensor = table["index"].call(row, position, (0,))
    return picked


composite(
    take,
    "y = the elements of x at index, x seen as one row;  ∂x = incoming added up at index",
    samples=lambda make: [
        make.call(make(3, 4), make.ints(2, 3, high=12)),
        make.call(make(3, 4), np.array([-1, 0, -1])),
        make.call(make(3), make.ints(high=3)),
    ],
)


def put(input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """``input`` with ``source`` written (or added) at ``index``, counted as one row."""
    require_same_dtype(input, source, "put_(): self and source expected to have the same")
    if source.numel() != index.numel():
        raise fail(
            IndexError,
            call=f"put({describe(input)}, {describe(index)}, {describe(source)})",
            cause="put_(): Expected source and index to have the same number of elements, but got "
            f"source.numel() = {source.numel()}, index.numel() = {index.numel()}",
            fix="give one element per index",
        )
    row, position = _flat("put", input, index)
    written = _write(row, source.reshape(index.shape), position, 0, accumulate)
    return _in_shape(written, input.shape)


composite(
    put,
    "y = x with source written (or added) at index, x seen as one row;  "
    "∂x = incoming, 0 where written,  ∂source = incoming at index",
    inplace=True,
    torch="Tensor.put",
    samples=lambda make: [
        make.call(make(3, 4), np.array([[0, -1], [5, 6]]), make(4)),
        make.call(make(3, 4), np.array([1, 1, 2]), make(3), accumulate=True),
    ],
)


def take_along_dim(input: Tensor, indices: Tensor, dim: int | None = None) -> Tensor:
    """``gather`` with broadcasting, and with negative indices."""
    require_integers(indices, "take_along_dim")
    if dim is None:
        return take(input, indices.reshape((-1,)))
    dim = normalize_dim(dim, input.ndim, "take_along_dim")
    if input.ndim != indices.ndim:
        raise fail(
            RuntimeError,
            call=f"take_along_dim({describe(input)}, {describe(indices)}, {dim})",
            cause="input and indices should have the same number of dimensions, but got "
            f"{input.ndim} dimensions for input, and {indices.ndim} dimensions for indices",
            fix="add dimensions of size 1, which broadcast",
        )
    position = _in_range("take_along_dim", indices, input.shape[dim], dim, RuntimeError, wraps=True)
    others = np.broadcast_shapes(_without(input.shape, dim), _without(indices.shape, dim))
    whole = (*others[:dim], input.shape[dim], *others[dim:])
    wanted = (*others[:dim], indices.shape[dim], *others[dim:])
    picked: Tensor = table["gather"].call(input.expand(whole), position.expand(wanted), dim)
    return picked


def _without(shape: tuple[int, ...], dim: int) -> tuple[int, ...]:
    return (*shape[:dim], *shape[dim + 1 :])


composite(
    take_along_dim,
    "y = x at indices along dim, with broadcasting;  ∂x = incoming added up at indices",
    samples=lambda make: [
        make.call(make(3, 4), make.ints(3, 1, high=4), 1),
        make.call(make(3, 4), make.ints(1, 2, high=4), dim=1),
        make.call(make(1, 4), make.ints(3, 4, high=1), 0),
        make.call(make(3, 4), make.ints(3, high=12)),
        make.call(make(3, 4), np.array([[-1], [0], [-4]]), 1),
    ],
)
