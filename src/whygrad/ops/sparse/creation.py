"""Sparse tensors from coordinates or compressed rows.

Indices are checked here, always: a wrong coordinate found later would be a wrong number or a
crash in a kernel.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from whygrad.errors import describe, fail
from whygrad.ops.creation.creation import tensor as new_tensor
from whygrad.ops.define import composite
from whygrad.ops.sparse.layouts import build
from whygrad.ops.sparse.pattern import CooPattern, CsrPattern, Pattern
from whygrad.tensor import Tensor, devices

__all__ = ["sparse_coo_tensor", "sparse_csr_tensor"]

Array = Any


def sparse_coo_tensor(
    indices: Any,
    values: Any = None,
    size: Any = None,
    *,
    dtype: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
    is_coalesced: bool | None = None,
) -> Tensor:
    """A tensor from coordinates: ``indices`` has one row per dimension, one column per value.

    A coordinate may appear several times; its values add up.  ``sparse_coo_tensor(size)`` alone
    is a tensor of zeros.  ``pin_memory`` and ``check_invariants`` are taken as in PyTorch and
    change nothing: indices are always checked.
    """
    if values is None and size is None:
        size = tuple(indices)
        indices, values = np.zeros((len(size), 0), dtype=np.int64), new_tensor([], dtype=dtype)
    places = _integers(indices)
    given = _values(values, dtype, device)
    if places.ndim != 2:
        raise _invalid(
            "sparse_coo_tensor",
            f"indices must be sparse_dim x nnz, but got: {list(places.shape)}",
            "pass one row of coordinates per dimension",
        )
    _require_vector("sparse_coo_tensor", given)
    if places.shape[1] != len(given):
        raise _invalid(
            "sparse_coo_tensor",
            "indices and values must have same nnz, but got nnz from indices: "
            f"{places.shape[1]}, nnz from values: {len(given)}",
            "pass one value per column of indices",
        )
    shape = _shape_for(places) if size is None else tuple(int(each) for each in size)
    if len(shape) != len(places) or not shape:
        raise _invalid(
            "sparse_coo_tensor",
            f"'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = {len(shape)}, "
            f"sparse_dim = {len(places)}, dense_dim = 0",
            "pass one row of indices per dimension of size",
        )
    _check_range(places, shape)
    pattern = CooPattern(places, shape, coalesced=False)
    if is_coalesced:
        pattern = CooPattern(places, shape, coalesced=True)
        if not CooPattern(places, shape, coalesced=False).distinct[0].same_as(pattern):
            raise _invalid(
                "sparse_coo_tensor",
                "cannot set is_coalesced to true if indices correspond to uncoalesced COO tensor",
                "leave is_coalesced out and call coalesce() on the result",
            )
    return _made(given, pattern, requires_grad)


def sparse_csr_tensor(
    crow_indices: Any,
    col_indices: Any,
    values: Any,
    size: Any = None,
    *,
    dtype: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
) -> Tensor:
    """A matrix by rows: row ``i`` owns values ``crow_indices[i]`` to ``crow_indices[i + 1]``.

    ``pin_memory`` and ``check_invariants`` are taken as in PyTorch and change nothing: indices
    are always checked.
    """
    starts, columns = _integers(crow_indices), _integers(col_indices)
    given = _values(values, dtype, device)
    _require_vector("sparse_csr_tensor", given)
    if size is None:
        size = (len(starts) - 1, int(columns.max()) + 1 if columns.size else 0)
    shape = tuple(int(each) for each in size)
    broken = _broken_invariant(starts, columns, len(given), shape)
    if broken:
        raise _invalid("sparse_csr_tensor", *broken)
    return _made(given, CsrPattern(starts, columns, shape), requires_grad)


def _broken_invariant(
    starts: Array, columns: Array, count: int, shape: tuple[int, ...]
) -> tuple[str, str] | None:
    """(cause, fix) of the first of PyTorch's conditions on compressed rows that does not hold."""
    if len(shape) != 2 or starts.ndim != 1 or columns.ndim != 1:
        return (
            "compressed rows are for matrices: size needs 2 entries, crow_indices and "
            f"col_indices 1 dimension, but got size {list(shape)}, {starts.ndim} and "
            f"{columns.ndim} dimensions",
            "use sparse_coo_tensor for other numbers of dimensions",
        )
    rows, width = shape
    if len(starts) != rows + 1:
        return (
            "crow_indices.shape[-1] must be equal to the number of rows + 1 "
            f"(={rows + 1}), but got {len(starts)}",
            "pass the start of every row and the end of the last one",
        )
    if len(columns) != count:
        return (
            f"col_indices.shape[-1] must be equal to nnz (={count}) as defined by "
            f"values.shape[0], but got {len(columns)}",
            "pass one column per value",
        )
    if starts[0] != 0:
        return "`crow_indices[..., 0] == 0` is not satisfied.", "the first row starts at value 0"
    if starts[-1] != count:
        return (
            "`crow_indices[..., -1] == nnz` is not satisfied.",
            f"the last entry is the number of values, {count}",
        )
    lengths = np.diff(starts)
    if (lengths < 0).any() or (lengths > width).any():
        return (
            "`0 <= crow_indices[..., 1:] - crow_indices[..., :-1] <= ncols` is not satisfied.",
            f"row starts never decrease, and no row has more than {width} values",
        )
    if columns.size and (columns.min() < 0 or columns.max() >= width):
        return (
            "`0 <= col_indices < ncols` is not satisfied.",
            f"columns count from 0 to {width - 1}",
        )
    row_of = np.repeat(np.arange(rows), lengths)
    if (np.diff(row_of * width + columns) <= 0).any():
        return (
            "col_indices must be sorted and distinct within each row",
            "sort the columns of each row and add up repeats",
        )
    return None


