"""Invertible functions with the logarithm of how much they stretch: elements and vectors.

A transform maps its ``domain`` to its ``codomain``; ``transform.inv`` goes back.
``log_abs_det_jacobian(x, y)`` is ln |dy/dx| per event of the domain.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import whygrad
from whygrad.distributions import constraints
from whygrad.distributions.transform import (
    ComposeTransform,
    IndependentTransform,
    ReshapeTransform,
    Transform,
    identity_transform,
)
from whygrad.distributions.utils import broadcast_all
from whygrad.errors import fail
from whygrad.nn import functional
from whygrad.tensor import Tensor

__all__ = [
    "AbsTransform", "AffineTransform", "CatTransform", "ComposeTransform", "CorrCholeskyTransform",
    "CumulativeDistributionTransform", "ExpTransform", "IndependentTransform",
    "LowerCholeskyTransform", "PositiveDefiniteTransform", "PowerTransform", "ReshapeTransform",
    "SigmoidTransform", "SoftmaxTransform", "SoftplusTransform", "StackTransform",
    "StickBreakingTransform", "TanhTransform", "Transform", "identity_transform",
]  # fmt: skip


class _Plain(Transform):
    """A transform without parameters: all of a class are equal."""

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self)

    __hash__ = Transform.__hash__


class ExpTransform(_Plain):
    """y = eˣ."""

    domain = constraints.real
    codomain = constraints.positive
    bijective = True
    sign = +1

    def _call(self, x: Tensor) -> Tensor:
        return x.exp()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return x


class PowerTransform(Transform):
    """y = x^exponent on the positive numbers."""

    domain = constraints.positive
    codomain = constraints.positive
    bijective = True

    def __init__(self, exponent: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        (self.exponent,) = broadcast_all(exponent)

    def with_cache(self, cache_size: int = 1) -> PowerTransform:
        return PowerTransform(self.exponent, cache_size=cache_size)

    @property
    def sign(self) -> Any:
        return self.exponent.sign()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PowerTransform) and bool(self.exponent.eq(other.exponent).all())

    __hash__ = Transform.__hash__

    def _call(self, x: Tensor) -> Tensor:
        return x.pow(self.exponent)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.pow(1 / self.exponent)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return (self.exponent * y / x).abs().log()

    def forward_shape(self, shape: Any) -> Any:
        return whygrad.Size(_together(shape, self.exponent.shape))

    inverse_shape = forward_shape


class SigmoidTransform(_Plain):
    """y = 1/(1 + e⁻ˣ)."""

    domain = constraints.real
    codomain = constraints.unit_interval
    bijective = True
    sign = +1

    def _call(self, x: Tensor) -> Tensor:
        limits = whygrad.finfo(x.dtype)
        return x.sigmoid().clamp(min=limits.tiny, max=1.0 - limits.eps)

    def _inverse(self, y: Tensor) -> Tensor:
        limits = whygrad.finfo(y.dtype)
        y = y.clamp(min=limits.tiny, max=1.0 - limits.eps)
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -functional.softplus(-x) - functional.softplus(x)


class SoftplusTransform(_Plain):
    """y = ln(1 + eˣ)."""

    domain = constraints.real
    codomain = constraints.positive
    bijective = True
    sign = +1

    def _call(self, x: Tensor) -> Tensor:
        return functional.softplus(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return (-y).expm1().neg().log() + y

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -functional.softplus(-x)


class TanhTransform(_Plain):
    """y = tanh x."""

    domain = constraints.real
    codomain = constraints.interval(-1.0, 1.0)
    bijective = True
    sign = +1

    def _call(self, x: Tensor) -> Tensor:
        return x.tanh()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.atanh()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return 2.0 * (math.log(2.0) - x - functional.softplus(-2.0 * x))


class AbsTransform(_Plain):
    """y = |x|; the way back takes the positive of the two."""

    domain = constraints.real
    codomain = constraints.positive

    def _call(self, x: Tensor) -> Tensor:
        return x.abs()

    def _inverse(self, y: Tensor) -> Tensor:
        return y


class AffineTransform(Transform):
    """y = loc + scale·x; with ``event_dim`` the stretch is added up over an event."""

    bijective = True

    def __init__(self, loc: Any, scale: Any, event_dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.loc, self.scale, self._event_dim = loc, scale, event_dim

    @property
    def event_dim(self) -> int:
        """How many dimensions belong together."""
        return self._event_dim

    @property
    def domain(self) -> Any:
        if self.event_dim == 0:
            return constraints.real
        return constraints.independent(constraints.real, self.event_dim)

    codomain = domain

    def with_cache(self, cache_size: int = 1) -> AffineTransform:
        return AffineTransform(self.loc, self.scale, self.event_dim, cache_size=cache_size)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AffineTransform) and all(
            bool((whygrad.as_tensor(one) == whygrad.as_tensor(two)).all())
            for one, two in ((self.loc, other.loc), (self.scale, other.scale))
        )

    __hash__ = Transform.__hash__

    @property
    def sign(self) -> Any:
        if isinstance(self.scale, Tensor):
            return self.scale.sign()
        return (self.scale > 0) - (self.scale < 0)

    def _call(self, x: Tensor) -> Tensor:
        return self.loc + self.scale * x

    def _inverse(self, y: Tensor) -> Tensor:
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        shape = x.shape
        if isinstance(self.scale, Tensor):
            result = self.scale.abs().log()
        else:
            result = whygrad.full_like(x.detach(), math.log(abs(self.scale)))
        if self.event_dim:
            result = result.expand(_together(result.shape, shape))
            result = result.reshape(*result.shape[: -self.event_dim], -1).sum(-1)
            shape = shape[: -self.event_dim]
        return result.expand(shape)

    def forward_shape(self, shape: Any) -> Any:
        parts = [each.shape for each in (self.loc, self.scale) if isinstance(each, Tensor)]
        return whygrad.Size(_together(shape, *parts))

    inverse_shape = forward_shape


class SoftmaxTransform(_Plain):
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


class StickBreakingTransform(_Plain):
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


class LowerCholeskyTransform(_Plain):
    """Any matrix to a lower triangular one with a positive diagonal."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky

    def _call(self, x: Tensor) -> Tensor:
        return x.tril(-1) + x.diagonal(dim1=-2, dim2=-1).exp().diag_embed()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.tril(-1) + y.diagonal(dim1=-2, dim2=-1).log().diag_embed()


