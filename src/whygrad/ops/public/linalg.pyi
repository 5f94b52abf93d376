"""Linear algebra under PyTorch's short names: ``whygrad.linalg.inv``, ``.svd``, ``.norm``, …

Every function takes stacks of matrices: the last two dimensions are the matrix, the others are the
batch.
"""
# Written by scripts/stubs.py: run `make stubs` instead of editing.

from collections.abc import Sequence
from typing import Any

from whygrad.ops.linalg.matrices import LinAlgError as LinAlgError
from whygrad.ops.public import return_types
from whygrad.tensor._types import DTypeLike, Ints
from whygrad.tensor.tensor import Tensor

__all__ = [
    "LinAlgError",
    "cholesky",
    "cholesky_ex",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "householder_product",
    "inv",
    "inv_ex",
    "ldl_factor",
    "ldl_factor_ex",
    "ldl_solve",
    "lstsq",
    "lu",
    "lu_factor",
    "lu_factor_ex",
    "lu_solve",
    "matmul",
    "matrix_exp",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "multi_dot",
    "norm",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "solve_ex",
    "solve_triangular",
    "svd",
    "svdvals",
    "tensorinv",
    "tensorsolve",
    "vander",
    "vecdot",
    "vector_norm",
]

def cholesky(A: Tensor, *, upper: bool = False, out: Tensor | None = None) -> Tensor:
    """y·yᵀ = x, y lower triangular;  dy = y·Φ(y⁻¹·dx·y⁻ᵀ), Φ = lower triangle, half the
    diagonal
    """

def cholesky_ex(
    A: Tensor,
    *,
    upper: bool = False,
    check_errors: bool = False,
    out: Sequence[Tensor] | None = None,
) -> return_types.linalg_cholesky_ex:
    """y·yᵀ = x, and info;  dy as for cholesky"""

def cond(A: Tensor, p: Any = None, *, out: Tensor | None = None) -> Tensor:
    """How much a matrix can amplify a relative error: |A|·|A⁻¹|.

    y = |x|·|x⁻¹|, in the 2-norm the largest over the smallest singular value
    """

def cross(input: Tensor, other: Tensor, *, dim: int = -1, out: Tensor | None = None) -> Tensor:
    """y = a × b;  ∂a = b × incoming,  ∂b = incoming × a"""

