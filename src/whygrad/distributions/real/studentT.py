"""Student's t-distribution."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import whygrad
from whygrad.distributions import constraints
from whygrad.distributions.constraints import Constraint
from whygrad.distributions.distribution import Distribution
from whygrad.distributions.positive.chi2 import Chi2
from whygrad.distributions.utils import broadcast_all
from whygrad.tensor import Tensor

__all__ = ["StudentT"]


class StudentT(Distribution):
    """loc + scale·x/√(c/df) of a standard normal x and a chi-squared c with ``df`` squares."""

    arg_constraints: ClassVar[dict[str, Constraint]] = {
        "df": constraints.positive,
        "loc": constraints.real,
        "scale": constraints.positive,
    }
    support = constraints.real
    has_rsample = True

    def __init__(
        self, df: Any, loc: Any = 0.0, scale: Any = 1.0, validate_args: bool | None = None
    ) -> None:
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        self._chi2 = Chi2(self.df, validate_args=False)
        super().__init__(self.df.size(), validate_args=validate_args)

    def _expand_rest(self, new: Any, batch_shape: Any) -> None:
        new._chi2 = self._chi2.expand(batch_shape)

    @property
    def mean(self) -> Tensor:
        return self.loc.masked_fill(self.df <= 1, math.nan)

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        wide = self.df <= 2
        spread = self.scale.pow(2) * self.df / self.df.masked_fill(wide, 3.0).sub(2)
        return spread.masked_fill(wide, math.inf).masked_fill(self.df <= 1, math.nan)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        normal = self._drawn(whygrad.randn, sample_shape, self.df)
        ratio = normal * (self._chi2.rsample(sample_shape) / self.df).rsqrt()
        return self.loc + self.scale * ratio

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        y = (value - self.loc) / self.scale
        normalizer = (
            self.scale.log()
            + 0.5 * self.df.log()
            + 0.5 * math.log(math.pi)
            + (0.5 * self.df).lgamma()
            - (0.5 * (self.df + 1.0)).lgamma()
        )
        return -0.5 * (self.df + 1.0) * (y**2.0 / self.df).log1p() - normalizer

    def entropy(self) -> Tensor:
        half, next_half = 0.5 * self.df, 0.5 * (self.df + 1)
        beta = half.lgamma() + math.lgamma(0.5) - next_half.lgamma()
        slope = next_half * (next_half.digamma() - half.digamma())
        return self.scale.log() + slope + 0.5 * self.df.log() + beta
