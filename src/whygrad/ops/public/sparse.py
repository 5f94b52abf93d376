"""Functions on sparse tensors, as in ``torch.sparse``."""

from __future__ import annotations

from typing import Any

from whygrad.errors import describe, fail
from whygrad.ops.define import table
from whygrad.ops.sparse.layouts import is_sparse
from whygrad.tensor import Tensor

__all__ = ["addmm", "mm", "sum"]


def mm(mat1: Tensor, mat2: Tensor) -> Tensor:
    """The product of two matrices, either of them sparse.

    The gradient of a sparse factor is sparse and lives on its pattern.
    """
    result: Tensor = table["mm"].public(mat1, mat2)
    return result


def addmm(
    mat: Tensor, mat1: Tensor, mat2: Tensor, *, beta: float = 1.0, alpha: float = 1.0
) -> Tensor:
    """``beta * mat + alpha * (mat1 @ mat2)`` with a sparse ``mat1``."""
    result: Tensor = table["addmm"].public(mat, mat1, mat2, beta=beta, alpha=alpha)
    return result


def sum(input: Tensor, dim: Any = None, dtype: Any = None) -> Tensor:
    """Sum over ``dim``: a dense number if every dimension goes, else a sparse tensor."""
    if not is_sparse(input):
        raise fail(
            RuntimeError,
            call=f"sparse.sum({describe(input)})",
            cause="sparse.sum takes a sparse tensor",
            fix="use whygrad.sum for strided tensors",
        )
    result: Tensor = table["sum"].public(input, dim, dtype=dtype)
    return result
