"""Matrices as products of simpler ones: Cholesky and symmetric eigenvalues.

Only one triangle of a symmetric input is read, as in PyTorch, and the gradient is given as if both
had been: it is symmetric.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from whygrad.errors import describe, fail
from whygrad.ops.batching import leading_dims
from whygrad.ops.complex_numbers import real_product
from whygrad.ops.define import composite, define
from whygrad.ops.linalg.matrices import (
    LinAlgError,
    adjoint,
    batch_element,
    check_phases,
    imaginary_diagonal,
    real_part,
    require_square,
    symmetric,
)
from whygrad.ops.namespace import recorded
from whygrad.ops.public import return_types
from whygrad.ops.undefined import TIED_VALUES
from whygrad.tensor import Tensor

Array = Any
Shape = tuple[int, ...]
Triangle = Literal["L", "U"]


def on_symmetric(function: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
    """For samples: all inputs that reach the function are symmetric, complex ones Hermitian."""
    return function(0.5 * (x + x.mH), *args, **kwargs)


def _cholesky(x: Array) -> Array:
    try:
        return np.linalg.cholesky(x)
    except np.linalg.LinAlgError:
        raise _not_positive_definite(x) from None


def _not_positive_definite(x: Array) -> LinAlgError:
    element, lowest = _first_without_factor(x)
    return fail(
        LinAlgError,
        call=f"linalg.cholesky({describe(x)})",
        cause=f"{batch_element(x, element)}The factorization could not be completed because the "
        f"input is not positive-definite (its smallest eigenvalue is {lowest:.3g})",
        fix="make sure the matrix is symmetric, then add a small multiple of the identity",
    )


def _first_without_factor(x: Array) -> tuple[int, float]:
    """Which matrix of the stack failed, and its smallest eigenvalue."""
    for element, matrix in enumerate(x.reshape(-1, *x.shape[-2:])):
        try:
            np.linalg.cholesky(matrix)
        except np.linalg.LinAlgError:
            return element, np.linalg.eigvalsh(matrix)[0]
    return 0, np.nan


def _lower_half(xp: Any, x: Array) -> Array:
    """The lower triangle with half the diagonal: what a symmetric matrix has twice."""
    return xp.tril(x, 0) - 0.5 * x * xp.identity_like(x)


def cholesky_vjp(xp: Any, incoming: Array, y: Array) -> Array:
    flipped = adjoint(xp, y)
    moved = xp.matmul(flipped, incoming)
    inner = 0.5 * (xp.tril(moved, 0) + adjoint(xp, xp.tril(moved, -1)))
    right = xp.linalg_solve_triangular(y, inner, False, False, False)
    return xp.linalg_solve_triangular(flipped, right, True, True, False)


def cholesky_jvp(xp: Any, tangents: Any, y: Array) -> Array:
    moved = xp.linalg_solve_triangular(y, symmetric(xp, tangents[0]), False, True, False)
    flipped = adjoint(xp, y)
    return xp.matmul(
        y, _lower_half(xp, xp.linalg_solve_triangular(flipped, moved, True, False, False))
    )


def _cholesky_args(A: Tensor, *, upper: bool = False) -> Any:
    """The lower triangular L with ``L @ L.mT = A``, or its transpose."""
    require_square("linalg.cholesky", A)
    if not upper:
        return (A,)
    return adjoint(recorded, recorded.linalg_cholesky(adjoint(recorded, A)))


define(
    "linalg_cholesky(x)",
    "y·yᵀ = x, y lower triangular;  dy = y·Φ(y⁻¹·dx·y⁻ᵀ), Φ = lower triangle, half the diagonal",
    complex_rule="own",
    forward=_cholesky,
    vjp={"x": cholesky_vjp},
    jvp=cholesky_jvp,
    meta=lambda x: (x.shape, x.dtype),
    batching=leading_dims,
    public=_cholesky_args,
    torch="linalg.cholesky",
    samples=lambda make: [
        make.around(on_symmetric, make.positive_definite(3)),
        make.around(on_symmetric, make.positive_definite(2, 2)),
        make.around(on_symmetric, make.positive_definite(3), upper=True),
        make.call(make(0, 0)),
    ],
    autocast="float32",
)


def cholesky(input: Tensor, upper: bool = False) -> Tensor:
    """``linalg.cholesky`` under its older name."""
    prepared = _cholesky_args(input, upper=upper)
    return prepared if upper else recorded.linalg_cholesky(*prepared)


composite(
    cholesky,
    "y·yᵀ = x, y lower triangular",
    torch="linalg.cholesky",
    samples=lambda make: [
        make.around(on_symmetric, make.positive_definite(2)),
        make.around(on_symmetric, make.positive_definite(2), upper=True),
    ],
    autocast="float32",
    method=True,
)


def _eigh(x: Array, uplo: Triangle) -> tuple[Array, Array]:
    try:
        values, vectors = np.linalg.eigh(x, uplo)
    except np.linalg.LinAlgError as error:
        raise did_not_converge("linalg.eigh", x) from error
    return values, vectors


def did_not_converge(call: str, x: Array) -> LinAlgError:
    finite = np.isfinite(x).reshape(-1, x.shape[-2] * x.shape[-1]).all(axis=-1)
    element = int(np.argmin(finite))
    if finite.all():
        cause, fix = "the algorithm did not converge", "scale the matrix, or use float64"
    else:
        cause = (
            "the algorithm failed to converge because the input matrix contained non-finite values"
        )
        fix = "find the first nan or inf of the computation before this line"
    return fail(
        LinAlgError,
        call=f"{call}({describe(x)})",
        cause=f"{call}: {batch_element(x, element)}{cause}",
        fix=fix,
    )


def _gaps(xp: Any, values: Array, like: Array) -> Array:
    """λⱼ − λᵢ, and 1 on the diagonal, where nothing must be divided by zero."""
    gaps = xp.unsqueeze(values, -2) - xp.unsqueeze(values, -1)
    return gaps + real_part(xp, xp.identity_like(like))


def _eigh_vjp(xp: Any, incoming: Any, values: Array, vectors: Array) -> Array:
    from_values, from_vectors = incoming
    flipped = adjoint(xp, vectors)
    if from_vectors is None:
        return xp.matmul(vectors * xp.unsqueeze(from_values, -2), flipped)
    turned = xp.matmul(flipped, from_vectors)
    check_phases("linalg.eigh", imaginary_diagonal(xp, turned), from_vectors)
    skew = 0.5 * (turned - adjoint(xp, turned)) - imaginary_diagonal(xp, turned)
    inner = skew / _gaps(xp, values, vectors)
    if from_values is not None:
        inner = inner + xp.unsqueeze(from_values, -2) * xp.identity_like(vectors)
    return xp.matmul(xp.matmul(vectors, inner), flipped)


def _eigh_jvp(xp: Any, tangents: Any, values: Array, vectors: Array) -> tuple[Array, Array]:
    moved = xp.matmul(symmetric(xp, tangents[0]), vectors)
    turned = xp.matmul(adjoint(xp, vectors), moved)
    along = real_part(xp, xp.diagonal(turned, 0, turned.ndim - 2, turned.ndim - 1))
    across = turned - turned * xp.identity_like(turned)
    return along, xp.matmul(vectors, across / _gaps(xp, values, vectors))


def _check_uplo(call: str, A: Tensor, uplo: str) -> str:
    require_square(call, A)
    if uplo.upper() not in ("L", "U"):
        raise fail(
            RuntimeError,
            call=f"{call}({describe(A)}, UPLO={uplo!r})",
            cause=f"Expected UPLO argument to be 'L' or 'U', but got {uplo}",
            fix="pass 'L' to read the lower triangle, 'U' to read the upper one",
        )
    return uplo.upper()


def _eigh_args(A: Tensor, UPLO: str = "L") -> Any:
    """Eigenvalues (ascending) and eigenvectors (columns) of a symmetric matrix."""
    uplo = _check_uplo("linalg.eigh", A, UPLO)
    return return_types.linalg_eigh(*recorded.linalg_eigh(A, uplo))


def _up_to_sign(function: Any, x: Any, *args: Any) -> Any:
    """For samples: eigenvalues, and what does not depend on the phase of an eigenvector."""
    values, vectors = on_symmetric(function, x, *args)
    return values, vectors * vectors.conj(), (vectors * values.unsqueeze(-2)) @ vectors.mH


define(
    "linalg_eigh(x; uplo)",
    "x = V·diag λ·Vᵀ;  with K = Vᵀ·dx·V: dλ = diag K,  dV = V·(Kᵢⱼ/(λⱼ − λᵢ))",
    complex_rule="own",
    undefined=TIED_VALUES,
    forward=_eigh,
    vjp={"x": _eigh_vjp},
    jvp=_eigh_jvp,
    outputs=("values", "vectors"),
    meta=lambda x, uplo: [(x.shape[:-1], x.real.dtype), (x.shape, x.dtype)],
    batching=leading_dims,
    public=_eigh_args,
    torch="linalg.eigh",
    notes="eigenvectors have a derivative only where their eigenvalue is not repeated",
    samples=lambda make: [
        make.around(_up_to_sign, make(3, 3)),
        make.around(_up_to_sign, make(2, 2, 2), "U"),
        make.around(_up_to_sign, make.positive_definite(2), "L"),
        make.call(make(0, 0)),
    ],
    autocast="float32",
)


def _eigvalsh(x: Array, uplo: Triangle) -> Array:
    try:
        return np.linalg.eigvalsh(x, uplo)
    except np.linalg.LinAlgError as error:
        raise did_not_converge("linalg.eigvalsh", x) from error


def _eigvalsh_jvp(xp: Any, tangents: Any, x: Array, uplo: Triangle) -> Array:
    vectors = xp.linalg_eigh(x, uplo)[1]
    moved = xp.matmul(symmetric(xp, tangents[0]), vectors)
    return xp.sum(real_product(xp, moved, vectors), (x.ndim - 2,), False)


define(
    "linalg_eigvalsh(x; uplo)",
    "y = the eigenvalues of x;  ∂x = V·diag(incoming)·Vᵀ with the eigenvectors V",
    complex_rule="own",
    forward=_eigvalsh,
    vjp={
        "x": lambda xp, incoming, x, uplo: _eigh_vjp(
            xp, (incoming, None), None, xp.linalg_eigh(x, uplo)[1]
        )
    },
    jvp=_eigvalsh_jvp,
    meta=lambda x, uplo: (x.shape[:-1], x.real.dtype),
    batching=leading_dims,
    public=lambda A, UPLO="L": (A, _check_uplo("linalg.eigvalsh", A, UPLO)),
    torch="linalg.eigvalsh",
    notes="eigenvectors are computed only if backward asks for them",
    samples=lambda make: [
        make.around(on_symmetric, make(3, 3)),
        make.around(on_symmetric, make(2, 2, 2), "U"),
    ],
    autocast="float32",
)
