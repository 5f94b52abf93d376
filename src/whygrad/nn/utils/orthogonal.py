"""Weights that stay orthogonal: ‖Q·x‖ = ‖x‖, so that signals neither grow nor vanish.

Three maps lead from any matrix to an orthogonal one: the exponential of a skew-symmetric matrix,
Cayley's rational map of it, and a product of reflections (Householder).
"""

from __future__ import annotations

from whygrad.errors import fail
from whygrad.nn.modules.module import Module
from whygrad.nn.utils.parametrize import register_parametrization
from whygrad.ops import functions
from whygrad.ops.public.linalg import solve, vector_norm
from whygrad.tensor import Tensor
from whygrad.tensor.dtypes import finfo
from whygrad.tensor.modes import no_grad

__all__ = ["orthogonal"]

_MAPS = ("matrix_exp", "cayley", "householder")


class _Orthogonal(Module):
    """An orthogonal matrix from its lower triangle; ``base`` is where the map starts from."""

    base: Tensor | None

    def __init__(self, orthogonal_map: str, use_trivialization: bool) -> None:
        super().__init__()
        self.orthogonal_map = orthogonal_map
        self.use_trivialization = use_trivialization
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, X: Tensor) -> Tensor:
        wide = X.shape[-2] < X.shape[-1]
        matrix = X.mT if wide else X
        rows, columns = matrix.shape[-2:]
        if self.orthogonal_map == "householder":
            below = matrix.tril(-1)
            scales = 2.0 / (1.0 + (below * below).sum(-2))
            signs = matrix.detach().diagonal(0, -2, -1).trunc().unsqueeze(-2)
            found = _reflections(below, scales) * signs
        else:
            lower = matrix.tril()
            if rows != columns:
                zeros = lower.new_zeros((*lower.shape[:-1], rows - columns))
                lower = functions["cat"]([lower, zeros], -1)
            skew = lower - lower.mT
            found = _exponential(skew) if self.orthogonal_map == "matrix_exp" else _cayley(skew)
            found = found[..., :columns]
        if self.use_trivialization and self.base is not None:
            found = self.base @ found
        return found.mT if wide else found

    @no_grad()
    def right_inverse(self, Q: Tensor) -> Tensor:
        """What gives ``Q``, or the orthogonal matrix next to it."""
        wide = Q.shape[-2] < Q.shape[-1]
        matrix = Q.mT if wide else Q
        rows, columns = matrix.shape[-2:]
        if not self.use_trivialization:
            if self.orthogonal_map != "householder":
                raise fail(
                    NotImplementedError,
                    call=f"assigning to a weight that is orthogonal by {self.orthogonal_map}",
                    cause="It is not possible to assign to the matrix exponential or the Cayley "
                    "parametrizations when use_trivialization=False.",
                    fix="leave use_trivialization at True",
                )
            reflected, scales = _householder(matrix)
            diagonal = reflected.diagonal(0, -2, -1)
            signs = diagonal.sign()
            # forward() reflects along every vector, also where this found nothing to reflect
            diagonal.copy_(functions["where"](scales == 0, -signs, signs))
            return reflected.mT if wide else reflected
        if rows == columns:
            matrix = matrix.clone() if _is_orthogonal(matrix) else _orthogonalized(matrix)
        else:
            rest = matrix.new_empty((*matrix.shape[:-1], rows - columns)).normal_()
            matrix = _orthogonalized(functions["cat"]([matrix, rest], -1))
        self.base = matrix
        start = functions["zeros_like"](Q)
        start.diagonal(0, -2, -1).fill_(-1.0)
        return start


def _exponential(skew: Tensor) -> Tensor:
    return functions["matrix_exp"](skew)


def _cayley(skew: Tensor) -> Tensor:
    one = functions["eye"](skew.shape[-1], dtype=skew.dtype, device=skew.device)
    return solve(one - 0.5 * skew, one + 0.5 * skew)


