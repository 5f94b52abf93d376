"""Products with sparse matrices under PyTorch's older names."""

from __future__ import annotations

from typing import Any

from whygrad.dispatch.arguments import also_named
from whygrad.ops.define import alias, composite, table
from whygrad.ops.sparse.layouts import to_dense, to_sparse
from whygrad.tensor import Tensor


@also_named(mat2="mat")
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
# What a sparse tensor is stored as, and how a sample of that layout is made.
_PARTS = (
    ("values", "to_sparse"),
    ("indices", "to_sparse"),
    ("crow_indices", "to_sparse_csr"),
    ("col_indices", "to_sparse_csr"),
)


def _declare_copy(part: str, convert: str) -> None:
    def copied(input: Tensor) -> Tensor:
        stored: Tensor = getattr(input, part)()
        return stored.clone()

    copied.__name__ = copied.__qualname__ = f"{part}_copy"
    copied.__doc__ = f"``{part}()`` of a sparse tensor, with memory of its own."
    composite(
        copied,
        f"y = the {part.replace('_', ' ')} of a sparse x, copied",
        method=False,
        differentiable=part == "values",
        torch="",  # has no kernel there, or no derivative
        samples=lambda make: [make.around(lambda copy, x: copy(getattr(x, convert)()), make(2, 3))],
    )


for _row in _PARTS:
    _declare_copy(*_row)
alias("hsmm", "smm")
alias("hspmm", "smm")
alias("saddmm", "sspaddmm")