def _integers(indices: Any) -> Array:
    if isinstance(indices, Tensor):
        indices = indices._array
    return np.array(indices, dtype=np.int64)


def _values(values: Any, dtype: Any, device: Any) -> Tensor:
    given = values if isinstance(values, Tensor) else new_tensor(values, dtype=dtype)
    place = given.device if device is None else devices.of(device)
    if place.type != "cpu":
        raise fail(
            RuntimeError,
            call=f"a sparse tensor on {place}",
            cause="sparse layouts exist on cpu only: a pattern depends on the data of the indices",
            fix="leave device out",
        )
    return given if dtype is None else given.to(dtype)


def _require_vector(call: str, values: Tensor) -> None:
    if values.ndim != 1:
        raise _invalid(
            call,
            f"values must be one number per coordinate, but got {describe(values)}; hybrid "
            "tensors (sparse dimensions followed by dense ones) are not supported",
            "pass a vector of values",
        )


def _shape_for(places: Array) -> tuple[int, ...]:
    """The smallest shape that holds the coordinates."""
    if not places.shape[1]:
        return (0,) * len(places)
    return tuple(int(most) + 1 for most in places.max(axis=1))


def _check_range(places: Array, shape: tuple[int, ...]) -> None:
    if not places.size:
        return
    for dim, (least, most) in enumerate(zip(places.min(axis=1), places.max(axis=1), strict=True)):
        if least < 0:
            raise _invalid(
                "sparse_coo_tensor",
                f"found negative index {least} for dim {dim}",
                "coordinates count from 0",
            )
        if most >= shape[dim]:
            raise _invalid(
                "sparse_coo_tensor",
                f"size is inconsistent with indices: for dim {dim}, size is {shape[dim]} but "
                f"found index {most}",
                "pass a larger size, or leave it out",
            )


def _made(values: Tensor, pattern: Pattern, requires_grad: bool) -> Tensor:
    made = build(values, pattern)
    return made.requires_grad_() if requires_grad else made


def _invalid(call: str, cause: str, fix: str) -> RuntimeError:
    return fail(RuntimeError, call=f"{call}(…)", cause=cause, fix=fix)


def _dense(op: Any, *args: Any, **kwargs: Any) -> Any:
    return op(*args, **kwargs).to_dense()


composite(
    sparse_coo_tensor,
    "y = values at coordinates, repeats added up;  ∂values = incoming at the coordinates",
    method=False,
    torch="",  # PyTorch warns about unchecked indices; tests/ops/test_sparse.py compares
    samples=lambda make: [
        make.around(_dense, np.array([[0, 1, 1], [2, 0, 2]]), make(3), (2, 3)),
        make.around(_dense, np.array([[1, 0, 1], [2, 0, 2]]), make(3), (2, 3)),
        make.around(_dense, np.array([[3, 1]]), make(2)),
        make.around(_dense, np.array([[0, 1], [1, 0], [1, 1]]), make(2), size=(2, 2, 2)),
        make.around(_dense, np.zeros((2, 0), dtype=np.int64), make(0), (2, 3)),
    ],
)
composite(
    sparse_csr_tensor,
    "y = values by compressed rows;  ∂values = incoming at the coordinates",
    method=False,
    torch="",  # PyTorch warns that its CSR is in beta
    samples=lambda make: [
        make.around(_dense, np.array([0, 1, 3]), np.array([2, 0, 2]), make(3), (2, 3)),
        make.around(_dense, np.array([0, 0, 2]), np.array([0, 1]), make(2)),
    ],
)