def _reflections(below: Tensor, scales: Tensor) -> Tensor:
    """(1 − τ₁·v₁·v₁ᵀ)·(1 − τ₂·v₂·v₂ᵀ)…, its first columns; vᵢ is column i with a 1 above."""
    rows, columns = below.shape[-2:]
    one = functions["eye"](rows, columns, dtype=below.dtype, device=below.device)
    vectors = below.tril(-1) + one
    found = one.expand(*below.shape[:-2], rows, columns)
    for column in reversed(range(columns)):
        vector = vectors[..., column : column + 1]
        scale = scales[..., column : column + 1].unsqueeze(-1)
        found = found - scale * (vector @ (vector.mT @ found))
    return found


def _householder(matrix: Tensor) -> tuple[Tensor, Tensor]:
    """LAPACK's QR: R above, the vectors of the reflections below the diagonal, and their scales."""
    work = matrix.clone()
    rows, columns = matrix.shape[-2:]
    scales = matrix.new_zeros((*matrix.shape[:-2], columns))
    for column in range(min(rows, columns)):
        head = work[..., column, column].clone()
        tail = work[..., column + 1 :, column].clone()
        length = vector_norm(work[..., column:, column], dim=-1)
        flat = vector_norm(tail, dim=-1) == 0
        top = functions["where"](flat, head, functions["where"](head >= 0, -length, length))
        divisor = functions["where"](flat, functions["ones_like"](head), head - top)
        scale = functions["where"](flat, 0.0, (top - head) / functions["where"](flat, 1.0, top))
        vector = work.new_ones((*work.shape[:-2], rows - column, 1))
        vector[..., 1:, 0] = tail / divisor.unsqueeze(-1)
        block = work[..., column:, column:]
        block.copy_(block - scale[..., None, None] * (vector @ (vector.mT @ block)))
        work[..., column, column] = top
        work[..., column + 1 :, column] = vector[..., 1:, 0]
        scales[..., column] = scale
    return work, scales


def _orthogonalized(matrix: Tensor) -> Tensor:
    """The Q of QR with the signs that make R's diagonal positive."""
    reflected, scales = _householder(matrix)
    found = _reflections(reflected.tril(-1), scales)
    return found * reflected.diagonal(0, -2, -1).sign().unsqueeze(-2)


def _is_orthogonal(matrix: Tensor) -> bool:
    columns = matrix.shape[-1]
    one = functions["eye"](columns, dtype=matrix.dtype, device=matrix.device)
    eps = 10.0 * columns * finfo(matrix.dtype).eps
    return bool(((matrix.mT @ matrix - one).abs() <= eps).all())


def orthogonal(
    module: Module,
    name: str = "weight",
    orthogonal_map: str | None = None,
    *,
    use_trivialization: bool = True,
) -> Module:
    """Keep a weight orthogonal (its columns, or its rows if it is wider than tall).

    ``orthogonal_map`` is ``matrix_exp``, ``cayley`` or ``householder``; by default the first for
    square weights and the last for others.  ``use_trivialization`` keeps the present weight as the
    point from which the map starts.
    """
    weight = getattr(module, name, None)
    call = f"orthogonal({type(module).__name__}, {name!r})"
    if not isinstance(weight, Tensor):
        raise fail(
            ValueError,
            call=call,
            cause=f"Module '{module}' has no parameter or buffer with name '{name}'",
            fix="name a parameter of the module",
        )
    if weight.ndim < 2:
        raise fail(
            ValueError,
            call=call,
            cause=f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} "
            "dimensions.",
            fix="only matrices can be orthogonal",
        )
    if orthogonal_map is None:
        square = weight.shape[-2] == weight.shape[-1]
        orthogonal_map = "matrix_exp" if square else "householder"
    if orthogonal_map not in _MAPS:
        raise fail(
            ValueError,
            call=call,
            cause='orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: '
            f"{orthogonal_map}",
            fix="use one of these",
        )
    made = _Orthogonal(orthogonal_map, use_trivialization)
    return register_parametrization(module, name, made, unsafe=True)
