"""The op table and what is made from it: public functions and tensor methods."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from whygrad.ops import (  # noqa: F401  (each declares its ops)
    activation,
    arithmetic,
    axes,
    bounds,
    classification,
    comparison,
    contraction,
    conversion,
    creation,
    decompositions,
    determinants,
    diagonals,
    discrete,
    dropout,
    einsum,
    exponential,
    extrema,
    fused_products,
    indexing,
    inplace,
    joining,
    likes,
    linalg,
    linear,
    loss,
    matrices,
    matrix_norms,
    moments,
    operators,
    ordering,
    padding,
    parts,
    piecewise,
    placing,
    positions,
    powers,
    products,
    quantiles,
    ranges,
    rearrange,
    reduction,
    reshaping,
    rounding,
    sampling,
    scans,
    scatter,
    scatter_reduce,
    searching,
    selection,
    singular_values,
    softmax,
    solvers,
    sparse,
    sparse_algebra,
    sparse_creation,
    sparse_parts,
    special,
    splitting,
    strided,
    transfer,
    trigonometry,
    views,
)
from whygrad.ops.define import aliases, table
from whygrad.tensor import Tensor

__all__ = ["functions", "table"]

functions: dict[str, Callable[..., Any]] = {
    name: op.public for name, op in table.items() if op.public_name == name
}

for _op in table.values():
    if _op.method:
        setattr(Tensor, _op.name, _op.public)
conversion.install()
operators.install()
inplace.install()
sparse_algebra.install()
sparse_parts.install()
for _name, _original in aliases.items():
    functions[_name] = functions[_original]
    for _suffix in ("", "_"):
        if hasattr(Tensor, _original + _suffix):
            setattr(Tensor, _name + _suffix, getattr(Tensor, _original + _suffix))
