"""What is left above a high threshold."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import whygrad
from whygrad.distributions import constraints
from whygrad.distributions.constraints import Constraint
from whygrad.distributions.distribution import Distribution
from whygrad.distributions.utils import broadcast_all
from whygrad.tensor import Tensor

__all__ = ["GeneralizedPareto"]


class GeneralizedPareto(Distribution):
    """1 − F(x) = (1 + c·z)^(−1/c) with z = (x − loc)/scale, and e^−z for concentration c = 0."""

    arg_constraints: ClassVar[dict[str, Constraint]] = {
        "loc": constraints.real,
        "scale": constraints.positive,
        "concentration": constraints.real,
    }
    has_rsample = True

    def __init__(
        self, loc: Any, scale: Any, concentration: Any, validate_args: bool | None = None
    ) -> None:
        self.loc, self.scale, self.concentration = broadcast_all(loc, scale, concentration)
        super().__init__(self.loc.size(), validate_args=validate_args)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Constraint:
        end = self.loc - self.scale / self.concentration
        return constraints.interval(self.loc, whygrad.where(self.concentration < 0, end, math.inf))

    def _cases(self) -> tuple[Tensor, Tensor]:
        """Where c is 0, and c with another value there."""
        zero = whygrad.isclose(self.concentration, whygrad.zeros_like(self.concentration))
        return zero, self.concentration.masked_fill(zero, 1.0)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        return self.icdf(self._drawn(whygrad.rand, sample_shape, self.loc))

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        z = (value - self.loc) / self.scale
        zero, c = self._cases()
        power = 1 / c + whygrad.ones_like(z)
        decay = whygrad.where(power == 0, power, power * (c * z).log1p())
        return -self.scale.log() - whygrad.where(zero, z, decay)

    def log_survival_function(self, value: Tensor) -> Tensor:
        """ln(1 − F)."""
        self._validate_sample(value)
        z = (value - self.loc) / self.scale
        zero, c = self._cases()
        return whygrad.where(zero, -z, -(c * z).log1p() / c)

    def log_cdf(self, value: Tensor) -> Tensor:
        """ln F."""
        return (-self.log_survival_function(value).exp()).log1p()

    def cdf(self, value: Tensor) -> Tensor:
        return self.log_cdf(value).exp()

    def icdf(self, value: Tensor) -> Tensor:
        zero, c = self._cases()
        left = (-value).log1p()
        bent = self.loc + self.scale / c * (-c * left).expm1()
        return whygrad.where(zero, self.loc - self.scale * left, bent)

    @property
    def mean(self) -> Tensor:
        valid = self.concentration < 1
        c = whygrad.where(valid, self.concentration, 0.5)
        return whygrad.where(valid, self.loc + self.scale / (1 - c), math.nan)

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        valid = self.concentration < 0.5
        c = whygrad.where(valid, self.concentration, 0.25)
        return whygrad.where(valid, self.scale**2 / ((1 - c) ** 2 * (1 - 2 * c)), math.nan)

    def entropy(self) -> Tensor:
        return self.scale.log() + self.concentration + 1
