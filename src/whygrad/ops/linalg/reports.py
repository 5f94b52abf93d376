"""The functions that report where LAPACK stopped instead of raising: ``linalg.inv_ex`` and such."""

from __future__ import annotations

from typing import Any

import numpy as np

from whygrad.ops.batching import leading_dims
from whygrad.ops.define import define
from whygrad.ops.linalg.decompositions import cholesky_jvp, cholesky_vjp, on_symmetric
from whygrad.ops.linalg.lu import check_info
from whygrad.ops.linalg.matrices import adjoint, matrix_transpose, require_square
from whygrad.ops.linalg.solvers import (
    check_system,
    inv_vjp,
    solution_meta,
    solve_jvp,
    solve_vjp,
    unknowns_are_a_vector,
)
from whygrad.ops.namespace import recorded
from whygrad.ops.public import return_types
from whygrad.tensor import Tensor

Array = Any
_INFO = np.dtype(np.int32)


def _first_zero_pivot(x: Array) -> Array:
    """Per matrix, the place of the first zero on the diagonal of U, counted from 1; 0: none."""
    from scipy.linalg import get_lapack_funcs

    info = np.zeros(x.shape[:-2], _INFO)
    (getrf,) = get_lapack_funcs(("getrf",), (x,))
    for element in np.ndindex(*info.shape):
        if x.shape[-1]:
            info[element] = getrf(x[element])[2]
    return info


def _cholesky_ex(x: Array) -> tuple[Array, Array]:
    try:
        return np.linalg.cholesky(x), np.zeros(x.shape[:-2], _INFO)
    except np.linalg.LinAlgError:
        from scipy.linalg import get_lapack_funcs
    factor, info = np.empty_like(x), np.zeros(x.shape[:-2], _INFO)
    (potrf,) = get_lapack_funcs(("potrf",), (x,))
    for element in np.ndindex(*info.shape):
        factor[element], info[element] = potrf(x[element], lower=True, clean=True)
    return factor, info


def _inv_ex(x: Array) -> tuple[Array, Array]:
    try:
        return np.linalg.inv(x), np.zeros(x.shape[:-2], _INFO)
    except np.linalg.LinAlgError:
        info = _first_zero_pivot(x)
    inverse = np.full_like(x, np.nan)
    sound = info == 0
    inverse[sound] = np.linalg.inv(x[sound])
    return inverse, info


def _solve_ex(a: Array, b: Array) -> tuple[Array, Array]:
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    try:
        return np.linalg.solve(a, b), np.zeros(a.shape[:-2], _INFO)
    except np.linalg.LinAlgError:
        info = _first_zero_pivot(a)
    result = np.full((*batch, *b.shape[-2:]), np.nan, a.dtype)
    sound = np.broadcast_to(info == 0, batch)
    whole = np.broadcast_to(a, (*batch, *a.shape[-2:]))
    right = np.broadcast_to(b, result.shape)
    if sound.any():
        result[sound] = np.linalg.solve(whole[sound], right[sound])
    return result, info


def _first(incoming: Any) -> Any:
    """The gradient of the matrix; that of ``info`` does not exist."""
    return incoming[0]


def _cholesky_ex_vjp(xp: Any, incoming: Any, y: Array) -> Array | None:
    return None if _first(incoming) is None else cholesky_vjp(xp, _first(incoming), y)


def _inv_ex_vjp(xp: Any, incoming: Any, y: Array) -> Array | None:
    return None if _first(incoming) is None else inv_vjp(xp, _first(incoming), y)


def _solve_ex_vjp(
    xp: Any, incoming: Any, a: Array, y: Array, needs: tuple[bool, ...]
) -> tuple[Array | None, Array | None]:
    if _first(incoming) is None:
        return None, None
    return solve_vjp(xp, _first(incoming), a, y, needs)


