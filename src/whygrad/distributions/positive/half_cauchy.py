"""The absolute value of a Cauchy number."""

from __future__ import annotations

import math

import whygrad
from whygrad.distributions.positive.half import Half
from whygrad.distributions.real.cauchy import Cauchy
from whygrad.tensor import Tensor

__all__ = ["HalfCauchy"]


class HalfCauchy(Half):
    """|x| of a Cauchy x around 0."""

    _whole = Cauchy

    @property
    def mean(self) -> Tensor:
        return whygrad.full_like(self.scale.detach(), math.inf)

    @property
    def variance(self) -> Tensor:
        return self.base_dist.variance
