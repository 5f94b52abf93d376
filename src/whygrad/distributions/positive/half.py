"""The absolute value of a number that is spread evenly around 0."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import whygrad
from whygrad.distributions import constraints
from whygrad.distributions.constraints import Constraint
from whygrad.distributions.real.location_scale import LocationScale
from whygrad.distributions.transformed_distribution import TransformedDistribution
from whygrad.distributions.transforms import AbsTransform
from whygrad.tensor import Tensor

__all__ = ["Half"]


class Half(TransformedDistribution):
    """|x| of an x around 0 with this ``scale``; a subclass says of which."""

    arg_constraints: ClassVar[dict[str, Constraint]] = {"scale": constraints.positive}
    support = constraints.nonnegative
    base_dist: LocationScale
    _whole: ClassVar[type[LocationScale]]

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        base = self._whole(0, scale, validate_args=False)
        super().__init__(base, AbsTransform(), validate_args=validate_args)

    @property
    def scale(self) -> Tensor:
        """The scale of the number itself."""
        return self.base_dist.scale

    @property
    def mode(self) -> Tensor:
        return whygrad.zeros_like(self.scale)

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
