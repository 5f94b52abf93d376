"""Householder reflections: orthogonal matrices kept as the vectors they reflect along.

``geqrf`` makes them, ``householder_product`` multiplies them out, ``ormqr`` applies them to
another matrix.  Each reflection is one small product, so the gradient is that of products.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from whygrad.dispatch.arguments import also_named
from whygrad.errors import describe, fail
from whygrad.ops.batching import leading_dims
from whygrad.ops.define import composite, define, public_form
from whygrad.ops.linalg.matrices import require_matrices
from whygrad.ops.namespace import recorded
from whygrad.ops.public import return_types
from whygrad.tensor import Tensor

Array = Any


def _geqrf(x: Array) -> tuple[Array, Array]:
    from scipy.linalg import get_lapack_funcs

    *batch, rows, columns = x.shape
    vectors, tau = np.empty_like(x), np.zeros((*batch, min(rows, columns)), x.dtype)
    (lapack,) = get_lapack_funcs(("geqrf",), (x,))
    for element in np.ndindex(*batch):
        if min(rows, columns):
            vectors[element], tau[element], *_ = lapack(x[element])
    return vectors, tau


_reflectors = define(
    "geqrf(x)",
    "a, tau = R above the diagonal, the vectors of the reflections below it, their factors;  "
    "no gradient",
    forward=_geqrf,
    vjp=None,
    outputs=("a", "tau"),
    meta=lambda x: [(x.shape, x.dtype), ((*x.shape[:-2], min(x.shape[-2:])), x.dtype)],
    batching=leading_dims,
    samples=lambda make: [
        make.call(make.constant(make(3, 2))),
        make.call(make.constant(make(2, 2, 3))),
    ],
    autocast="float32",
)


@public_form(_reflectors)
def geqrf(input: Tensor) -> Any:
    """A QR decomposition with Q kept as reflections; ``linalg.qr`` multiplies it out."""
    require_matrices("geqrf", input, "input")
    return return_types.geqrf(*_reflectors.call(input))


def _check(name: str, A: Tensor, tau: Tensor) -> None:
    require_matrices(name, A, "input")
    cause = ""
    if A.shape[-2] < A.shape[-1]:
        cause = f"{name}: input.shape[-2] must be greater than or equal to input.shape[-1]"
    elif A.shape[-1] < tau.shape[-1]:
        cause = f"{name}: input.shape[-1] must be greater than or equal to tau.shape[-1]"
    elif A.dtype is not tau.dtype:
        cause = f"{name}: tau dtype {tau.dtype.name} does not match input dtype {A.dtype.name}"
    if cause:
        raise fail(
            RuntimeError,
            call=f"{name}({describe(A)}, {describe(tau)})",
            cause=cause,
            fix="pass what geqrf returned",
        )


def _vectors(A: Tensor, tau: Tensor) -> list[tuple[Tensor, Tensor]]:
    """Per reflection the vector, as a column, and its factor."""
    below = recorded.tril(A, -1) + recorded.identity_like(A)
    return [
        (below[..., number : number + 1], tau[..., number : number + 1].unsqueeze(-1))
        for number in range(tau.shape[-1])
    ]


def _reflect(other: Tensor, vector: Tensor, factor: Tensor) -> Tensor:
    """(1 − factor·v·vᴴ)·other."""
    return other - factor * vector @ (vector.mH @ other)


def linalg_householder_product(A: Tensor, tau: Tensor) -> Tensor:
    """The first columns of H₁·H₂·…, reflections along the columns of A below its diagonal."""
    _check("linalg.householder_product", A, tau)
    product = recorded.identity_like(A).expand(A.shape)
    if not tau.shape[-1]:
        return recorded.tied(product, A, True)
    for vector, factor in reversed(_vectors(A, tau)):
        product = _reflect(product, vector, factor)
    return product


@also_named(input2="tau", input3="other")
def ormqr(
    input: Tensor, tau: Tensor, other: Tensor, left: bool = True, transpose: bool = False
) -> Tensor:
    """Q·other (or other·Q, or with Qᴴ), Q given by its reflections."""
    require_matrices("ormqr", input, "input")
    if not left:
        return ormqr(input, tau, other.mH, True, not transpose).mH
    reflections = _vectors(input, tau.conj() if transpose else tau)
    result = other
    for vector, factor in reflections if transpose else reversed(reflections):
        result = _reflect(result, vector, factor)
    return result


composite(
    linalg_householder_product,
    "y = Π (1 − tau·v·vᴴ), its first columns",
    torch="linalg.householder_product",
    samples=lambda make: [
        make.call(make(3, 2), make(2)),
        make.call(make(2, 3, 3), make(2, 2)),
    ],
    autocast="float32",
)
composite(
    ormqr,
    "y = Q·other, Q given by its reflections",
    samples=lambda make: [
        make.call(make(3, 2), make(2), make(3, 2)),
        make.call(make(3, 2), make(2), make(2, 3), False, True),
    ],
    autocast="float32",
)


def orgqr(input: Tensor, input2: Tensor) -> Tensor:
    """``linalg.householder_product`` under its older name."""
    return linalg_householder_product(input, input2)


composite(
    orgqr,
    "y = Π (1 − tau·v·vᴴ), its first columns",
    samples=lambda make: [make.call(make(3, 2), make(2))],
    autocast="float32",
)
