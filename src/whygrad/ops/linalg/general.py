"""Condition numbers, tensors as matrices, symmetric systems that are not positive."""

from __future__ import annotations

from math import inf, prod
from typing import Any

import numpy as np

from whygrad.errors import describe, fail
from whygrad.ops.batching import leading_dims
from whygrad.ops.define import composite, define, public_form, table
from whygrad.ops.geometry import normalize_dims
from whygrad.ops.indexing.runs import rising_powers
from whygrad.ops.linalg.lu import check_info
from whygrad.ops.linalg.matrices import require_matrices, require_square
from whygrad.ops.namespace import recorded
from whygrad.ops.public import return_types
from whygrad.tensor import Tensor

Array = Any
_INFO = np.dtype(np.int32)


def linalg_cond(A: Tensor, p: Any = None) -> Tensor:
    """How much a matrix can amplify a relative error: |A|·|A⁻¹|."""
    require_matrices("linalg.cond", A)
    if p in (None, 2, -2):
        values = table["linalg_svdvals"].public(A)
        if not values.shape[-1]:
            return A.new_zeros(A.shape[:-2])
        largest, smallest = values[..., 0], values[..., -1]
        return smallest / largest if p == -2 else largest / smallest
    if p not in ("fro", "nuc", inf, -inf, 1, -1):
        raise fail(
            RuntimeError,
            call=f"linalg.cond({describe(A)}, p={p!r})",
            cause=f"linalg.cond got an invalid norm type: {p}",
            fix="pass None, 'fro', 'nuc', inf, -inf, 1, -1, 2 or -2",
        )
    require_square("linalg.cond", A)
    norm = table["linalg_matrix_norm"].public
    inverse, info = recorded.linalg_inv_ex(A)
    size = norm(A, p) * norm(inverse, p)
    return table["where"].public(info == 0, size, inf)


def linalg_tensorinv(A: Tensor, ind: int = 2) -> Tensor:
    """The inverse of ``tensordot(A, ·, ind)``."""
    shape = tuple(A.shape)
    cause = ""
    if ind <= 0:
        cause = "Expected a strictly positive integer for 'ind'"
    elif prod(shape[:ind]) != prod(shape[ind:]):
        cause = (
            "Expected self to satisfy the requirement prod(self.shape[ind:]) == "
            f"prod(self.shape[:ind]), but got {prod(shape[ind:])} != {prod(shape[:ind])}"
        )
    if cause:
        raise fail(
            RuntimeError,
            call=f"linalg.tensorinv({describe(A)}, ind={ind})",
            cause=cause,
            fix="choose ind such that both halves have the same number of elements",
        )
    square = A.reshape(prod(shape[:ind]), -1)
    return table["linalg_inv"].public(square).reshape((*shape[ind:], *shape[:ind]))


def linalg_tensorsolve(A: Tensor, B: Tensor, dims: Any = None) -> Tensor:
    """The X with ``tensordot(A, X, X.ndim) = B``; ``dims`` of A are moved to its end first."""
    if dims is not None:
        chosen = normalize_dims(tuple(dims), A.ndim, "linalg.tensorsolve")
        rest = [dim for dim in range(A.ndim) if dim not in chosen]
        A = A.permute(*rest, *chosen)
    shape = tuple(A.shape)[B.ndim :]
    if prod(shape) != B.numel() or A.numel() != B.numel() ** 2:
        raise fail(
            RuntimeError,
            call=f"linalg.tensorsolve({describe(A)}, {describe(B)})",
            cause="Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == "
            f"prod(self.shape[:other.ndim]), but got {prod(shape)} != "
            f"{prod(tuple(A.shape)[: B.ndim])}",
            fix="A needs as many elements as B has, squared",
        )
    square = A.reshape(B.numel(), -1)
    return table["linalg_solve"].public(square, B.reshape(-1)).reshape(shape)


def linalg_vander(x: Tensor, *, N: int | None = None) -> Tensor:
    """Powers 0, 1, … of every element, as a new last dimension."""
    x = x if x.ndim else x.unsqueeze(0)
    count = x.shape[-1] if N is None else N
    if count <= 1:
        raise fail(
            RuntimeError,
            call=f"linalg.vander({describe(x)}, N={N})",
            cause="N must be greater than 1.",
            fix="pass the number of powers, at least 2",
        )
    return rising_powers(x, count)


def _of_kind(routine: str, x: Array, hermitian: bool) -> str:
    """LAPACK's name: x = xᴴ and x = xᵀ are two things for complex numbers."""
    return f"{'he' if hermitian and x.dtype.kind == 'c' else 'sy'}{routine}"


def _ldl_factor(x: Array, hermitian: bool) -> tuple[Array, Array, Array]:
    from scipy.linalg import get_lapack_funcs

    *batch, rows, _ = x.shape
    factors, pivots = np.empty_like(x), np.empty((*batch, rows), _INFO)
    info = np.zeros(tuple(batch), _INFO)
    (factor,) = get_lapack_funcs((_of_kind("trf", x, hermitian),), (x,))
    for element in np.ndindex(*batch):
        if rows:
            packed, order, info[element] = factor(x[element], lower=True)
            factors[element] = np.tril(packed)
            pivots[element] = order
    return factors, pivots, info


