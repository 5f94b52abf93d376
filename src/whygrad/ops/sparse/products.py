"""Products with sparse matrices under PyTorch's older names."""

from __future__ import annotations

from typing import Any

from whygrad.ops.define import alias, composite, table
from whygrad.ops.sparse.layouts import to_dense, to_sparse
from whygrad.tensor import Tensor


def smm(input: Tensor, mat: Tensor) -> Tensor:
    """A sparse matrix times a dense one, the result sparse."""
    return to_sparse(table["mm"].public(input, mat))


def sspaddmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """``beta·input + alpha·(mat1 @ mat2)`` with ``input`` and ``mat1`` sparse, the result too."""
    total = to_dense(input) * beta + table["mm"].public(mat1, mat2) * alpha
    return to_sparse(total)


def _densely(function: Any, *args: Any, sparse: tuple[int, ...]) -> Any:
    """For samples: a call whose arguments at these places are made sparse, its result dense."""
    given = [each.to_sparse() if place in sparse else each for place, each in enumerate(args)]
    return function(*given).to_dense()


composite(
    smm,
    "y = a·b, sparse",
    torch="",  # its gradient is not implemented there
    samples=lambda make: [make.around(_densely, make(2, 3), make(3, 2), sparse=(0,))],
)
composite(
    sspaddmm,
    "y = beta·x + alpha·a·b, sparse",
    torch="",  # its gradient is not implemented there
    samples=lambda make: [make.around(_densely, make(2, 2), make(2, 3), make(3, 2), sparse=(0, 1))],
)
alias("dsmm", "mm")
alias("hsmm", "smm")
alias("hspmm", "smm")
alias("saddmm", "sspaddmm")
alias("spmm", "mm")
