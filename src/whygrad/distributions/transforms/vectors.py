"""Transforms between plain vectors and probabilities, Cholesky factors and correlations."""

from __future__ import annotations

import math
from typing import Any

import whygrad
from whygrad.distributions import constraints
from whygrad.distributions.transforms.transform import PlainTransform
from whygrad.errors import fail
from whygrad.nn import functional
from whygrad.tensor import Tensor

__all__ = [
    "CorrCholeskyTransform",
    "LowerCholeskyTransform",
    "PositiveDefiniteTransform",
    "SoftmaxTransform",
    "StickBreakingTransform",
]


class SoftmaxTransform(PlainTransform):
    """y = softmax x; the way back is a choice, since softmax forgets a constant."""

    domain = constraints.real_vector
    codomain = constraints.simplex

    def _call(self, x: Tensor) -> Tensor:
        shares = (x - x.max(-1, True)[0]).exp()
        return shares / shares.sum(-1, True)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()

    def forward_shape(self, shape: Any) -> Any:
        return self._at_least(shape, 1)

    inverse_shape = forward_shape


class StickBreakingTransform(PlainTransform):
    """n numbers to n + 1 shares: each takes the sigmoid of it from what is left of a stick."""

    domain = constraints.real_vector
    codomain = constraints.simplex
    bijective = True

    @staticmethod
    def _offset(x: Tensor, count: int) -> Tensor:
        """Makes equal shares of zeros."""
        return (count - whygrad.arange(count, dtype=x.dtype, device=x.device)).log()

    def _call(self, x: Tensor) -> Tensor:
        z = (x - self._offset(x, x.shape[-1])).sigmoid()
        left = (1 - z).cumprod(-1)
        return functional.pad(z, [0, 1], value=1) * functional.pad(left, [1, 0], value=1)

    def _inverse(self, y: Tensor) -> Tensor:
        first = y[..., :-1]
        tiny = whygrad.finfo(y.dtype).tiny
        left = (1 - first.cumsum(-1)).clamp(min=tiny)
        return first.log() - left.log() + self._offset(y, first.shape[-1])

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        x = x - self._offset(x, x.shape[-1])
        return (-x + functional.logsigmoid(x) + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape: Any) -> Any:
        shape = self._at_least(shape, 1)
        return whygrad.Size((*shape[:-1], shape[-1] + 1))

    def inverse_shape(self, shape: Any) -> Any:
        shape = self._at_least(shape, 1)
        return whygrad.Size((*shape[:-1], shape[-1] - 1))


class LowerCholeskyTransform(PlainTransform):
    """Any matrix to a lower triangular one with a positive diagonal."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky

    def _call(self, x: Tensor) -> Tensor:
        return x.tril(-1) + x.diagonal(dim1=-2, dim2=-1).exp().diag_embed()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.tril(-1) + y.diagonal(dim1=-2, dim2=-1).log().diag_embed()


class PositiveDefiniteTransform(PlainTransform):
    """Any matrix to a positive definite one: L·Lᵀ of its lower triangular form."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.positive_definite

    def _call(self, x: Tensor) -> Tensor:
        lower = LowerCholeskyTransform()(x)
        return lower @ lower.mT

    def _inverse(self, y: Tensor) -> Tensor:
        return LowerCholeskyTransform().inv(whygrad.linalg.cholesky(y))


class CorrCholeskyTransform(PlainTransform):
    """n·(n − 1)/2 numbers to the Cholesky factor of a correlation matrix of n variables."""

    domain = constraints.real_vector
    codomain = constraints.corr_cholesky
    bijective = True

    @staticmethod
    def _positions(size: int) -> Any:
        return [each for row in range(size) for each in ((row, column) for column in range(row))]

    def _matrix(self, x: Tensor) -> Tensor:
        """The numbers below the diagonal, row by row."""
        size = self._size(x.shape[-1])
        places = [row * size + column for row, column in self._positions(size)]
        flat = x.new_zeros((*x.shape[:-1], size * size))
        index = whygrad.tensor(places, dtype=whygrad.int64, device=x.device).expand(x.shape)
        return flat.scatter(-1, index, x).reshape(*x.shape[:-1], size, size)

    def _vector(self, matrix: Tensor) -> Tensor:
        size = matrix.shape[-1]
        places = [row * size + column for row, column in self._positions(size)]
        flat = matrix.reshape(*matrix.shape[:-2], size * size)
        return flat[..., whygrad.tensor(places, dtype=whygrad.int64, device=matrix.device)]

    @staticmethod
    def _size(count: int) -> int:
        size = round((0.25 + 2 * count) ** 0.5 + 0.5)
        if size * (size - 1) // 2 != count:
            raise fail(
                ValueError,
                call=f"CorrCholeskyTransform on {count} numbers",
                cause="the size must be n·(n − 1)/2 for a matrix of n variables",
                fix="pass 1, 3, 6, 10, … numbers",
            )
        return size

    def _call(self, x: Tensor) -> Tensor:
        eps = whygrad.finfo(x.dtype).eps
        ratios = self._matrix(x.tanh().clamp(min=-1 + eps, max=1 - eps))
        left = (1 - ratios**2).sqrt().cumprod(-1)
        ratios = ratios + whygrad.eye(ratios.shape[-1], dtype=x.dtype, device=x.device)
        return ratios * functional.pad(left[..., :-1], [1, 0], value=1)

    def _inverse(self, y: Tensor) -> Tensor:
        left = 1 - (y * y).cumsum(-1)
        left = functional.pad(left[..., :-1], [1, 0], value=1)
        ratios = self._vector(y) / self._vector(left).sqrt()
        return (ratios.log1p() - (-ratios).log1p()) / 2

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        left = 1 - (y * y).cumsum(-1)
        columns = self._vector(functional.pad(left[..., :-1], [1, 0], value=1))
        stretch = 0.5 * columns.log().sum(-1)
        return stretch - 2 * (x + functional.softplus(-2 * x) - math.log(2.0)).sum(-1)

    def forward_shape(self, shape: Any) -> Any:
        shape = self._at_least(shape, 1)
        size = self._size(shape[-1])
        return whygrad.Size((*shape[:-1], size, size))

    def inverse_shape(self, shape: Any) -> Any:
        shape = self._at_least(shape, 2)
        return whygrad.Size((*shape[:-2], shape[-1] * (shape[-1] - 1) // 2))
