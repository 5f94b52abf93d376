"""Inverses and linear systems.

Every op takes stacks of matrices: the last two dimensions are the matrix, the others are the batch.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from whygrad.dispatch.arguments import also_named
from whygrad.errors import describe, fail
from whygrad.ops.batching import aligned, leading_dims
from whygrad.ops.define import composite, define
from whygrad.ops.linalg.matrices import (
    matrix_transpose,
    require_matrices,
    require_square,
    singular,
    square_only,
)
from whygrad.ops.namespace import recorded
from whygrad.tensor import Tensor

Array = Any
Shape = tuple[int, ...]


def _inv(x: Array) -> Array:
    try:
        return np.linalg.inv(x)
    except np.linalg.LinAlgError:
        raise singular("linalg.inv", x) from None


def inv_vjp(xp: Any, incoming: Array, y: Array) -> Array:
    inverse = matrix_transpose(xp, y)
    return -xp.matmul(xp.matmul(inverse, incoming), inverse)


define(
    "linalg_inv(x)",
    "y = x⁻¹;  dy = −y·dx·y",
    complex_rule="holomorphic",
    forward=_inv,
    vjp={"x": inv_vjp},
    jvp=lambda xp, tangents, y: -xp.matmul(xp.matmul(y, tangents[0]), y),
    meta=lambda x: (x.shape, x.dtype),
    batching=leading_dims,
    public=square_only("linalg.inv"),
    torch="linalg.inv",
    samples=lambda make: [
        make.call(make.positive_definite(3)),
        make.call(make.positive_definite(2, 3) + make(3, 2, 2, low=-0.3, high=0.3)),
        make.call(make(0, 0)),
    ],
    autocast="float32",
)


def _solve(a: Array, b: Array) -> Array:
    try:
        return np.linalg.solve(a, b)
    except np.linalg.LinAlgError:
        raise singular("linalg.solve", a) from None


def solve_vjp(
    xp: Any, incoming: Array, a: Array, y: Array, needs: tuple[bool, ...]
) -> tuple[Array, Array]:
    from_b = xp.linalg_solve(matrix_transpose(xp, a), incoming)
    if not needs[0]:
        return None, from_b
    return -xp.matmul(from_b, matrix_transpose(xp, y)), from_b


def solve_jvp(xp: Any, tangents: Any, a: Array, y: Array) -> Array:
    da, db = tangents
    if da is None:
        return xp.linalg_solve(a, db)
    moved = xp.matmul(da, y)
    return xp.linalg_solve(a, -moved if db is None else db - moved)


def solution_meta(a: Array, b: Array) -> tuple[Shape, Any]:
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    return (*batch, *b.shape[-2:]), a.dtype


def _solve_args(A: Tensor, B: Tensor, *, left: bool = True) -> Any:
    """The X with ``A @ X = B`` (or ``X @ A = B`` with ``left=False``); B may be a vector."""
    require_square("linalg.solve", A)
    if unknowns_are_a_vector(A, B):
        if left:
            column = _solve_args(A, recorded.unsqueeze(B, -1))
            solution = recorded.linalg_solve(*column)
            return recorded.squeeze(solution, (solution.ndim - 1,))
        B = recorded.unsqueeze(B, -1)
    check_system("linalg.solve", A, B, left)
    if left:
        return A, B
    rows = recorded.linalg_solve(matrix_transpose(recorded, A), matrix_transpose(recorded, B))
    return matrix_transpose(recorded, rows)


def unknowns_are_a_vector(A: Tensor, B: Tensor) -> bool:
    return B.ndim == 1 or (B.ndim == A.ndim - 1 and B.shape == A.shape[:-1])


def check_system(call: str, A: Tensor, B: Tensor, left: bool) -> None:
    """The coefficients and the right-hand side must fit, in dtype and in shape."""
    require_matrices(call, B, "B")
    cause = fix = ""
    if A.dtype is not B.dtype:
        cause = (
            f"{call}: Expected A and B to have the same dtype, but found A of type "
            f"{A.dtype.name} and B of type {B.dtype.name} instead"
        )
        fix = f"convert one of them: B.to({A.dtype})"
    elif A.shape[-1] != B.shape[-2 if left else -1]:
        sizes = f"{A.shape[-2]}x{A.shape[-1]} and {B.shape[-2]}x{B.shape[-1]}"
        form = "AX = B" if left else "XA = B"
        cause = f"{call}: Incompatible shapes of A and B for the equation {form} ({sizes})"
        fix = f"B needs {A.shape[-1]} {'rows' if left else 'columns'}"
    else:
        batches = tuple(A.shape[:-2]), tuple(B.shape[:-2])
        try:
            np.broadcast_shapes(*batches)
        except ValueError:
            cause = f"the batch dimensions {batches[0]} and {batches[1]} do not broadcast"
            fix = "batch sizes must be equal or 1, counted from the last one"
    if cause:
        raise fail(
            RuntimeError,
            call=f"{call}(A: {describe(A)}, B: {describe(B)})",
            cause=cause,
            fix=fix,
        )


define(
    "linalg_solve(a, b)",
    "y = a⁻¹·b;  ∂b = a⁻ᵀ·incoming,  ∂a = −∂b·yᵀ",
    complex_rule="holomorphic",
    forward=_solve,
    vjp=solve_vjp,
    jvp=solve_jvp,
    meta=solution_meta,
    batching=aligned,
    public=_solve_args,
    torch="linalg.solve",
    samples=lambda make: [
        make.call(make.positive_definite(3), make(3, 2)),
        make.call(make.positive_definite(3), make(3)),
        make.call(make.positive_definite(2, 3), make(3, 2)),
        make.call(make.positive_definite(2, 3), make(2, 2)),
        make.call(make.positive_definite(2), make(2, 2, 1)),
        make.call(make.positive_definite(2), make(3, 2), left=False),
        make.call(make.positive_definite(2), make(2, 0)),
    ],
    autocast="float32",
)


def _solve_triangular(a: Array, b: Array, upper: bool, left: bool, unitriangular: bool) -> Array:
    from scipy.linalg import get_blas_funcs

    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    y = np.empty((*batch, *b.shape[-2:]), b.dtype)
    if not y.size:
        return y
    a = np.broadcast_to(a, (*batch, *a.shape[-2:]))
    b = np.broadcast_to(b, y.shape)
    trsm = get_blas_funcs("trsm", (a, b))
    for element in np.ndindex(*batch):
        # BLAS wants columns first; the transposed problem has them first without a copy
        y[element] = trsm(
            1.0, a[element].T, b[element].T, side=left, lower=upper, diag=unitriangular
        ).T
    return y


def _triangle(xp: Any, x: Array, upper: bool, unitriangular: bool) -> Array:
    """Only the elements that the solver reads."""
    return xp.triu(x, int(unitriangular)) if upper else xp.tril(x, -int(unitriangular))


def _solve_triangular_vjp(
    xp: Any,
    incoming: Array,
    a: Array,
    y: Array,
    upper: bool,
    left: bool,
    unitriangular: bool,
    needs: tuple[bool, ...],
) -> tuple[Array, Array]:
    from_b = xp.linalg_solve_triangular(
        matrix_transpose(xp, a), incoming, not upper, left, unitriangular
    )
    if not needs[0]:
        return None, from_b
    flipped = matrix_transpose(xp, y)
    full = xp.matmul(from_b, flipped) if left else xp.matmul(flipped, from_b)
    return -_triangle(xp, full, upper, unitriangular), from_b


def _solve_triangular_jvp(
    xp: Any,
    tangents: Any,
    a: Array,
    y: Array,
    upper: bool,
    left: bool,
    unitriangular: bool,
) -> Array:
    da, db = tangents
    if da is not None:
        da = _triangle(xp, da, upper, unitriangular)
        moved = xp.matmul(da, y) if left else xp.matmul(y, da)
        db = -moved if db is None else db - moved
    return xp.linalg_solve_triangular(a, db, upper, left, unitriangular)


def _solve_triangular_args(
    A: Tensor, B: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> tuple[Any, ...]:
    """The X with ``A @ X = B``, reading only one triangle of A."""
    require_square("linalg.solve_triangular", A)
    check_system("linalg.solve_triangular", A, B, left)
    return A, B, upper, left, unitriangular


def _triangular_samples(make: Any) -> Any:
    return [
        make.call(make.positive_definite(3), make(3, 2), upper=True),
        make.call(make.positive_definite(3), make(3, 2), upper=False),
        make.call(make.positive_definite(2, 2), make(3, 2), upper=False, left=False),
        make.call(make(2, 2), make(2, 2, 1), upper=True, unitriangular=True),
        make.call(make.positive_definite(2), make(2, 0), upper=True),
    ]


define(
    "linalg_solve_triangular(a, b; upper, left, unitriangular)",
    "y = a⁻¹·b for triangular a;  ∂b = a⁻ᵀ·incoming,  ∂a = the triangle of −∂b·yᵀ",
    complex_rule="holomorphic",
    forward=_solve_triangular,
    vjp=_solve_triangular_vjp,
    jvp=_solve_triangular_jvp,
    meta=lambda a, b, upper, left, unitriangular: solution_meta(a, b),
    batching=aligned,
    public=_solve_triangular_args,
    torch="linalg.solve_triangular",
    samples=_triangular_samples,
)


def inverse(input: Tensor) -> Tensor:
    """``linalg.inv`` under its older name."""
    require_square("linalg.inv", input)
    return recorded.linalg_inv(input)


@also_named(input2="L")
def cholesky_solve(B: Tensor, L: Tensor, upper: bool = False) -> Tensor:
    """The X with ``A @ X = B``, given the Cholesky factor of A."""
    require_square("cholesky_solve", L)
    check_system("cholesky_solve", L, B, left=True)
    flipped = L.mH
    first, second = (flipped, L) if upper else (L, flipped)
    halfway = recorded.linalg_solve_triangular(first, B, False, True, False)
    return recorded.linalg_solve_triangular(second, halfway, True, True, False)


composite(
    inverse,
    "y = x⁻¹",
    samples=lambda make: [make.call(make.positive_definite(3))],
    autocast="float32",
)
composite(
    cholesky_solve,
    "y = (L·Lᴴ)⁻¹·b by two triangular solves",
    samples=lambda make: [
        make.around(lambda f, b, x: f(b, x.tril()), make(3, 2), make.positive_definite(3)),
        make.around(lambda f, b, x: f(b, x.triu(), True), make(3, 2), make.positive_definite(3)),
        make.around(lambda f, b, x: f(b, x.tril()), make(2, 1), make.positive_definite(2, 2)),
    ],
    autocast="float32",
)
