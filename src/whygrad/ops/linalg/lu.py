"""LU: a matrix as rows in another order, a lower and an upper triangle.

One op computes the packed factors; the others take them apart or solve with them, so there is one
rule for all of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from whygrad.errors import describe, fail
from whygrad.ops.batching import all_numbers, leading_dims
from whygrad.ops.define import composite, define, table
from whygrad.ops.linalg.matrices import (
    LinAlgError,
    batch_element,
    matrix_transpose,
    require_matrices,
    require_square,
)
from whygrad.ops.namespace import recorded
from whygrad.ops.public import return_types
from whygrad.tensor import Tensor

__all__ = ["check_info"]

Array = Any


def _factor(x: Array) -> tuple[Array, Array, Array]:
    from scipy.linalg import get_lapack_funcs

    *batch, rows, columns = x.shape
    small = min(rows, columns)
    packed = np.empty(x.shape, x.dtype)
    pivots = np.empty((*batch, small), np.int32)
    info = np.zeros(tuple(batch), np.int32)
    (getrf,) = get_lapack_funcs(("getrf",), (x,))
    for element in np.ndindex(*batch):
        if not small:
            packed[element] = x[element]
            continue
        packed[element], order, info[element] = getrf(x[element])
        pivots[element] = order + 1
    return packed, pivots, info


def _permutation(like: Array, pivots: Array) -> Array:
    """P with A = P·L·U, from the exchanges of rows that LAPACK noted down."""
    *batch, rows, _ = like.shape
    result = np.empty((*batch, rows, rows), like.dtype)
    for element in np.ndindex(*batch):
        order = np.arange(rows)
        for row, other in enumerate(pivots[element] - 1):
            order[[row, other]] = order[[other, row]]
        result[element] = np.eye(rows, dtype=like.dtype)[:, order]
    return result


define(
    "pivot_matrix(x, pivots)",
    "y = P, the exchanges of rows as a matrix, for matrices like x",
    forward=_permutation,
    vjp=None,
    meta=lambda x, pivots: ((*x.shape[:-1], x.shape[-2]), x.dtype),
    batching=leading_dims,
    internal=True,
    samples=lambda make: [
        make.call(make.constant(make(3, 2)), np.array([2, 3], np.int32)),
        make.call(make.constant(make(2, 2, 2)), np.array([[1, 2], [2, 2]], np.int32)),
    ],
)


def _unit_lower(xp: Any, square: Array) -> Array:
    return xp.tril(square, -1) + xp.identity_like(square)


def _part(xp: Any, x: Array, rows: slice, columns: slice) -> Array:
    return xp.slice(x, (Ellipsis, rows, columns))


def _left_solve(xp: Any, triangle: Array, b: Array, upper: bool) -> Array:
    return xp.linalg_solve_triangular(triangle, b, upper, True, False)


def _right_solve(xp: Any, triangle: Array, b: Array, upper: bool) -> Array:
    """b·triangle⁻¹."""
    return xp.linalg_solve_triangular(triangle, b, upper, False, False)


def _factor_vjp(xp: Any, incoming: Any, packed: Array, pivots: Array) -> Array | None:
    of_packed = incoming[0]
    if of_packed is None:
        return None
    rows, columns = packed.shape[-2:]
    small = min(rows, columns)
    head, tail = slice(None, small), slice(small, None)
    square = _part(xp, packed, head, head)
    lower, upper = _unit_lower(xp, square), xp.triu(square, 0)
    lower_t, upper_t = matrix_transpose(xp, lower), matrix_transpose(xp, upper)
    of_square = _part(xp, of_packed, head, head)
    from_lower = xp.matmul(lower_t, xp.tril(of_square, -1))
    from_upper = xp.matmul(xp.triu(of_square, 0), upper_t)
    if columns > rows:
        of_rest = _part(xp, of_packed, head, tail)
        rest = _part(xp, packed, head, tail)
        from_lower = from_lower - xp.matmul(of_rest, matrix_transpose(xp, rest))
    if rows > columns:
        of_rest = _part(xp, of_packed, tail, head)
        rest = _part(xp, packed, tail, head)
        from_upper = from_upper - xp.matmul(matrix_transpose(xp, rest), of_rest)
    inner = xp.tril(from_lower, -1) + xp.triu(from_upper, 0)
    of_x = _right_solve(xp, upper_t, inner, False)
    if columns > rows:
        of_x = xp.cat([of_x, of_rest], packed.ndim - 1)
    of_x = _left_solve(xp, lower_t, of_x, True)
    if rows > columns:
        of_x = xp.cat([of_x, _right_solve(xp, upper_t, of_rest, False)], packed.ndim - 2)
    return xp.matmul(xp.pivot_matrix(packed, pivots), of_x)


def _factor_jvp(xp: Any, tangents: Any, packed: Array, pivots: Array) -> tuple[Any, None, None]:
    order = matrix_transpose(xp, xp.pivot_matrix(packed, pivots))
    moved = xp.matmul(order, tangents[0])
    rows, columns = packed.shape[-2:]
    small = min(rows, columns)
    head, tail = slice(None, small), slice(small, None)
    square = _part(xp, packed, head, head)
    lower, upper = _unit_lower(xp, square), xp.triu(square, 0)
    inner = _right_solve(
        xp, upper, _left_solve(xp, lower, _part(xp, moved, head, head), False), True
    )
    d_lower = xp.matmul(lower, xp.tril(inner, -1))
    d_upper = xp.matmul(xp.triu(inner, 0), upper)
    d_packed = d_lower + d_upper
    if columns > rows:
        rest = _part(xp, moved, head, tail) - xp.matmul(d_lower, _part(xp, packed, head, tail))
        d_packed = xp.cat([d_packed, _left_solve(xp, lower, rest, False)], packed.ndim - 1)
    if rows > columns:
        rest = _part(xp, moved, tail, head) - xp.matmul(_part(xp, packed, tail, head), d_upper)
        d_packed = xp.cat([d_packed, _right_solve(xp, upper, rest, True)], packed.ndim - 2)
    return d_packed, None, None


def _require_pivoting(call: str, A: Tensor, pivot: bool) -> None:
    require_matrices(call, A)
    if not pivot:
        raise fail(
            RuntimeError,
            call=f"{call}({describe(A)}, pivot=False)",
            cause=f"{call}: LU without pivoting is not implemented on the CPU",
            fix="leave pivot out",
        )


def check_info(call: str, x: Tensor, info: Tensor, cause: str) -> None:
    """Raise for the first matrix of the stack that LAPACK could not serve."""
    if info.device != "cpu":
        return
    failing = np.flatnonzero(all_numbers(info))
    if failing.size:
        element = int(failing[0])
        raise fail(
            LinAlgError,
            call=f"{call}({describe(x)})",
            cause=f"{batch_element(x, element)}{cause}",
            fix="the same function without check_errors returns info, which says where it stopped",
        )


def _factor_args(A: Tensor, *, pivot: bool = True, check_errors: bool = False) -> Any:
    """L and U in one matrix, the exchanges of rows, and where U has its first zero (0: nowhere)."""
    _require_pivoting("linalg.lu_factor_ex", A, pivot)
    packed, pivots, info = recorded.linalg_lu_factor_ex(A)
    if check_errors:
        check_info("linalg.lu_factor_ex", A, info, "U has a zero on its diagonal")
    return return_types.linalg_lu_factor_ex(packed, pivots, info)


def _factor_meta(x: Array) -> list[Any]:
    whole = np.dtype(np.int32)
    pivots = (*x.shape[:-2], min(x.shape[-2:]))
    return [(x.shape, x.dtype), (pivots, whole), (x.shape[:-2], whole)]


define(
    "linalg_lu_factor_ex(x)",
    "x = P·L·U, L and U packed in one matrix;  ∂x = P·L⁻ᵀ·(tril(Lᵀ·∂L) + triu(∂U·Uᵀ))·U⁻ᵀ",
    complex_rule="holomorphic",
    forward=_factor,
    vjp={"x": _factor_vjp},
    jvp=_factor_jvp,
    outputs=("packed", "pivots", "info"),
    meta=_factor_meta,
    batching=leading_dims,
    public=_factor_args,
    torch="linalg.lu_factor_ex",
    samples=lambda make: [
        make.call(make(3, 3)),
        make.call(make(2, 3, 2)),
        make.call(make(2, 4)),
        make.call(make(0, 0)),
    ],
)


def linalg_lu_factor(A: Tensor, *, pivot: bool = True) -> Any:
    """L and U in one matrix, and the exchanges of rows."""
    _require_pivoting("linalg.lu_factor", A, pivot)
    packed, pivots, info = recorded.linalg_lu_factor_ex(A)
    cause = "U has a zero on its diagonal, and using it on lu_solve would divide by zero"
    check_info("linalg.lu_factor", A, info, cause)
    return return_types.linalg_lu_factor(packed, pivots)


def linalg_lu(A: Tensor, *, pivot: bool = True) -> Any:
    """A = P @ L @ U."""
    _require_pivoting("linalg.lu", A, pivot)
    packed, pivots, _ = recorded.linalg_lu_factor_ex(A)
    return return_types.linalg_lu(*lu_unpack(packed, pivots))


def lu_unpack(
    LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool = True, unpack_pivots: bool = True
) -> Any:
    """P, L and U from what ``linalg.lu_factor`` returned."""
    nothing = LU_data.new_empty((0,))
    order = recorded.pivot_matrix(LU_data, LU_pivots) if unpack_pivots else nothing
    if not unpack_data:
        return return_types.lu_unpack(order, nothing, nothing)
    rows, columns = LU_data.shape[-2:]
    small = min(rows, columns)
    tall = _part(recorded, LU_data, slice(None), slice(None, small))
    wide = _part(recorded, LU_data, slice(None, small), slice(None))
    return return_types.lu_unpack(order, _unit_lower(recorded, tall), recorded.triu(wide, 0))


def linalg_lu_solve(
    LU: Tensor, pivots: Tensor, B: Tensor, *, left: bool = True, adjoint: bool = False
) -> Tensor:
    """The X with ``A @ X = B`` (or ``X @ A = B``), given the factors of A."""
    require_square("linalg.lu_solve", LU)
    require_matrices("linalg.lu_solve", B, "B")
    solve = table["linalg_solve_triangular"].public
    if not left:  # X·A = B is Aᴴ·Xᴴ = Bᴴ
        flipped = linalg_lu_solve(LU, pivots, B.mH, adjoint=not adjoint)
        return flipped.mH
    order, lower, upper = lu_unpack(LU, pivots)
    if adjoint:
        halfway = solve(upper.mH, B, upper=False)
        return order @ solve(lower.mH, halfway, upper=True, unitriangular=True)
    halfway = solve(lower, order.mT @ B, upper=False, unitriangular=True)
    return solve(upper, halfway, upper=True)


def lu_solve(b: Tensor, LU_data: Tensor, LU_pivots: Tensor) -> Tensor:
    """``linalg.lu_solve`` with its arguments in the older order."""
    return linalg_lu_solve(LU_data, LU_pivots, b)


def _through_factors(function: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
    """For samples: what takes factors, as a function of the matrix."""
    packed, pivots = _library_of(x).linalg.lu_factor(x)
    if kwargs.pop("older", False):
        return function(*args, packed, pivots)
    return function(packed, pivots, *args, **kwargs)


def _library_of(x: Any) -> Any:
    import importlib

    return importlib.import_module(type(x).__module__.partition(".")[0])


def lu(A: Tensor, pivot: bool = True, get_infos: bool = False) -> Any:
    """The older form of ``linalg.lu_factor``, which takes a singular matrix, too."""
    factors = tuple(_factor_args(A, pivot=pivot))
    return factors if get_infos else factors[:2]


composite(
    lu,
    "x = P·L·U, L and U packed in one matrix",
    torch="",  # deprecated there, with a warning
    samples=lambda make: [make.call(make(3, 3))],
)
composite(
    linalg_lu_factor,
    "x = P·L·U, L and U packed in one matrix",
    torch="linalg.lu_factor",
    samples=lambda make: [make.call(make(3, 3)), make.call(make(2, 2, 3))],
)
composite(
    linalg_lu,
    "x = P·L·U",
    torch="linalg.lu",
    samples=lambda make: [make.call(make(3, 3)), make.call(make(3, 2)), make.call(make(2, 2, 3))],
)
composite(
    lu_unpack,
    "P, L, U from the packed factors",
    method=False,
    samples=lambda make: [
        make.around(_through_factors, make(3, 3)),
        make.around(_through_factors, make(2, 3)),
        make.around(_through_factors, make(3, 2), unpack_pivots=False),
    ],
)
composite(
    linalg_lu_solve,
    "y = U⁻¹·L⁻¹·Pᵀ·b",
    torch="linalg.lu_solve",
    samples=lambda make: [
        make.around(_through_factors, make.positive_definite(3), make(3, 2)),
        make.around(_through_factors, make.positive_definite(2, 2), make(2, 3, 2), left=False),
        make.around(_through_factors, make.positive_definite(2), make(2, 2), adjoint=True),
    ],
)
composite(
    lu_solve,
    "y = U⁻¹·L⁻¹·Pᵀ·b",
    torch="",  # deprecated there, with a warning
    samples=lambda make: [
        make.around(_through_factors, make.positive_definite(3), make(3, 2), older=True)
    ],
)