_ldl_op = define(
    "linalg_ldl_factor_ex(x; hermitian)",
    "x = L·D·Lᵀ (or Lᴴ), packed, for a symmetric x that need not be positive;  no gradient",
    forward=_ldl_factor,
    vjp=None,
    outputs=("factors", "pivots", "info"),
    meta=lambda x, hermitian: [(x.shape, x.dtype), (x.shape[:-1], _INFO), (x.shape[:-2], _INFO)],
    batching=leading_dims,
    torch="linalg.ldl_factor_ex",
    samples=lambda make: [
        make.around(lambda f, x: f(x + x.transpose(-2, -1)), make.constant(make(3, 3))),
        make.around(lambda f, x: f(x + x.transpose(-2, -1)), make.constant(make(2, 2, 2))),
    ],
)


@public_form(_ldl_op)
def linalg_ldl_factor_ex(A: Tensor, *, hermitian: bool = False, check_errors: bool = False) -> Any:
    """The packed factors of a symmetric matrix, the exchanges, and where D has a zero."""
    require_square("linalg.ldl_factor_ex", A)
    factors, pivots, info = _ldl_op.call(A, hermitian)
    if check_errors:
        check_info("linalg.ldl_factor_ex", A, info, "D has a zero on its diagonal")
    return return_types.linalg_ldl_factor_ex(factors, pivots, info)


def linalg_ldl_factor(A: Tensor, *, hermitian: bool = False) -> Any:
    """The packed factors of a symmetric matrix, and the exchanges."""
    require_square("linalg.ldl_factor", A)
    factors, pivots, info = _ldl_op.call(A, hermitian)
    check_info("linalg.ldl_factor", A, info, "D has a zero on its diagonal")
    return return_types.linalg_ldl_factor(factors, pivots)


def _ldl_solve(factors: Array, pivots: Array, b: Array, hermitian: bool) -> Array:
    from scipy.linalg import get_lapack_funcs

    batch = np.broadcast_shapes(factors.shape[:-2], b.shape[:-2])
    y = np.empty((*batch, *b.shape[-2:]), b.dtype)
    whole = np.broadcast_to(factors, (*batch, *factors.shape[-2:]))
    order = np.broadcast_to(pivots, (*batch, pivots.shape[-1]))
    right = np.broadcast_to(b, y.shape)
    (solve,) = get_lapack_funcs((_of_kind("trs", factors, hermitian),), (factors,))
    for element in np.ndindex(*batch):
        if y[element].size:
            y[element], _ = solve(whole[element], order[element], right[element], lower=True)
    return y


def _through_ldl(function: Any, x: Any, b: Any) -> Any:
    """For samples: the solution as a function of the matrix."""
    import importlib

    linalg = importlib.import_module(type(x).__module__.partition(".")[0] + ".linalg")
    return function(*linalg.ldl_factor(x + x.transpose(-2, -1)), b)


define(
    "linalg_ldl_solve(factors, pivots, b; hermitian)",
    "y = (L·D·Lᵀ)⁻¹·b;  no gradient",
    forward=_ldl_solve,
    vjp=None,
    meta=lambda factors, pivots, b, hermitian: (
        (*np.broadcast_shapes(factors.shape[:-2], b.shape[:-2]), *b.shape[-2:]),
        b.dtype,
    ),
    batching=leading_dims,
    public=lambda LD, pivots, B, *, hermitian=False: (LD, pivots, B, hermitian),
    torch="linalg.ldl_solve",
    samples=lambda make: [
        make.around(_through_ldl, make.constant(make(3, 3)), make.constant(make(3, 2)))
    ],
)

composite(
    linalg_ldl_factor,
    "x = L·D·Lᵀ, packed",
    differentiable=False,
    torch="linalg.ldl_factor",
    samples=lambda make: [
        make.around(lambda f, x: f(x + x.transpose(-2, -1)), make.constant(make(3, 3)))
    ],
)
composite(
    linalg_cond,
    "y = |x|·|x⁻¹|, in the 2-norm the largest over the smallest singular value",
    notes="PyTorch's backward fails for other norms: it writes to the inverse it has saved",
    torch="linalg.cond",
    samples=lambda make: [
        make.call(make(3, 2)),
        make.call(make.constant(make.positive_definite(2, 2)), 1),
        make.call(make.constant(make.positive_definite(3)), "fro"),
        make.call(make(2, 2), -2),
        make.call(make.constant(np.ones((2, 2))), 1),
    ],
    autocast="float32",
)
composite(
    linalg_tensorinv,
    "y = the inverse of x as a matrix of its first ind by its other dimensions",
    torch="linalg.tensorinv",
    samples=lambda make: [
        make.call(make.positive_definite(4).reshape(2, 2, 4)),
        make.call(make.positive_definite(4).reshape(4, 2, 2), 1),
    ],
)
composite(
    linalg_tensorsolve,
    "tensordot(a, y) = b",
    torch="linalg.tensorsolve",
    samples=lambda make: [
        make.call(make.positive_definite(4).reshape(2, 2, 4), make(2, 2)),
        make.call(make.positive_definite(4).reshape(2, 4, 2), make(4), (0, 2)),
    ],
)
composite(
    linalg_vander,
    "y[…, j] = xʲ",
    torch="linalg.vander",
    samples=lambda make: [
        make.call(make(3)),
        make.call(make(2, 2), N=4),
        make.call(make.ints(3), N=3),
    ],
)