def _cholesky_ex_args(A: Tensor, *, upper: bool = False, check_errors: bool = False) -> Any:
    """The Cholesky factor, and the order of the first minor that is not positive (0: none)."""
    require_square("linalg.cholesky_ex", A)
    flipped = adjoint(recorded, A) if upper else A
    factor, info = recorded.linalg_cholesky_ex(flipped)
    if check_errors:
        check_info("linalg.cholesky_ex", A, info, "the input is not positive-definite")
    if upper:
        factor = adjoint(recorded, factor)
    return return_types.linalg_cholesky_ex(factor, info)


def _inv_ex_args(A: Tensor, *, check_errors: bool = False) -> Any:
    """The inverse, and where U has its first zero (0: nowhere)."""
    require_square("linalg.inv_ex", A)
    inverse, info = recorded.linalg_inv_ex(A)
    if check_errors:
        check_info("linalg.inv_ex", A, info, "the input matrix is singular")
    return return_types.linalg_inv_ex(inverse, info)


def _solve_ex_args(A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False) -> Any:
    """The X with ``A @ X = B`` (or ``X @ A = B``), and where U has its first zero (0: nowhere)."""
    require_square("linalg.solve_ex", A)
    vector = unknowns_are_a_vector(A, B)
    right = recorded.unsqueeze(B, -1) if vector else B
    check_system("linalg.solve_ex", A, right, left)
    if left:
        result, info = recorded.linalg_solve_ex(A, right)
    else:
        rows, info = recorded.linalg_solve_ex(
            matrix_transpose(recorded, A), matrix_transpose(recorded, right)
        )
        result = matrix_transpose(recorded, rows)
    if check_errors:
        check_info("linalg.solve_ex", A, info, "the input matrix is singular")
    if vector:
        result = recorded.squeeze(result, (result.ndim - 1,))
    return return_types.linalg_solve_ex(result, info)


define(
    "linalg_cholesky_ex(x)",
    "y·yᵀ = x, and info;  dy as for cholesky",
    complex_rule="own",
    forward=_cholesky_ex,
    vjp={"x": _cholesky_ex_vjp},
    jvp=lambda xp, tangents, y: (cholesky_jvp(xp, tangents, y), None),
    outputs=("y", "info"),
    meta=lambda x: [(x.shape, x.dtype), (x.shape[:-2], _INFO)],
    batching=leading_dims,
    public=_cholesky_ex_args,
    torch="linalg.cholesky_ex",
    samples=lambda make: [
        make.around(on_symmetric, make.positive_definite(3)),
        make.around(on_symmetric, make.positive_definite(2, 2), upper=True),
        make.around(on_symmetric, make.constant(np.array([[1.0, 2.0], [2.0, 1.0]]))),
    ],
    autocast="float32",
)
define(
    "linalg_inv_ex(x)",
    "y = x⁻¹, and info;  dy = −y·dx·y",
    complex_rule="holomorphic",
    forward=_inv_ex,
    vjp={"x": _inv_ex_vjp},
    jvp=lambda xp, tangents, y: (-xp.matmul(xp.matmul(y, tangents[0]), y), None),
    outputs=("y", "info"),
    meta=lambda x: [(x.shape, x.dtype), (x.shape[:-2], _INFO)],
    batching=leading_dims,
    public=_inv_ex_args,
    torch="linalg.inv_ex",
    samples=lambda make: [
        make.call(make.positive_definite(3)),
        make.call(make.positive_definite(2, 3)),
    ],
    autocast="float32",
)
define(
    "linalg_solve_ex(a, b)",
    "y = a⁻¹·b, and info;  ∂b = a⁻ᵀ·incoming,  ∂a = −∂b·yᵀ",
    complex_rule="holomorphic",
    forward=_solve_ex,
    vjp=_solve_ex_vjp,
    jvp=lambda xp, tangents, a, y: (solve_jvp(xp, tangents, a, y), None),
    outputs=("y", "info"),
    meta=lambda a, b: [solution_meta(a, b), (a.shape[:-2], _INFO)],
    batching=leading_dims,
    public=_solve_ex_args,
    torch="linalg.solve_ex",
    samples=lambda make: [
        make.call(make.positive_definite(3), make(3, 2)),
        make.call(make.positive_definite(3), make(3)),
        make.call(make.positive_definite(2), make(3, 2), left=False),
    ],
)
