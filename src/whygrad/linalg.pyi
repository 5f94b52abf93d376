"""Linear algebra under PyTorch's short names: ``whygrad.linalg.inv``, ``.svd``, ``.norm``, …

Every function takes stacks of matrices: the last two dimensions are the matrix, the others are the
batch.
"""
# Written by scripts/stubs.py from the op table: run `make stubs` instead of editing.

from collections.abc import Sequence
from typing import Any

from whygrad import return_types
from whygrad._types import DTypeLike, Ints
from whygrad.ops.linalg.matrices import LinAlgError as LinAlgError
from whygrad.tensor import Tensor

__all__ = [
    "LinAlgError",
    "cholesky",
    "cross",
    "det",
    "diagonal",
    "eigh",
    "eigvalsh",
    "inv",
    "lstsq",
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
    "solve_triangular",
    "svd",
    "svdvals",
    "vecdot",
    "vector_norm",
]

def cholesky(A: Tensor, *, upper: bool = False, out: Tensor | None = None) -> Tensor:
    """y·yᵀ = x, y lower triangular;  dy = y·Φ(y⁻¹·dx·y⁻ᵀ), Φ = lower triangle, half the
    diagonal
    """

def cross(input: Tensor, other: Tensor, *, dim: int = -1, out: Tensor | None = None) -> Tensor:
    """y = a × b;  ∂a = b × incoming,  ∂b = incoming × a"""

def det(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = det x;  ∂y/∂x = the cofactors of x, which are y·x⁻ᵀ"""

def diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """The diagonals of the matrices, as a view.

    y = the diagonals of the matrices
    """

def eigh(
    A: Tensor, UPLO: str = "L", *, out: Sequence[Tensor] | None = None
) -> return_types.linalg_eigh:
    """x = V·diag λ·Vᵀ;  with K = Vᵀ·dx·V: dλ = diag K,  dV = V·(Kᵢⱼ/(λⱼ − λᵢ))"""

def eigvalsh(A: Tensor, UPLO: str = "L", *, out: Tensor | None = None) -> Tensor:
    """y = the eigenvalues of x;  ∂x = V·diag(incoming)·Vᵀ with the eigenvectors V"""

def inv(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = x⁻¹;  dy = −y·dx·y"""

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