class PositiveDefiniteTransform(_Plain):
    """Any matrix to a positive definite one: L·Lᵀ of its lower triangular form."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.positive_definite

    def _call(self, x: Tensor) -> Tensor:
        lower = LowerCholeskyTransform()(x)
        return lower @ lower.mT

    def _inverse(self, y: Tensor) -> Tensor:
        return LowerCholeskyTransform().inv(whygrad.linalg.cholesky(y))


class CorrCholeskyTransform(_Plain):
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


class CumulativeDistributionTransform(Transform):
    """y = F(x), the distribution function of a distribution."""

    bijective = True
    codomain = constraints.unit_interval
    sign = +1

    def __init__(self, distribution: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.distribution = distribution

    @property
    def domain(self) -> Any:
        return self.distribution.support

    def _call(self, x: Tensor) -> Tensor:
        return self.distribution.cdf(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return self.distribution.log_prob(x)

    def with_cache(self, cache_size: int = 1) -> CumulativeDistributionTransform:
        return CumulativeDistributionTransform(self.distribution, cache_size=cache_size)


class _Parts(Transform):
    """A transform per part of the values along ``dim``."""

    def __init__(self, tseq: Sequence[Transform], dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.transforms = [each.with_cache(cache_size) for each in tseq]
        self.dim = dim

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        return all(each.bijective for each in self.transforms)


class StackTransform(_Parts):
    """One transform per entry along ``dim``."""

    def _each(self, name: str, *values: Tensor) -> Tensor:
        parts = zip(self.transforms, *(each.unbind(self.dim) for each in values), strict=True)
        return whygrad.stack([getattr(each, name)(*part) for each, *part in parts], self.dim)

    def _call(self, x: Tensor) -> Tensor:
        return self._each("__call__", x)

    def _inverse(self, y: Tensor) -> Tensor:
        return self._each("_inv_call", y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return self._each("log_abs_det_jacobian", x, y)

    @property
    def domain(self) -> Any:
        return constraints.stack([each.domain for each in self.transforms], self.dim)

    @property
    def codomain(self) -> Any:
        return constraints.stack([each.codomain for each in self.transforms], self.dim)


class CatTransform(_Parts):
    """One transform per run of given ``lengths`` along ``dim``."""

    def __init__(
        self,
        tseq: Sequence[Transform],
        dim: int = 0,
        lengths: Sequence[int] | None = None,
        cache_size: int = 0,
    ) -> None:
        super().__init__(tseq, dim, cache_size)
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)

    @property
    def event_dim(self) -> int:
        """The largest of the parts'."""
        return max(each.domain.event_dim for each in self.transforms)

    def _each(self, name: str, *values: Tensor) -> list[Tensor]:
        parts = (each.split(self.lengths, self.dim) for each in values)
        together = zip(self.transforms, *parts, strict=True)
        return [getattr(each, name)(*part) for each, *part in together]

    def _call(self, x: Tensor) -> Tensor:
        return whygrad.cat(self._each("__call__", x), self.dim)

    def _inverse(self, y: Tensor) -> Tensor:
        return whygrad.cat(self._each("_inv_call", y), self.dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return whygrad.cat(self._each("log_abs_det_jacobian", x, y), self.dim)

    @property
    def domain(self) -> Any:
        parts = [each.domain for each in self.transforms]
        return constraints.cat(parts, self.dim, self.lengths)

    @property
    def codomain(self) -> Any:
        parts = [each.codomain for each in self.transforms]
        return constraints.cat(parts, self.dim, self.lengths)


def _together(*shapes: Any) -> tuple[int, ...]:
    """The shape that all of these broadcast to."""
    import numpy as np

    return np.broadcast_shapes(*(tuple(each) for each in shapes))
