"""What the linear algebra families share: checks of their arguments, and their errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from whygrad.errors import describe, fail
from whygrad.ops.batching import repeat_over
from whygrad.ops.complex_numbers import is_complex
from whygrad.ops.define import define
from whygrad.tensor import Tensor, dtypes

__all__ = [
    "LinAlgError",
    "batch_element",
    "matrix_transpose",
    "over_matrices",
    "require_floats",
    "require_matrices",
    "require_square",
    "singular",
    "square_only",
    "symmetric",
]

Array = Any


class LinAlgError(RuntimeError):
    """A matrix does not have what was asked for: an inverse, a Cholesky factor, …"""


def require_floats(call: str, tensor: Tensor) -> None:
    if tensor.dtype.category < dtypes.FLOAT:
        raise fail(
            RuntimeError,
            call=f"{call}({describe(tensor)})",
            cause=f"{call}: Expected a floating point or complex tensor as input. "
            f"Got {tensor.dtype.name}",
            fix="convert it first: x.to(whygrad.float32)",
        )


def require_matrices(call: str, tensor: Tensor, name: str = "A", *, floats: bool = True) -> None:
    """At least two dimensions; the last two are the matrix."""
    if tensor.ndim < 2:
        raise fail(
            RuntimeError,
            call=f"{call}({describe(tensor)})",
            cause=f"{call}: The input tensor {name} must have at least 2 dimensions.",
            fix="add a dimension with unsqueeze(), for example x.unsqueeze(-1)",
        )
    if floats:
        require_floats(call, tensor)


def require_square(call: str, tensor: Tensor, *, floats: bool = True) -> None:
    require_matrices(call, tensor, floats=floats)
    rows, columns = tensor.shape[-2:]
    if rows != columns:
        raise fail(
            RuntimeError,
            call=f"{call}({describe(tensor)})",
            cause=f"{call}: A must be batches of square matrices, but they are "
            f"{rows} by {columns} matrices",
            fix="use linalg.pinv, linalg.lstsq or linalg.svd for matrices that are not square",
        )


def square_only(call: str) -> Callable[[Tensor], tuple[Tensor]]:
    """The argument check of an op whose only argument is a square matrix ``A``."""

    def prepare(A: Tensor) -> tuple[Tensor]:
        require_square(call, A)
        return (A,)

    return prepare


def singular(call: str, x: Array) -> LinAlgError:
    """The complaint about the first matrix of the stack that has no inverse."""
    failing = np.flatnonzero(np.linalg.slogdet(x)[0] == 0)
    element = int(failing[0]) if failing.size else 0
    matrix = x.reshape(-1, *x.shape[-2:])[element]
    rank, size = np.linalg.matrix_rank(matrix), matrix.shape[-1]
    return fail(
        LinAlgError,
        call=f"{call}({describe(x)})",
        cause=f"{batch_element(x, element)}the input matrix is singular: its {size} rows span only "
        f"{rank} dimensions",
        fix="remove rows that repeat others, add a small multiple of the identity, or use "
        "linalg.pinv for the least-squares answer",
    )


def batch_element(x: Array, element: int) -> str:
    """PyTorch's way to say which matrix of a stack is meant; nothing for a single matrix."""
    return f"(Batch element {element}): " if x.ndim > 2 else ""


def matrix_transpose(xp: Any, x: Array) -> Array:
    """Rows and columns exchanged, as a view."""
    return xp.transpose(x, -2, -1)


def adjoint(xp: Any, x: Array) -> Array:
    """Rows and columns exchanged, and complex numbers conjugated."""
    flipped = matrix_transpose(xp, x)
    return xp.conj_physical(flipped) if is_complex(x) else flipped


def symmetric(xp: Any, x: Array) -> Array:
    """The symmetric part of a matrix, of a complex one the Hermitian part."""
    return 0.5 * (x + adjoint(xp, x))


def imaginary_diagonal(xp: Any, x: Array) -> Array:
    """The imaginary part of the diagonal alone; 0 of a real matrix."""
    return xp.identity_like(x) * (x - xp.real_part(x)) if is_complex(x) else 0.0


def check_phases(call: str, turning: Array, incoming: Array) -> None:
    """Refuse the gradient of a loss that depends on a phase which the result leaves open.

    ``turning`` is how the loss changes with the phases; under ``create_graph`` as a tensor.
    """
    numbers = getattr(turning, "_array", turning)
    if not isinstance(numbers, np.ndarray) or not numbers.size:
        return
    arrived: Array = getattr(incoming, "_array", incoming)
    scale = np.abs(arrived).max(initial=1.0)
    if np.abs(numbers).max() > np.sqrt(np.finfo(numbers.dtype).eps) * scale:
        raise fail(
            RuntimeError,
            call=f"the derivative of {call}",
            cause="the vectors are determined up to a factor e^(iφ) in the complex case, and the "
            "specified loss function depends on it, so it is ill-defined",
            fix="use what does not depend on the phase: absolute values, or products v·vᴴ",
        )


def real_part(xp: Any, x: Array) -> Array:
    """As a real number, which a real one is already."""
    return xp.real_part(x) if is_complex(x) else x


def over_matrices(xp: Any, x: Array) -> Array:
    """One number per matrix, shaped to multiply whole matrices."""
    return xp.unsqueeze(xp.unsqueeze(x, -1), -1)


define(
    "identity_like(x)",
    "y = the identity, as large as the matrices of x",
    forward=lambda x: np.eye(*x.shape[-2:], dtype=x.dtype),
    vjp=None,
    meta=lambda x: (x.shape[-2:], x.dtype),
    batching=lambda xp, x, batch: repeat_over(xp.identity_like(x), batch),
    internal=True,
    samples=lambda make: [make.call(make(2, 3, 3)), make.call(make(0, 0))],
)
