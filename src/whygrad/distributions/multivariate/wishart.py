"""Random covariance matrices."""

from __future__ import annotations

import math
from typing import Any

import whygrad
from whygrad.distributions import constraints
from whygrad.distributions.constraints import Constraint
from whygrad.distributions.exp_family import ExponentialFamily
from whygrad.distributions.multivariate.multivariate_normal import (
    batch_shape_of,
    factor_of,
    inverse_of_factor,
    log_det_half,
)
from whygrad.distributions.positive.chi2 import Chi2
from whygrad.distributions.utils import lazy_property
from whygrad.errors import fail
from whygrad.tensor import Tensor

__all__ = ["Wishart"]


class Wishart(ExponentialFamily):
    """Σ xₖ·xₖᵀ of ``df`` normal vectors with a covariance, its inverse, or its factor L given."""

    support = constraints.positive_definite
    has_rsample = True
    _mean_carrier_measure = 0

    @property
    def arg_constraints(self) -> dict[str, Constraint]:  # type: ignore[override]
        return {
            "covariance_matrix": constraints.positive_definite,
            "precision_matrix": constraints.positive_definite,
            "scale_tril": constraints.lower_cholesky,
            "df": constraints.greater_than(self.event_shape[-1] - 1),
        }

    def __init__(
        self,
        df: Any,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        matrices = {
            "covariance_matrix": covariance_matrix,
            "precision_matrix": precision_matrix,
            "scale_tril": scale_tril,
        }
        given = {name: each for name, each in matrices.items() if each is not None}

        def refuse(kind: type[Exception], cause: str, fix: str) -> Exception:
            return fail(kind, call="Wishart(…)", cause=cause, fix=fix)

        if len(given) != 1:
            raise refuse(
                AssertionError,
                "Exactly one of covariance_matrix or precision_matrix or scale_tril may be "
                "specified",
                "pass one of them, by name",
            )
        ((name, matrix),) = given.items()
        if matrix.dim() < 2:
            raise refuse(ValueError, f"{name} must be at least two-dimensional", "pass a matrix")
        if not isinstance(df, Tensor):
            df = whygrad.tensor(df, dtype=matrix.dtype, device=matrix.device)
        batch = batch_shape_of(matrix.shape[:-2], df.shape)
        size = matrix.shape[-1]
        if bool((df <= size - 1).any()):
            raise refuse(
                ValueError,
                f"Value of df={df} expected to be greater than ndim - 1 = {size - 1}",
                "fewer vectors than dimensions make singular matrices; give a larger df",
            )
        self.df = df.expand(batch)
        setattr(self, name, matrix.expand((*batch, size, size)))
        super().__init__(batch, matrix.shape[-2:], validate_args=validate_args)
        self._factor = factor_of(name, matrix)

    def _expand_rest(self, new: Any, batch_shape: Any) -> None:
        new._factor = self._factor

    @lazy_property
    def scale_tril(self) -> Tensor:
        """L."""
        return self._factor.expand(self._batch_shape + self._event_shape)

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """Σ of the vectors."""
        square = self._factor @ self._factor.mT
        return square.expand(self._batch_shape + self._event_shape)

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """Σ⁻¹."""
        inverse = inverse_of_factor(self._factor)
        return (inverse.mT @ inverse).expand(self._batch_shape + self._event_shape)

    @property
    def _df(self) -> Tensor:
        """df, to be multiplied with matrices."""
        return self.df[..., None, None]

    @property
    def mean(self) -> Tensor:
        return self._df * self.covariance_matrix

    @property
    def mode(self) -> Tensor:
        factor = self._df - self._event_shape[-1] - 1
        return factor.masked_fill(factor <= 0, math.nan) * self.covariance_matrix

    @property
    def variance(self) -> Tensor:
        own = self.covariance_matrix.diagonal(dim1=-2, dim2=-1)
        return self._df * (self.covariance_matrix.pow(2) + own[..., :, None] * own[..., None, :])

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Bartlett's way: L times a triangle of normal and chi numbers, squared."""
        size = self._event_shape[-1]
        kind: dict[str, Any] = {"dtype": self._factor.dtype, "device": self._factor.device}
        squares = Chi2(self.df.unsqueeze(-1) - whygrad.arange(size, **kind))
        eps = whygrad.finfo(self._factor.dtype).eps
        diagonal = squares.rsample(sample_shape).sqrt().clamp(min=eps).diag_embed()
        noise = whygrad.randn(self._extended_shape(sample_shape), **kind).tril(-1)
        root = self._factor @ (diagonal + noise)
        return root @ root.mT

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        size = self._event_shape[-1]
        inverse = inverse_of_factor(self._factor)
        trace = (inverse @ value @ inverse.mT).diagonal(dim1=-2, dim2=-1).sum(-1)
        power = (self.df - size - 1) / 2 * whygrad.linalg.slogdet(value)[1]
        return power - trace / 2 - self.df * self._log_scale() - whygrad.mvlgamma(self.df / 2, size)

    def _log_scale(self) -> Tensor:
        return self._event_shape[-1] * math.log(2) / 2 + log_det_half(self._factor)

    def entropy(self) -> Tensor:
        size = self._event_shape[-1]
        half = self.df / 2
        steps = whygrad.arange(size, dtype=half.dtype, device=half.device) / 2
        slope = (half.unsqueeze(-1) - steps).digamma().sum(-1)
        power = (self.df - size - 1) / 2 * slope
        scale = (size + 1) * self._log_scale()
        return scale + whygrad.mvlgamma(half, size) - power + self.df * size / 2

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return -self.precision_matrix / 2, (self.df - self._event_shape[-1] - 1) / 2

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        x, y = natural_params
        size = self._event_shape[-1]
        half = y + (size + 1) / 2
        log_det = whygrad.linalg.slogdet(-2 * x)[1]
        return half * (math.log(2) * size - log_det) + whygrad.mvlgamma(half, size)
