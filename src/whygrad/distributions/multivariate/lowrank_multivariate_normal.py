"""Normal vectors whose covariance is a diagonal and a few directions."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import whygrad
from whygrad.distributions import constraints
from whygrad.distributions.constraints import Constraint
from whygrad.distributions.distribution import Distribution
from whygrad.distributions.multivariate.multivariate_normal import (
    batch_shape_of,
    log_det_half,
    mahalanobis,
)
from whygrad.distributions.utils import lazy_property
from whygrad.errors import fail
from whygrad.tensor import Tensor

__all__ = ["LowRankMultivariateNormal"]


class LowRankMultivariateNormal(Distribution):
    """Σ = W·Wᵀ + diag(d), W ``cov_factor`` with few columns: only small matrices are inverted."""

    arg_constraints: ClassVar[dict[str, Constraint]] = {
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }
    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self,
        loc: Tensor,
        cov_factor: Tensor,
        cov_diag: Tensor,
        validate_args: bool | None = None,
    ) -> None:
        def refuse(cause: str, fix: str) -> Exception:
            return fail(ValueError, call="LowRankMultivariateNormal(…)", cause=cause, fix=fix)

        if loc.dim() < 1:
            raise refuse("loc must be at least one-dimensional", "pass a vector")
        event = loc.shape[-1:]
        if cov_factor.dim() < 2 or cov_factor.shape[-2:-1] != event:
            raise refuse(
                f"cov_factor must be a batch of matrices with shape {event[0]} x m",
                "pass one row per entry of loc",
            )
        if cov_diag.shape[-1:] != event:
            raise refuse(
                f"cov_diag must be a batch of vectors with shape {tuple(event)}",
                "pass one number per entry of loc",
            )
        batch = batch_shape_of(loc.shape[:-1], cov_factor.shape[:-2], cov_diag.shape[:-1])
        self.loc = loc.expand(batch + event)
        self.cov_diag = cov_diag.expand(batch + event)
        self.cov_factor = cov_factor.expand((*batch, *cov_factor.shape[-2:]))
        self._unbroadcasted = cov_factor, cov_diag
        self._capacitance_tril = _capacitance(cov_factor, cov_diag)
        super().__init__(batch, event, validate_args=validate_args)

    def _expand_rest(self, new: Any, batch_shape: Any) -> None:
        new._unbroadcasted = self._unbroadcasted
        new._capacitance_tril = self._capacitance_tril

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @lazy_property
    def variance(self) -> Tensor:
        """The diagonal of Σ."""
        factor, diagonal = self._unbroadcasted
        spread = factor.pow(2).sum(-1) + diagonal
        return spread.expand(self._batch_shape + self._event_shape)

    @lazy_property
    def scale_tril(self) -> Tensor:
        """L with Σ = L·Lᵀ."""
        factor, diagonal = self._unbroadcasted
        scaled = factor / diagonal.sqrt().unsqueeze(-1)
        identity = whygrad.eye(factor.shape[-2], dtype=factor.dtype, device=factor.device)
        lower = whygrad.linalg.cholesky(scaled @ scaled.mT + identity)
        lower = diagonal.sqrt().unsqueeze(-1) * lower
        return lower.expand(self._batch_shape + self._event_shape * 2)

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """Σ."""
        factor, diagonal = self._unbroadcasted
        whole = factor @ factor.mT + diagonal.diag_embed()
        return whole.expand(self._batch_shape + self._event_shape * 2)

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """Σ⁻¹, by Woodbury's identity."""
        factor, diagonal = self._unbroadcasted
        scaled = factor.mT / diagonal.unsqueeze(-2)
        part = whygrad.linalg.solve_triangular(self._capacitance_tril, scaled, upper=False)
        whole = diagonal.reciprocal().diag_embed() - part.mT @ part
        return whole.expand(self._batch_shape + self._event_shape * 2)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        factor, diagonal = self._unbroadcasted
        shape = self._extended_shape(sample_shape)
        kind: dict[str, Any] = {"dtype": self.loc.dtype, "device": self.loc.device}
        along = whygrad.randn((*shape[:-1], factor.shape[-1]), **kind)
        noise = whygrad.randn(shape, **kind)
        return self.loc + (factor @ along.unsqueeze(-1)).squeeze(-1) + diagonal.sqrt() * noise

    def _log_det(self) -> Tensor:
        return 2 * log_det_half(self._capacitance_tril) + self._unbroadcasted[1].log().sum(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        factor, diagonal = self._unbroadcasted
        difference = value - self.loc
        inner = ((factor.mT / diagonal.unsqueeze(-2)) @ difference.unsqueeze(-1)).squeeze(-1)
        distance = (difference.pow(2) / diagonal).sum(-1)
        distance = distance - mahalanobis(self._capacitance_tril, inner)
        constant = self._event_shape[0] * math.log(2 * math.pi)
        return -0.5 * (constant + self._log_det() + distance)

    def entropy(self) -> Tensor:
        constant = self._event_shape[0] * (1.0 + math.log(2 * math.pi))
        return (0.5 * (constant + self._log_det())).expand(self._batch_shape)


def _capacitance(factor: Tensor, diagonal: Tensor) -> Tensor:
    """The Cholesky factor of I + Wᵀ·diag(d)⁻¹·W."""
    scaled = factor.mT / diagonal.unsqueeze(-2)
    identity = whygrad.eye(factor.shape[-1], dtype=factor.dtype, device=factor.device)
    return whygrad.linalg.cholesky(scaled @ factor + identity)
