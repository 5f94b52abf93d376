"""The singular value decomposition and what is built on it."""

from __future__ import annotations

from typing import Any

import numpy as np

from whygrad.ops.batching import leading_dims
from whygrad.ops.complex_numbers import real_product
from whygrad.ops.define import composite, define
from whygrad.ops.linalg.decompositions import did_not_converge, on_symmetric
from whygrad.ops.linalg.matrices import (
    adjoint,
    check_phases,
    imaginary_diagonal,
    real_part,
    require_matrices,
    require_square,
)
from whygrad.ops.namespace import recorded
from whygrad.ops.products.products import add_terms
from whygrad.ops.public import return_types
from whygrad.ops.undefined import TIED_VALUES
from whygrad.tensor import Tensor, alias, dtypes, keys
from whygrad.tensor.graph import lineage

__all__ = ["linalg_matrix_rank", "pinv_args"]

Array = Any
Shape = tuple[int, ...]


def _svd(x: Array, full_matrices: bool) -> tuple[Array, ...]:
    try:
        return tuple(np.linalg.svd(x, full_matrices))
    except np.linalg.LinAlgError as error:
        raise did_not_converge("linalg.svd", x) from error


def _first_columns(count: int) -> tuple[Any, ...]:
    return (Ellipsis, slice(None, count))


def _first_rows(count: int) -> tuple[Any, ...]:
    return (Ellipsis, slice(None, count), slice(None))


def _differences(xp: Any, s: Array) -> Array:
    """sⱼ² − sᵢ², and 1 on the diagonal, where nothing must be divided by zero."""
    squares = s * s
    gaps = xp.unsqueeze(squares, -2) - xp.unsqueeze(squares, -1)
    return gaps + xp.identity_like(gaps)


def _skew(xp: Any, x: Array) -> Array:
    return x - adjoint(xp, x)


def _svd_vjp(xp: Any, incoming: Any, u: Array, s: Array, vh: Array, full_matrices: bool) -> Array:
    from_u, from_s, from_vh = incoming
    rank, rows, columns = s.shape[-1], u.shape[-2], vh.shape[-1]
    u, vh = xp.slice(u, _first_columns(rank)), xp.slice(vh, _first_rows(rank))
    if from_u is None and from_vh is None:
        return xp.matmul(u * xp.unsqueeze(from_s, -2), vh)
    gaps = _differences(xp, s)
    inner = outside = None
    phases: Any = 0.0
    if from_s is not None:
        inner = xp.unsqueeze(from_s, -2) * xp.identity_like(gaps)
    if from_u is not None:
        per_column = xp.unsqueeze(s, -2)
        from_u = xp.slice(from_u, _first_columns(rank))
        turned = xp.matmul(adjoint(xp, u), from_u)
        phases = imaginary_diagonal(xp, turned)
        across = (_skew(xp, turned) - 2.0 * phases) / gaps * per_column + phases / per_column
        inner = add_terms(inner, across)
        if rows > rank:
            outside = xp.matmul((from_u - xp.matmul(u, turned)) / per_column, vh)
    if from_vh is not None:
        per_row = xp.unsqueeze(s, -1)
        from_vh = xp.slice(from_vh, _first_rows(rank))
        turned = xp.matmul(from_vh, adjoint(xp, vh))
        flipped = adjoint(xp, turned)
        of_vh = imaginary_diagonal(xp, flipped)
        phases = phases + of_vh
        inner = add_terms(inner, (_skew(xp, flipped) - 2.0 * of_vh) / gaps * per_row)
        if columns > rank:
            beyond = xp.matmul(u, (from_vh - xp.matmul(turned, vh)) / per_row)
            outside = add_terms(outside, beyond)
    check_phases("linalg.svd", phases, from_vh if from_u is None else from_u)
    return add_terms(xp.matmul(xp.matmul(u, inner), vh), outside)