def det(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = det x;  ∂y/∂x = the cofactors of x, which are y·x⁻ᵀ"""

def diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """The diagonals of the matrices, as a view.

    y = the diagonals of the matrices
    """

def eig(A: Tensor, *, out: Sequence[Tensor] | None = None) -> return_types.linalg_eig:
    """Eigenvalues and eigenvectors of a matrix that need not be symmetric.

    x·vectors = vectors·diag(values), both complex;  dλ = diag(V⁻¹·dx·V),  dV =
    V·(V⁻¹·dx·V / (λⱼ − λᵢ)), its length kept
    """

def eigh(
    A: Tensor, UPLO: str = "L", *, out: Sequence[Tensor] | None = None
) -> return_types.linalg_eigh:
    """x = V·diag λ·Vᵀ;  with K = Vᵀ·dx·V: dλ = diag K,  dV = V·(Kᵢⱼ/(λⱼ − λᵢ))"""

def eigvals(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Eigenvalues of a matrix that need not be symmetric.

    y = the eigenvalues of x, complex
    """

def eigvalsh(A: Tensor, UPLO: str = "L", *, out: Tensor | None = None) -> Tensor:
    """y = the eigenvalues of x;  ∂x = V·diag(incoming)·Vᵀ with the eigenvectors V"""

def householder_product(A: Tensor, tau: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The first columns of H₁·H₂·…, reflections along the columns of A below its diagonal.

    y = Π (1 − tau·v·vᴴ), its first columns
    """

def inv(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = x⁻¹;  dy = −y·dx·y"""

def inv_ex(
    A: Tensor, *, check_errors: bool = False, out: Sequence[Tensor] | None = None
) -> return_types.linalg_inv_ex:
    """y = x⁻¹, and info;  dy = −y·dx·y"""

def ldl_factor(
    A: Tensor, *, hermitian: bool = False, out: Sequence[Tensor] | None = None
) -> return_types.linalg_ldl_factor:
    """The packed factors of a symmetric matrix, and the exchanges.

    x = L·D·Lᵀ, packed
    """

def ldl_factor_ex(
    A: Tensor,
    *,
    hermitian: bool = False,
    check_errors: bool = False,
    out: Sequence[Tensor] | None = None,
) -> return_types.linalg_ldl_factor_ex:
    """The packed factors of a symmetric matrix, the exchanges, and where D has a zero.

    x = L·D·Lᵀ (or Lᴴ), packed, for a symmetric x that need not be positive;  no gradient
    """

def ldl_solve(
    LD: Any, pivots: Tensor, B: Any, *, hermitian: bool = False, out: Tensor | None = None
) -> Tensor:
    """y = (L·D·Lᵀ)⁻¹·b;  no gradient"""

def lstsq(
    A: Tensor,
    B: Tensor,
    rcond: float | None = None,
    *,
    driver: str | None = None,
    out: Sequence[Tensor] | None = None,
) -> return_types.linalg_lstsq:
    """The X with the smallest ‖A·X − B‖, and the shortest such X if there are several.

    All drivers compute the same solution; as in PyTorch they differ in what else is
    returned.

    y = a⁺·b, the least-squares solution of a·y = b
    """

def lu(
    A: Tensor, *, pivot: bool = True, out: Sequence[Tensor] | None = None
) -> return_types.linalg_lu:
    """A = P @ L @ U.

    x = P·L·U
    """

def lu_factor(
    A: Tensor, *, pivot: bool = True, out: Sequence[Tensor] | None = None
) -> return_types.linalg_lu_factor:
    """L and U in one matrix, and the exchanges of rows.

    x = P·L·U, L and U packed in one matrix
    """

def lu_factor_ex(
    A: Tensor,
    *,
    pivot: bool = True,
    check_errors: bool = False,
    out: Sequence[Tensor] | None = None,
) -> return_types.linalg_lu_factor_ex:
    """x = P·L·U, L and U packed in one matrix;  ∂x = P·L⁻ᵀ·(tril(Lᵀ·∂L) + triu(∂U·Uᵀ))·U⁻ᵀ"""

def lu_solve(
    LU: Tensor,
    pivots: Tensor,
    B: Tensor,
    *,
    left: bool = True,
    adjoint: bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """The X with ``A @ X = B`` (or ``X @ A = B``), given the factors of A.

    y = U⁻¹·L⁻¹·Pᵀ·b
    """

def matmul(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = a·b over the last dimension of a and the rows of b, batches broadcast;  ∂a =
    incoming·bᵀ,  ∂b = aᵀ·incoming
    """

def matrix_exp(A: Tensor) -> Tensor:
    """y = Σ xᵏ/k!;  dy = the upper right corner of exp of [x, dx; 0, x]"""

def matrix_norm(
    A: Tensor,
    ord: Any = "fro",
    dim: Ints = (-2, -1),
    keepdim: bool = False,
    *,
    dtype: DTypeLike | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """A norm of the matrices in two dimensions: 'fro', 'nuc', ±inf, ±1 or ±2.

    y = the Frobenius, nuclear, spectral, row-sum or column-sum norm
    """

def matrix_power(A: Tensor, n: int, *, out: Tensor | None = None) -> Tensor:
    """A·A·…·A, by repeated squaring; the inverse for negative ``n``.

    y = xⁿ
    """

def matrix_rank(
    A: Tensor,
    tol: Any = None,
    *,
    atol: Any = None,
    rtol: Any = None,
    hermitian: bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """How many singular values are larger than the tolerance.

    y = the number of singular values above the tolerance
    """

def multi_dot(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """The product of a chain of matrices in the order that takes the fewest multiplications.

    y = a·b·c·…
    """

def norm(
    A: Tensor,
    ord: Any = None,
    dim: Ints | None = None,
    keepdim: bool = False,
    *,
    dtype: DTypeLike | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """A vector norm or a matrix norm, whichever ``ord`` and ``dim`` ask for.

    y = a vector norm or a matrix norm, by ord and dim
    """

def pinv(
    A: Tensor,
    rcond: Any = None,
    *,
    atol: Any = None,
    rtol: Any = None,
    hermitian: bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """y = x⁺ = v·diag(1/s)·uᵀ over s above the tolerance;  dy = −y·dx·y + y·yᵀ·dxᵀ·(1 − x·y)
    + (1 − y·x)·dxᵀ·yᵀ·y
    """

def qr(
    A: Tensor, mode: str = "reduced", *, out: Sequence[Tensor] | None = None
) -> return_types.linalg_qr:
    """q·r = x, qᵀ·q = 1, r upper triangular;  with W = qᵀ·dx·r⁻¹ and Ω = its lower triangle
    made skew: dr = qᵀ·dx − Ω·r,  dq = dx·r⁻¹ − q·(W − Ω)
    """

def slogdet(A: Tensor, *, out: Sequence[Tensor] | None = None) -> return_types.slogdet:
    """sign, logabsdet = sign det x, log |det x|;  ∂logabsdet/∂x = x⁻ᵀ,  ∂sign/∂x = 0"""

def solve(A: Tensor, B: Tensor, *, left: bool = True, out: Tensor | None = None) -> Tensor:
    """y = a⁻¹·b;  ∂b = a⁻ᵀ·incoming,  ∂a = −∂b·yᵀ"""

def solve_ex(
    A: Tensor,
    B: Tensor,
    *,
    left: bool = True,
    check_errors: bool = False,
    out: Sequence[Tensor] | None = None,
) -> return_types.linalg_solve_ex:
    """y = a⁻¹·b, and info;  ∂b = a⁻ᵀ·incoming,  ∂a = −∂b·yᵀ"""

def solve_triangular(
    A: Tensor,
    B: Tensor,
    *,
    upper: bool,
    left: bool = True,
    unitriangular: bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """y = a⁻¹·b for triangular a;  ∂b = a⁻ᵀ·incoming,  ∂a = the triangle of −∂b·yᵀ"""

def svd(
    A: Tensor, full_matrices: bool = True, *, out: Sequence[Tensor] | None = None
) -> return_types.linalg_svd:
    """x = u·diag s·vh;  with P = uᵀ·dx·v: ds = diag P,  du = u·((P·s + s·Pᵀ)ᵢⱼ/(sⱼ² − sᵢ²))
    + (1 − u·uᵀ)·dx·v/s,  dv alike
    """

def svdvals(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = the singular values of x;  ∂x = u·diag(incoming)·vh"""

def tensorinv(A: Tensor, ind: int = 2, *, out: Tensor | None = None) -> Tensor:
    """The inverse of ``tensordot(A, ·, ind)``.

    y = the inverse of x as a matrix of its first ind by its other dimensions
    """

def tensorsolve(
    A: Tensor, B: Tensor, dims: Ints | None = None, *, out: Tensor | None = None
) -> Tensor:
    """The X with ``tensordot(A, X, X.ndim) = B``; ``dims`` of A are moved to its end first.

    tensordot(a, y) = b
    """

def vander(x: Tensor, *, N: int | None = None) -> Tensor:
    """Powers 0, 1, … of every element, as a new last dimension.

    y[…, j] = xʲ
    """

def vecdot(x: Tensor, y: Tensor, *, dim: int = -1, out: Tensor | None = None) -> Tensor:
    """Σ x̄·y along a dimension, the others broadcast.

    y = Σ x·y along a dimension
    """

def vector_norm(
    x: Tensor,
    ord: Any = 2,
    dim: Ints | None = None,
    keepdim: bool = False,
    *,
    dtype: DTypeLike | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """(Σ |x|^ord)^(1/ord) over ``dim``, or over all elements.

    y = (Σ |x|ᵖ)^(1/p)
    """
