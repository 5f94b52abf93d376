"""Von Mises' distribution: a normal distribution on a circle."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import whygrad
from whygrad.distributions import constraints
from whygrad.distributions.constraints import Constraint
from whygrad.distributions.distribution import Distribution
from whygrad.distributions.draws import von_mises
from whygrad.distributions.utils import broadcast_all, lazy_property
from whygrad.ops.public import special
from whygrad.tensor import Tensor

__all__ = ["VonMises"]

_bessel: Any = special  # whose names come from the op table


class VonMises(Distribution):
    """p(x) = exp(concentration·cos(x − loc))/(2π·I₀(concentration)), x an angle."""

    arg_constraints: ClassVar[dict[str, Constraint]] = {
        "loc": constraints.real,
        "concentration": constraints.positive,
    }
    support = constraints.real

    def __init__(self, loc: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(self.loc.size(), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @lazy_property
    def variance(self) -> Tensor:
        """The circular one: 1 − I₁/I₀."""
        return 1 - _bessel.i1e(self.concentration) / _bessel.i0e(self.concentration)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with whygrad.no_grad():
            return von_mises(self.loc.expand(shape), self.concentration.expand(shape))

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        log_bessel = _bessel.i0e(self.concentration).log() + self.concentration
        aligned = self.concentration * (value - self.loc).cos()
        return aligned - math.log(2 * math.pi) - log_bessel
