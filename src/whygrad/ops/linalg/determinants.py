"""Determinants.

The gradient of a determinant is the matrix of cofactors.  It is an op of its own, because it exists
for singular matrices, where the usual formula det(x)·x⁻ᵀ does not.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from whygrad.ops.batching import leading_dims
from whygrad.ops.complex_numbers import is_complex
from whygrad.ops.define import composite, define
from whygrad.ops.linalg.matrices import (
    adjoint,
    matrix_transpose,
    over_matrices,
    require_square,
    square_only,
)
from whygrad.ops.namespace import recorded
from whygrad.ops.public import return_types
from whygrad.ops.undefined import Undefined
from whygrad.tensor import Tensor

Array = Any


def _cofactor(x: Array) -> Array:
    """det(x)·x⁻ᵀ, also where x has no inverse."""
    determinant = np.linalg.det(x)
    if np.all(determinant != 0):
        return np.swapaxes(np.linalg.inv(x), -1, -2) * determinant[..., None, None]
    u, s, vh = np.linalg.svd(x)
    others = np.where(np.eye(s.shape[-1], dtype=bool), 1, s[..., None, :]).prod(-1, dtype=s.dtype)
    turn = np.linalg.det(u) * np.linalg.det(vh)
    return (u * (others * turn[..., None])[..., None, :]) @ vh


def _cofactor_vjp(xp: Any, incoming: Array, x: Array, y: Array) -> Array:
    inverse = matrix_transpose(xp, xp.linalg_inv(x))
    along = over_matrices(xp, _inner(xp, incoming, inverse))
    return along * y - xp.matmul(xp.matmul(y, matrix_transpose(xp, incoming)), inverse)


def _inner(xp: Any, a: Array, b: Array) -> Array:
    """Σ a·b per matrix."""
    return xp.sum(a * b, (a.ndim - 2, a.ndim - 1), False)


define(
    "cofactor(x)",
    "y = det(x)·x⁻ᵀ, the gradient of det;  dy = ⟨x⁻ᵀ, dx⟩·y − y·dxᵀ·x⁻ᵀ",
    complex_rule="holomorphic",
    forward=_cofactor,
    vjp={"x": _cofactor_vjp},
    jvp=lambda xp, tangents, x, y: _cofactor_vjp(xp, tangents[0], x, y),
    meta=lambda x: (x.shape, x.dtype),
    batching=leading_dims,
    internal=True,
    notes="defined for singular matrices too, where PyTorch's gradient of det is not exact",
    samples=lambda make: [make.call(make.positive_definite(2, 2))],
)
define(
    "linalg_det(x)",
    "y = det x;  ∂y/∂x = the cofactors of x, which are y·x⁻ᵀ",
    complex_rule="holomorphic",
    forward=np.linalg.det,
    vjp={"x": lambda xp, incoming, x: over_matrices(xp, incoming) * xp.cofactor(x)},
    jvp=lambda xp, tangents, x: _inner(xp, tangents[0], xp.cofactor(x)),
    meta=lambda x: (x.shape[:-2], x.dtype),
    batching=leading_dims,
    public=square_only("linalg.det"),
    torch="linalg.det",
    samples=lambda make: [
        make.call(make(3, 3)),
        make.call(make(2, 2, 2)),
        make.call(make(0, 0)),
    ],
)


def _slogdet_vjp(xp: Any, incoming: Any, x: Array, sign: Array) -> Array | None:
    from_sign, total = incoming
    if from_sign is not None and is_complex(x):
        turning = xp.conj_physical(from_sign) * sign
        of_angle = xp.real_part(turning) - turning
        total = of_angle if total is None else total + of_angle
    if total is None:
        return None
    return over_matrices(xp, total) * adjoint(xp, xp.linalg_inv(x))


def _slogdet_jvp(xp: Any, tangents: Any, x: Array, sign: Array) -> tuple[Array | None, Array]:
    moved = _inner(xp, tangents[0], matrix_transpose(xp, xp.linalg_inv(x)))
    if not is_complex(x):
        return None, moved
    size = xp.real_part(moved)
    return sign * (moved - size), size


def _slogdet_args(A: Tensor) -> Any:
    """The sign of the determinant and the logarithm of its size."""
    require_square("linalg.slogdet", A)
    return return_types.slogdet(*recorded.linalg_slogdet(A))


define(
    "linalg_slogdet(x)",
    "sign, logabsdet = sign det x, log |det x|;  ∂logabsdet/∂x = x⁻ᵀ,  ∂sign/∂x = 0",
    complex_rule="own",
    undefined=(
        Undefined(
            lambda v: v["inf_in"] == 0,
            "the determinant of a singular matrix is 0, and log(0) is −inf",
            "add a small multiple of the identity to the matrix",
        ),
    ),
    forward=lambda x: tuple(np.linalg.slogdet(x)),
    vjp={"x": _slogdet_vjp},
    jvp=_slogdet_jvp,
    outputs=("sign", "logabsdet"),
    meta=lambda x: [(x.shape[:-2], x.dtype), (x.shape[:-2], x.real.dtype)],
    batching=leading_dims,
    public=_slogdet_args,
    torch="linalg.slogdet",
    samples=lambda make: [make.call(make(3, 3)), make.call(make(2, 2, 2)), make.call(make(0, 0))],
)


def det(input: Tensor) -> Tensor:
    """``linalg.det``."""
    require_square("linalg.det", input)
    return recorded.linalg_det(input)


def slogdet(input: Tensor) -> Any:
    """``linalg.slogdet``."""
    return _slogdet_args(input)


def logdet(input: Tensor) -> Tensor:
    """The logarithm of the determinant: −inf if that is zero, nan if it is negative."""
    require_square("logdet", input)
    sign, size = recorded.linalg_slogdet(input)
    if input.dtype.is_complex:
        return recorded.log(sign) + size
    return recorded.where(sign == -1, math.nan, size)


composite(
    det,
    "y = det x",
    samples=lambda make: [make.call(make(3, 3)), make.call(make(2, 2, 2))],
)
composite(
    slogdet,
    "sign, logabsdet = sign det x, log |det x|",
    samples=lambda make: [make.call(make(3, 3))],
)
composite(
    logdet,
    "y = log det x",
    samples=lambda make: [
        make.call(make.positive_definite(3)),
        make.call(make.positive_definite(2, 2)),
    ],
)
