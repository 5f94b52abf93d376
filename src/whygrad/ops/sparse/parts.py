"""The parts of a sparse tensor: coordinates, values and how many there are."""

from __future__ import annotations

from whygrad.errors import describe, fail
from whygrad.ops.define import composite
from whygrad.ops.sparse.layouts import entries, is_sparse, pattern_of, require_layout
from whygrad.tensor import Tensor, keys, wrap

__all__ = ["install"]


def values(input: Tensor) -> Tensor:
    """The stored values of a coalesced tensor, one per coordinate."""
    require_layout(input, "values", keys.LAYOUTS)
    _require_coalesced(input, "values")
    return entries(input)


def indices(input: Tensor) -> Tensor:
    """The coordinates of a coalesced tensor: one row per dimension, one column per value."""
    require_layout(input, "indices", keys.SPARSE_COO)
    _require_coalesced(input, "indices")
    return _indices(input)


def _indices(input: Tensor) -> Tensor:
    """The coordinates as they are stored, also of an uncoalesced tensor."""
    require_layout(input, "_indices", keys.SPARSE_COO)
    return wrap(pattern_of(input).indices)


def _values(input: Tensor) -> Tensor:
    """The values as they are stored, also of an uncoalesced tensor; not recorded."""
    require_layout(input, "_values", keys.LAYOUTS)
    stored = wrap(input._array.values)
    stored._storage = input._storage
    return stored


def _nnz(input: Tensor) -> int:
    """How many values are stored."""
    require_layout(input, "_nnz", keys.LAYOUTS)
    return pattern_of(input).count


def is_coalesced(input: Tensor) -> bool:
    """Whether coordinates are sorted and none repeats."""
    require_layout(input, "is_coalesced", keys.SPARSE_COO)
    return pattern_of(input).coalesced


def crow_indices(input: Tensor) -> Tensor:
    """Where each row starts among the values, and the end."""
    require_layout(input, "crow_indices", keys.SPARSE_CSR)
    return wrap(input._array.pattern.row_starts)


def col_indices(input: Tensor) -> Tensor:
    """The column of each value."""
    require_layout(input, "col_indices", keys.SPARSE_CSR)
    return wrap(input._array.pattern.columns)


def sparse_dim(input: Tensor) -> int:
    """How many dimensions are stored by coordinate."""
    return input.ndim if is_sparse(input) else 0


def dense_dim(input: Tensor) -> int:
    """How many dimensions are stored in full."""
    return 0 if is_sparse(input) else input.ndim


def _require_coalesced(input: Tensor, name: str) -> None:
    if not pattern_of(input).coalesced:
        raise fail(
            RuntimeError,
            call=f"{name}() of {describe(input)}",
            cause=f"Cannot get {name} on an uncoalesced tensor, please call .coalesce() first",
            fix=f"x.coalesce().{name}(), or x._{name}() to see repeats as they are stored",
        )


def _on_layout(bit: int) -> property:
    return property(lambda tensor: bool(tensor._keys & bit))


def install() -> None:
    """Give ``Tensor`` the accessors that are not ops."""
    for method in (
        _indices, _nnz, _values, col_indices, crow_indices, dense_dim, indices, is_coalesced,
        sparse_dim,
    ):  # fmt: skip
        setattr(Tensor, method.__name__, method)
    Tensor.is_sparse = _on_layout(keys.SPARSE_COO)  # type: ignore[assignment, method-assign]
    Tensor.is_sparse_csr = _on_layout(keys.SPARSE_CSR)  # type: ignore[assignment, method-assign]


composite(
    values,
    "y = the stored values of x;  ∂x = incoming at the stored coordinates",
    torch="Tensor.values",
    samples=lambda make: [make.around(lambda op, x: op((x * (x > 0)).to_sparse()), make(2, 3))],
)
