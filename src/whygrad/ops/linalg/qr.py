"""QR: a matrix as orthonormal columns times an upper triangle."""

from __future__ import annotations

from typing import Any

import numpy as np

from whygrad.errors import describe, fail
from whygrad.ops.batching import leading_dims
from whygrad.ops.define import composite, define
from whygrad.ops.linalg.matrices import (
    adjoint,
    imaginary_diagonal,
    require_matrices,
)
from whygrad.ops.namespace import recorded
from whygrad.ops.public import return_types
from whygrad.tensor import Tensor

Array = Any
Shape = tuple[int, ...]


def _first_columns(count: int) -> tuple[Any, ...]:
    return (Ellipsis, slice(None, count))


def _qr_vjp(xp: Any, incoming: Any, q: Array, r: Array, mode: str) -> Array | None:
    from_q, from_r = incoming
    if q.shape[-1] > r.shape[-1]:
        raise _not_differentiable(q)
    rows, columns = q.shape[-1], r.shape[-1]
    if rows == columns:
        return _tall_qr_vjp(xp, from_q, from_r, q, r)
    # A wide matrix is a square one with more columns, for which r is just qᵀ·x.
    square, rest = _first_columns(rows), (Ellipsis, slice(rows, None))
    if from_r is None:
        from_x = _tall_qr_vjp(xp, from_q, None, q, xp.slice(r, square))
        return xp.slice_backward(from_x, r.shape, square)
    from_rest = xp.slice(from_r, rest)
    seen_by_q = xp.matmul(xp.matmul(q, xp.slice(r, rest)), adjoint(xp, from_rest))
    from_q = seen_by_q if from_q is None else from_q + seen_by_q
    from_square = _tall_qr_vjp(xp, from_q, xp.slice(from_r, square), q, xp.slice(r, square))
    return xp.cat([from_square, xp.matmul(q, from_rest)], r.ndim - 1)


def _tall_qr_vjp(
    xp: Any, from_q: Array | None, from_r: Array | None, q: Array, r: Array
) -> Array | None:
    inner = None
    if from_r is not None:
        inner = xp.matmul(r, adjoint(xp, xp.triu(from_r, 0)))
    if from_q is not None:
        turned = xp.matmul(adjoint(xp, from_q), q)
        inner = -turned if inner is None else inner - turned
    below = xp.tril(inner, -1)
    mirrored = xp.tril(inner, 0) + adjoint(xp, below) - imaginary_diagonal(xp, inner)
    total = xp.matmul(q, mirrored)
    if from_q is not None:
        total = total + from_q
    return xp.linalg_solve_triangular(adjoint(xp, r), total, False, False, False)


def _qr_jvp(xp: Any, tangents: Any, q: Array, r: Array, mode: str) -> tuple[Array, Array]:
    if q.shape[-1] > r.shape[-1]:
        raise _not_differentiable(q)
    dx = tangents[0]
    square = _first_columns(q.shape[-1])
    flipped = adjoint(xp, q)
    scaled = xp.linalg_solve_triangular(
        xp.slice(r, square), xp.slice(dx, square), True, False, False
    )
    turned = xp.matmul(flipped, scaled)
    below = xp.tril(turned, -1)
    rotation = below - adjoint(xp, below) + imaginary_diagonal(xp, turned)
    dq = scaled - xp.matmul(q, turned - rotation)
    return dq, xp.matmul(flipped, dx) - xp.matmul(rotation, r)


def _not_differentiable(q: Array) -> RuntimeError:
    return fail(
        RuntimeError,
        call=f"the derivative of linalg.qr(mode='complete') with Q {describe(q)}",
        cause="The QR decomposition is not differentiable when mode='complete' and "
        "nrows > ncols: the additional columns of Q are arbitrary",
        fix="use mode='reduced'",
    )


def _qr_meta(x: Array, mode: str) -> list[tuple[Shape, Any]]:
    *batch, rows, columns = x.shape
    inner = rows if mode == "complete" else min(rows, columns)
    return [((*batch, rows, inner), x.dtype), ((*batch, inner, columns), x.dtype)]


def _qr_args(A: Tensor, mode: str = "reduced") -> Any:
    """A = Q·R with orthonormal columns in Q and R upper triangular."""
    require_matrices("linalg.qr", A)
    if mode not in ("reduced", "complete", "r"):
        raise fail(
            RuntimeError,
            call=f"linalg.qr({describe(A)}, mode={mode!r})",
            cause=f"qr received unrecognized mode {mode!r} but expected one of 'reduced' "
            "(default), 'r', or 'complete'",
            fix="pass one of the three",
        )
    q, r = recorded.linalg_qr(A, "reduced" if mode == "r" else mode)
    return return_types.linalg_qr(recorded.new_zeros(q, (0,)) if mode == "r" else q, r)


define(
    "linalg_qr(x; mode)",
    "q·r = x, qᵀ·q = 1, r upper triangular;  with W = qᵀ·dx·r⁻¹ and Ω = its lower triangle made "
    "skew: dr = qᵀ·dx − Ω·r,  dq = dx·r⁻¹ − q·(W − Ω)",
    complex_rule="own",
    forward=lambda x, mode: tuple(np.linalg.qr(x, mode)),
    vjp={"x": _qr_vjp},
    jvp=_qr_jvp,
    outputs=("q", "r"),
    meta=_qr_meta,
    batching=leading_dims,
    public=_qr_args,
    torch="linalg.qr",
    notes="mode='r' is differentiable here, in PyTorch it is not",
    samples=lambda make: [
        make.call(make(3, 3)),
        make.call(make(4, 2)),
        make.call(make(2, 3)),
        make.call(make(2, 3, 2)),
        make.call(make(2, 3), mode="complete"),
        make.call(make.constant(make(3, 2)), mode="complete"),
        make.call(make.constant(make(3, 2)), mode="r"),
    ],
    autocast="float32",
)


def qr(input: Tensor, some: bool = True) -> Any:
    """The older form of ``linalg.qr``."""
    return _qr_args(input, "reduced" if some else "complete")


composite(
    qr,
    "q·r = x, qᵀ·q = 1, r upper triangular",
    torch="linalg.qr",
    samples=lambda make: [make.call(make(3, 2)), make.call(make(2, 3))],
    autocast="float32",
    method=True,
)
