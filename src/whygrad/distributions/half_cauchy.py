"""The absolute value of a Cauchy number."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import whygrad
from whygrad.distributions import constraints
from whygrad.distributions.cauchy import Cauchy
from whygrad.distributions.constraints import Constraint
from whygrad.distributions.transformed_distribution import TransformedDistribution
from whygrad.distributions.transforms import AbsTransform
from whygrad.tensor import Tensor

__all__ = ["HalfCauchy"]


class HalfCauchy(TransformedDistribution):
    """|x| of a Cauchy x around 0."""

    arg_constraints: ClassVar[dict[str, Constraint]] = {"scale": constraints.positive}
    support = constraints.nonnegative
    base_dist: Cauchy

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        base = Cauchy(0, scale, validate_args=False)
        super().__init__(base, AbsTransform(), validate_args=validate_args)

    @property
    def scale(self) -> Tensor:
        """The scale of the Cauchy number."""
        return self.base_dist.scale

    @property
    def mean(self) -> Tensor:
        return whygrad.full_like(self.scale.detach(), math.inf)

    @property
    def mode(self) -> Tensor:
        return whygrad.zeros_like(self.scale)

    @property
    def variance(self) -> Tensor:
        return self.base_dist.variance

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        log_prob = self.base_dist.log_prob(value) + math.log(2)
        return whygrad.where(value >= 0, log_prob, -math.inf)

    def cdf(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, value: Tensor) -> Tensor:
        return self.base_dist.icdf((value + 1) / 2)

    def entropy(self) -> Tensor:
        return self.base_dist.entropy() - math.log(2)
