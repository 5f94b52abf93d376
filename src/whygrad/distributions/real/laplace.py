"""Laplace's distribution: two exponential ones, back to back."""

from __future__ import annotations

import math
from typing import Any

import whygrad
from whygrad.distributions.real.location_scale import LocationScale
from whygrad.tensor import Tensor

__all__ = ["Laplace"]


class Laplace(LocationScale):
    """p(x) = exp(−|x − loc|/scale)/(2·scale)."""

    @property
    def stddev(self) -> Tensor:
        return math.sqrt(2) * self.scale

    @property
    def variance(self) -> Tensor:
        return 2 * self.scale.pow(2)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        noise = 2 * self._uniform(self.loc, sample_shape) - 1  # in (−1, 1)
        least = whygrad.finfo(noise.dtype).eps - 1
        noise = noise.clamp(min=least)
        return self.loc - self.scale * noise.sign() * (-noise.abs()).log1p()

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return -(2 * self.scale).log() - (value - self.loc).abs() / self.scale

    def cdf(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        offset = value - self.loc
        return 0.5 - 0.5 * offset.sign() * (-offset.abs() / self.scale).expm1()

    def icdf(self, value: Tensor) -> Tensor:
        offset = value - 0.5
        return self.loc - self.scale * offset.sign() * (-2 * offset.abs()).log1p()

    def entropy(self) -> Tensor:
        return 1 + (2 * self.scale).log()