def _svd_jvp(
    xp: Any, tangents: Any, u: Array, s: Array, vh: Array, full_matrices: bool
) -> tuple[Array, Array, Array]:
    dx, rank = tangents[0], s.shape[-1]
    first_u, first_vh = xp.slice(u, _first_columns(rank)), xp.slice(vh, _first_rows(rank))
    ut, v = adjoint(xp, first_u), adjoint(xp, first_vh)
    per_column, per_row = xp.unsqueeze(s, -2), xp.unsqueeze(s, -1)
    gaps = _differences(xp, s)
    off_diagonal = 1.0 - xp.identity_like(gaps)
    turned = xp.matmul(xp.matmul(ut, dx), v)
    flipped = adjoint(xp, turned)
    inner = off_diagonal * (turned * per_column + flipped * per_row) / gaps
    # the phases of a pair of vectors are free but for their sum: all of it goes to u
    du = xp.matmul(first_u, inner + imaginary_diagonal(xp, turned) / per_row)
    dv = xp.matmul(v, off_diagonal * (turned * per_row + flipped * per_column) / gaps)
    if u.shape[-2] > rank:
        du = du + (xp.matmul(dx, v) - xp.matmul(first_u, turned)) / per_column
    if vh.shape[-1] > rank:
        moved = xp.matmul(adjoint(xp, dx), first_u)
        dv = dv + (moved - xp.matmul(v, flipped)) / per_column
    dvh = adjoint(xp, dv)
    if full_matrices:
        du = xp.slice_backward(du, u.shape, _first_columns(rank))
        dvh = xp.slice_backward(dvh, vh.shape, _first_rows(rank))
    along = xp.diagonal(turned, 0, turned.ndim - 2, turned.ndim - 1)
    return du, real_part(xp, along), dvh


def _svd_meta(x: Array, full_matrices: bool) -> list[tuple[Shape, Any]]:
    *batch, rows, columns = x.shape
    rank = min(rows, columns)
    left, right = (rows, columns) if full_matrices else (rank, rank)
    return [
        ((*batch, rows, left), x.dtype),
        ((*batch, rank), x.real.dtype),
        ((*batch, right, columns), x.dtype),
    ]


def _svd_args(A: Tensor, full_matrices: bool = True) -> Any:
    """A = U·diag S·Vh, with the singular values S in descending order."""
    require_matrices("linalg.svd", A)
    return return_types.linalg_svd(*recorded.linalg_svd(A, full_matrices))


