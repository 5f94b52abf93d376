"""Solvers under older names, and the largest eigenvalues alone."""

from __future__ import annotations

from typing import Any

from whygrad.errors import describe, fail
from whygrad.ops.define import composite, table
from whygrad.ops.linalg.matrices import require_square
from whygrad.ops.namespace import recorded
from whygrad.ops.public import return_types
from whygrad.tensor import Tensor


def cholesky_inverse(L: Tensor, upper: bool = False) -> Tensor:
    """The inverse of A, given its Cholesky factor."""
    require_square("cholesky_inverse", L)
    identity = recorded.identity_like(L)
    return table["cholesky_solve"].public(identity, L, upper)


def triangular_solve(
    b: Tensor,
    A: Tensor,
    upper: bool = True,
    transpose: bool = False,
    unitriangular: bool = False,
) -> Any:
    """The older form of ``linalg.solve_triangular``, which also returns a copy of A."""
    triangle = A.mT if transpose else A
    solution = table["linalg_solve_triangular"].public(
        triangle, b, upper=upper != transpose, unitriangular=unitriangular
    )
    return return_types.triangular_solve(solution, A.clone())


def lobpcg(
    A: Tensor,
    k: int | None = None,
    B: Tensor | None = None,
    X: Tensor | None = None,
    n: int | None = None,
    iK: Tensor | None = None,
    niter: int | None = None,
    tol: float | None = None,
    largest: bool | None = None,
    method: str | None = None,
    **details: Any,
) -> tuple[Tensor, Tensor]:
    """The ``k`` largest (or smallest) eigenvalues of a symmetric A, and their eigenvectors.

    ``B`` makes it the generalised problem A·x = λ·B·x.  Computed exactly, by ``linalg.eigh``:
    what would guide an iteration is taken and not needed.
    """
    require_square("lobpcg", A)
    if k is None:
        k = 1 if X is None else X.shape[-1]
    if A.shape[-1] < 3 * k:
        raise fail(
            ValueError,
            call=f"lobpcg({describe(A)}, k={k})",
            cause=f"LPBPCG algorithm is not applicable when the number of A rows "
            f"(={A.shape[-1]}) is smaller than 3 x the number of requested eigenpairs (={k})",
            fix="use linalg.eigh",
        )
    solve = table["linalg_solve_triangular"].public
    eigh = table["linalg_eigh"].public
    if B is None:
        values, vectors = eigh(A)
    else:
        root = table["linalg_cholesky"].public(B)
        reduced = solve(root.mH, solve(root, A, upper=False), upper=True, left=False)
        values, turned = eigh(0.5 * (reduced + reduced.mH))
        vectors = solve(root.mH, turned, upper=True)
    if largest is None or largest:
        values, vectors = (table["flip"].public(each, (-1,)) for each in (values, vectors))
    return values[..., :k], vectors[..., :k]


composite(
    cholesky_inverse,
    "y = (L·Lᵀ)⁻¹",
    torch="",  # forward mode is wrong there
    samples=lambda make: [
        make.around(lambda f, x: f(x.tril()), make.positive_definite(3)),
        make.around(lambda f, x: f(x.triu(), True), make.positive_definite(2, 2)),
    ],
)
composite(
    triangular_solve,
    "y = a⁻¹·b for triangular a",
    torch="",  # deprecated there, with a warning
    samples=lambda make: [
        make.call(make(3, 2), make.positive_definite(3)),
        make.call(make(3, 2), make.positive_definite(3), False, True),
    ],
)
composite(
    lobpcg,
    "a·y = y·λ for the largest λ",
    method=False,
    torch="",  # PyTorch iterates from random vectors
    samples=lambda make: [
        make.around(lambda f, x: f(0.5 * (x + x.mT), 1)[0], make.positive_definite(4)),
        make.around(
            lambda f, x, b: f(0.5 * (x + x.mT), 1, 0.5 * (b + b.mT), largest=False)[0],
            make.positive_definite(3),
            make.positive_definite(3),
        ),
    ],
)
