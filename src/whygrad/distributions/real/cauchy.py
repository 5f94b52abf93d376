"""Cauchy's distribution: so wide that it has no mean."""

from __future__ import annotations

import math
from typing import Any

import whygrad
from whygrad.distributions.real.location_scale import LocationScale
from whygrad.tensor import Tensor

__all__ = ["Cauchy"]


class Cauchy(LocationScale):
    """p(x) = 1/(π·scale·(1 + ((x − loc)/scale)²))."""

    @property
    def mean(self) -> Tensor:
        return whygrad.full_like(self.loc.detach(), math.nan)

    @property
    def variance(self) -> Tensor:
        return whygrad.full_like(self.loc.detach(), math.inf)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        noise = (math.pi * (self._uniform(self.loc, sample_shape) - 0.5)).tan()
        return self.loc + noise * self.scale

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        ratio = ((value - self.loc) / self.scale) ** 2
        return -math.log(math.pi) - self.scale.log() - ratio.log1p()

    def cdf(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return ((value - self.loc) / self.scale).atan() / math.pi + 0.5

    def icdf(self, value: Tensor) -> Tensor:
        return (math.pi * (value - 0.5)).tan() * self.scale + self.loc

    def entropy(self) -> Tensor:
        return math.log(4 * math.pi) + self.scale.log()