def _up_to_sign(function: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
    """For samples: what does not depend on the phases of a pair of singular vectors."""
    u, s, vh = function(x, *args, **kwargs)
    rank = s.shape[-1]
    u, vh = u[..., :rank], vh[..., :rank, :]
    return s, u * u.conj(), vh * vh.conj(), u @ vh, (u * s.unsqueeze(-2)) @ vh


define(
    "linalg_svd(x; full_matrices)",
    "x = u·diag s·vh;  with P = uᵀ·dx·v: ds = diag P,  "
    "du = u·((P·s + s·Pᵀ)ᵢⱼ/(sⱼ² − sᵢ²)) + (1 − u·uᵀ)·dx·v/s,  dv alike",
    complex_rule="own",
    undefined=TIED_VALUES,
    forward=_svd,
    vjp={"x": _svd_vjp},
    jvp=_svd_jvp,
    outputs=("u", "s", "vh"),
    meta=_svd_meta,
    batching=leading_dims,
    public=_svd_args,
    torch="linalg.svd",
    notes="singular vectors have a derivative only where singular values differ (and, for a "
    "matrix that is not square, are not zero); the vectors that full_matrices adds are "
    "arbitrary and get none, as in PyTorch",
    samples=lambda make: [
        make.around(_up_to_sign, make(3, 3)),
        make.around(_up_to_sign, make(4, 2), full_matrices=False),
        make.around(_up_to_sign, make(2, 3), full_matrices=False),
        make.around(_up_to_sign, make(3, 2), full_matrices=True),
        make.around(_up_to_sign, make(2, 2, 2), False),
        make.call(make(0, 0)),
    ],
    autocast="float32",
)


def _svdvals(x: Array) -> Array:
    try:
        return np.linalg.svd(x, compute_uv=False)
    except np.linalg.LinAlgError as error:
        raise did_not_converge("linalg.svdvals", x) from error


def _svdvals_vjp(xp: Any, incoming: Array, x: Array) -> Array:
    u, _, vh = xp.linalg_svd(x, False)
    return xp.matmul(u * xp.unsqueeze(incoming, -2), vh)


def _svdvals_jvp(xp: Any, tangents: Any, x: Array) -> Array:
    u, _, vh = xp.linalg_svd(x, False)
    moved = xp.matmul(tangents[0], adjoint(xp, vh))
    return xp.sum(real_product(xp, moved, u), (x.ndim - 2,), False)


def _svdvals_args(A: Tensor) -> tuple[Tensor]:
    """The singular values, in descending order."""
    require_matrices("linalg.svdvals", A)
    return (A,)


define(
    "linalg_svdvals(x)",
    "y = the singular values of x;  ∂x = u·diag(incoming)·vh",
    complex_rule="own",
    forward=_svdvals,
    vjp={"x": _svdvals_vjp},
    jvp=_svdvals_jvp,
    meta=lambda x: ((*x.shape[:-2], min(x.shape[-2:])), x.real.dtype),
    batching=leading_dims,
    public=_svdvals_args,
    torch="linalg.svdvals",
    notes="singular vectors are computed only if backward asks for them",
    samples=lambda make: [make.call(make(3, 2)), make.call(make(2, 2, 3)), make.call(make(0, 2))],
    autocast="float32",
)


def svd(input: Tensor, some: bool = True, compute_uv: bool = True) -> Any:
    """The older form of ``linalg.svd``: reduced by default, and V instead of its transpose."""
    require_matrices("linalg.svd", input)
    if not compute_uv:
        rows, columns = input.shape[-2:]
        zeros = recorded.new_zeros
        return return_types.svd(
            zeros(input, (*input.shape[:-2], rows, rows)),
            recorded.linalg_svdvals(input),
            zeros(input, (*input.shape[:-2], columns, columns)),
        )
    u, s, vh = recorded.linalg_svd(input, not some)
    return return_types.svd(u, s, vh.mH)


composite(
    svd,
    "x = u·diag s·vᵀ",
    samples=lambda make: [
        make.around(lambda f, x: f(x)[1], make(3, 2)),
        make.around(lambda f, x: f(x, compute_uv=False)[1], make(2, 2)),
    ],
    autocast="float32",
)


def _pinv(x: Array, atol: float, rtol: float, hermitian: bool) -> Array:
    if not x.size:
        return np.zeros((*x.shape[:-2], x.shape[-1], x.shape[-2]), x.dtype)
    if hermitian:
        s, u = np.linalg.eigh(x)
        vh = np.swapaxes(u, -1, -2).conj()
    else:
        u, s, vh = np.linalg.svd(x, full_matrices=False)
    size = np.abs(s)
    kept = size > np.maximum(atol, rtol * size.max(-1, keepdims=True))
    inverse = np.divide(1, s, out=np.zeros_like(s), where=kept)
    left = np.swapaxes(vh, -1, -2).conj() * inverse[..., None, :]
    return np.matmul(left, np.swapaxes(u, -1, -2).conj())


def _pinv_vjp(xp: Any, incoming: Array, x: Array, y: Array) -> Array:
    flipped, yt = adjoint(xp, incoming), adjoint(xp, y)
    through = -xp.matmul(xp.matmul(yt, incoming), yt)
    rows = xp.matmul(xp.matmul(flipped, y), yt)
    columns = xp.matmul(yt, xp.matmul(y, flipped))
    rows = rows - xp.matmul(x, xp.matmul(y, rows))
    columns = columns - xp.matmul(xp.matmul(columns, y), x)
    return through + rows + columns


def _pinv_jvp(xp: Any, tangents: Any, x: Array, y: Array) -> Array:
    dx = tangents[0]
    flipped, yt = adjoint(xp, dx), adjoint(xp, y)
    rows = xp.matmul(y, xp.matmul(yt, flipped))
    columns = xp.matmul(xp.matmul(flipped, yt), y)
    rows = rows - xp.matmul(xp.matmul(rows, x), y)
    columns = columns - xp.matmul(y, xp.matmul(x, columns))
    return rows + columns - xp.matmul(xp.matmul(y, dx), y)


def _tolerances(A: Tensor, atol: Any, rtol: Any) -> tuple[float, float]:
    """PyTorch's defaults: relative to size and precision, unless an absolute one is given."""
    if rtol is None:
        precision = float(dtypes.finfo(A.dtype).eps) * max(A.shape[-2:])
        rtol = 0.0 if atol is not None and float(atol) > 0 else precision
    return 0.0 if atol is None else float(atol), float(rtol)


def pinv_args(
    A: Tensor,
    rcond: Any = None,
    *,
    atol: Any = None,
    rtol: Any = None,
    hermitian: bool = False,
) -> tuple[Any, ...]:
    """The pseudo-inverse: the inverse on what A does not send to zero."""
    require_matrices("linalg.pinv", A)
    if hermitian:
        require_square("linalg.pinv", A)
    return A, *_tolerances(A, atol, rcond if rtol is None else rtol), hermitian


define(
    "linalg_pinv(x; atol, rtol, hermitian)",
    "y = x⁺ = v·diag(1/s)·uᵀ over s above the tolerance;  "
    "dy = −y·dx·y + y·yᵀ·dxᵀ·(1 − x·y) + (1 − y·x)·dxᵀ·yᵀ·y",
    complex_rule="own",
    forward=_pinv,
    vjp={"x": _pinv_vjp},
    jvp=_pinv_jvp,
    meta=lambda x, atol, rtol, hermitian: (
        (*x.shape[:-2], x.shape[-1], x.shape[-2]),
        x.dtype,
    ),
    batching=leading_dims,
    public=pinv_args,
    torch="linalg.pinv",
    notes="differentiable where the rank does not change",
    samples=lambda make: [
        make.call(make(3, 2)),
        make.call(make(2, 3)),
        make.call(make(2, 2, 2)),
        make.around(on_symmetric, make.positive_definite(2), hermitian=True),
        make.call(make(3, 0)),
    ],
)


def pinverse(input: Tensor, rcond: Any = 1e-15) -> Tensor:
    """``linalg.pinv`` under its older name."""
    return recorded.linalg_pinv(*pinv_args(input, rcond))


composite(pinverse, "y = x⁺", samples=lambda make: [make.call(make(3, 2))], autocast="float32")


def linalg_matrix_rank(
    A: Tensor,
    tol: Any = None,
    *,
    atol: Any = None,
    rtol: Any = None,
    hermitian: bool = False,
) -> Tensor:
    """How many singular values are larger than the tolerance."""
    require_matrices("linalg.matrix_rank", A)
    sizes = _sizes(A, hermitian)
    if tol is not None:
        absolute, relative = float(tol), 0.0
    else:
        absolute, relative = _tolerances(A, atol, rtol)
    if not sizes.shape[-1]:
        return (sizes > 0).sum(-1)
    limit = (relative * recorded.amax(sizes, (sizes.ndim - 1,), True)).clamp(min=absolute)
    return (sizes > limit).sum(-1)


def _sizes(A: Tensor, hermitian: bool) -> Tensor:
    A = A.detach() if A._keys & keys.BATCHED else lineage.cut(A, alias(A), "integer", "matrix_rank")
    if hermitian:
        require_square("linalg.matrix_rank", A)
        return recorded.abs(recorded.linalg_eigvalsh(A, "L"))
    return recorded.linalg_svdvals(A)


composite(
    linalg_matrix_rank,
    "y = the number of singular values above the tolerance",
    torch="linalg.matrix_rank",
    differentiable=False,
    samples=lambda make: [
        make.call(make(3, 2)),
        make.call(make(2, 3, 1) * make(2, 1, 3)),
        make.call(make(3, 2), tol=1.5),
        make.call(make(3, 2), atol=0.5, rtol=0.1),
        make.call(make.positive_definite(3), hermitian=True),
        make.call(make(0, 3)),
    ],
    autocast="float32",
)
