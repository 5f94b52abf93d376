"""Eigenvalues and eigenvectors of any matrix: complex, for real matrices too."""

from __future__ import annotations

from typing import Any

import numpy as np

from whygrad.errors import fail
from whygrad.ops.batching import leading_dims
from whygrad.ops.define import composite, define, public_form
from whygrad.ops.linalg.decompositions import did_not_converge
from whygrad.ops.linalg.matrices import matrix_transpose, require_square
from whygrad.ops.public import return_types
from whygrad.tensor import Tensor, dtypes

Array = Any


def _complex_of(dtype: Any) -> Any:
    return np.dtype(np.complex64 if dtype in (np.float32, np.complex64) else np.complex128)


def _eig(x: Array) -> tuple[Array, Array]:
    try:
        values, vectors = np.linalg.eig(x)
    except np.linalg.LinAlgError as error:
        raise did_not_converge("linalg.eig", x) from error
    wide = _complex_of(x.dtype)
    return values.astype(wide), vectors.astype(wide)


def _conjugate_transpose(xp: Any, x: Array) -> Array:
    return xp.conj_physical(matrix_transpose(xp, x))


def _gaps(xp: Any, values: Array, like: Array) -> Array:
    """λⱼ − λᵢ, and 1 on the diagonal, where nothing must be divided by zero."""
    return xp.unsqueeze(values, -2) - xp.unsqueeze(values, -1) + xp.identity_like(like)


def _off_diagonal(xp: Any, x: Array) -> Array:
    return x * (1 - xp.identity_like(x))


def _on_diagonal(xp: Any, x: Array) -> Array:
    """The diagonal as one number per column."""
    return xp.diagonal(x, 0, x.ndim - 2, x.ndim - 1)


def _check_phase(turning: Array) -> None:
    """A loss must not depend on the phase that LAPACK happened to give an eigenvector."""
    if isinstance(turning, np.ndarray) and not np.allclose(turning.imag, 0, 1e-2, 1e-2):
        raise fail(
            RuntimeError,
            call="the gradient of linalg.eig",
            cause="linalg_eig_backward: The eigenvectors in the complex case are specified up to "
            "multiplication by e^{i phi}. The specified loss function depends on this quantity, "
            "so it is ill-defined.",
            fix="let the loss depend on vectors.abs(), or on products of a vector with itself",
        )


def _eig_vjp(xp: Any, incoming: Any, x_dtype: Any, values: Array, vectors: Array) -> Array:
    of_values, of_vectors = incoming
    adjoint = _conjugate_transpose(xp, vectors)
    inner = None
    if of_vectors is not None:
        inner = xp.matmul(adjoint, of_vectors)
        turning = _on_diagonal(xp, inner)
        _check_phase(turning)
        along = vectors * xp.unsqueeze(xp.real_part(turning), -2)
        inner = inner - xp.matmul(adjoint, along)
        inner = _off_diagonal(xp, inner / _gaps(xp, xp.conj_physical(values), vectors))
    if of_values is not None:
        straight = xp.identity_like(vectors) * xp.unsqueeze(of_values, -2)
        inner = straight if inner is None else inner + straight
    pulled = xp.linalg_solve(adjoint, xp.matmul(inner, adjoint))
    return pulled if dtypes.of(x_dtype).is_complex else xp.real_part(pulled)


def _eig_jvp(xp: Any, tangents: Any, values: Array, vectors: Array) -> tuple[Array, Array]:
    moved = xp.cast(tangents[0], dtypes.of(vectors.dtype))
    turned = xp.linalg_solve(vectors, xp.matmul(moved, vectors))
    mixed = _off_diagonal(xp, turned / _gaps(xp, values, vectors))
    d_vectors = xp.matmul(vectors, mixed)
    growth = xp.sum(xp.conj_physical(vectors) * d_vectors, (vectors.ndim - 2,), True)
    return _on_diagonal(xp, turned), d_vectors - vectors * xp.real_part(growth)


def _parts(function: Any, x: Any) -> Any:
    """For samples: what of the result does not depend on the phase of the eigenvectors."""
    values, vectors = function(x)
    return values.real, values.imag, vectors.abs()


_eig_op = define(
    "linalg_eig(x)",
    "x·vectors = vectors·diag(values), both complex;  dλ = diag(V⁻¹·dx·V),  "
    "dV = V·(V⁻¹·dx·V / (λⱼ − λᵢ)), its length kept",
    forward=_eig,
    vjp={"x": _eig_vjp},
    jvp=_eig_jvp,
    complex_rule="own",
    outputs=("values", "vectors"),
    meta=lambda x: [(x.shape[:-1], _complex_of(x.dtype)), (x.shape, _complex_of(x.dtype))],
    batching=leading_dims,
    torch="linalg.eig",
    samples=lambda make: [
        make.around(_parts, make(3, 3)),
        make.around(_parts, make(2, 2, 2)),
    ],
)


@public_form(_eig_op)
def linalg_eig(A: Tensor) -> Any:
    """Eigenvalues and eigenvectors of a matrix that need not be symmetric."""
    require_square("linalg.eig", A)
    return return_types.linalg_eig(*_eig_op.call(A))


def linalg_eigvals(A: Tensor) -> Tensor:
    """Eigenvalues of a matrix that need not be symmetric."""
    require_square("linalg.eigvals", A)
    values: Tensor = _eig_op.call(A)[0]
    return values


composite(
    linalg_eigvals,
    "y = the eigenvalues of x, complex",
    torch="linalg.eigvals",
    samples=lambda make: [
        make.around(lambda f, x: f(x).abs(), make(3, 3)),
        make.around(lambda f, x: f(x).real, make(2, 2, 2)),
    ],
)
