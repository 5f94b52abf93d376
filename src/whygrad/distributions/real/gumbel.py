"""Gumbel's distribution: the largest of many."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import whygrad
from whygrad.distributions import constraints
from whygrad.distributions.constraints import Constraint
from whygrad.distributions.real.uniform import Uniform
from whygrad.distributions.transformed_distribution import TransformedDistribution
from whygrad.distributions.transforms import AffineTransform, ExpTransform
from whygrad.distributions.utils import EULER, broadcast_all
from whygrad.tensor import Tensor

__all__ = ["Gumbel"]


class Gumbel(TransformedDistribution):
    """F(x) = exp(−exp(−(x − loc)/scale))."""

    arg_constraints: ClassVar[dict[str, Constraint]] = {
        "loc": constraints.real,
        "scale": constraints.positive,
    }
    support = constraints.real

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        limits = whygrad.finfo(self.loc.dtype)
        low = whygrad.full_like(self.loc.detach(), limits.tiny)
        high = whygrad.full_like(self.loc.detach(), 1 - limits.eps)
        base = Uniform(low, high, validate_args=validate_args)
        steps = [
            ExpTransform().inv,
            AffineTransform(0, -whygrad.ones_like(self.scale)),
            ExpTransform().inv,
            AffineTransform(self.loc, -self.scale),
        ]
        super().__init__(base, steps, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._blank(_instance)
        new.loc = self.loc.expand(batch_shape)
        new.scale = self.scale.expand(batch_shape)
        return super().expand(batch_shape, _instance=new)

    @property
    def mean(self) -> Tensor:
        return self.loc + self.scale * EULER

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def stddev(self) -> Tensor:
        return math.pi / math.sqrt(6) * self.scale

    @property
    def variance(self) -> Tensor:
        return self.stddev.pow(2)

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        y = (self.loc - value) / self.scale
        return (y - y.exp()) - self.scale.log()

    def entropy(self) -> Tensor:
        return self.scale.log() + (1 + EULER)
