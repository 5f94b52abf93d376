"""How many trials succeed before several fail."""

from __future__ import annotations

from typing import Any, ClassVar

import whygrad
from whygrad.distributions import constraints
from whygrad.distributions.constraints import Constraint
from whygrad.distributions.distribution import Distribution
from whygrad.distributions.odds import Odds
from whygrad.distributions.positive.gamma import Gamma
from whygrad.nn.functional import logsigmoid
from whygrad.tensor import Tensor

__all__ = ["NegativeBinomial"]


class NegativeBinomial(Odds, Distribution):
    """The number of yeses, with probability ``probs`` each, before ``total_count`` noes."""

    arg_constraints: ClassVar[dict[str, Constraint]] = {
        "total_count": constraints.greater_than_eq(0),
        "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }
    support = constraints.nonnegative_integer

    def __init__(
        self,
        total_count: Any,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        (count,) = self._set_odds(probs, logits, total_count)
        self.total_count = count.to(self._param.dtype)
        super().__init__(self._param.size(), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.total_count * self.logits.exp()

    @property
    def mode(self) -> Tensor:
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.0)

    @property
    def variance(self) -> Tensor:
        return self.mean / (-self.logits).sigmoid()

    def sample(self, sample_shape: Any = ()) -> Tensor:
        with whygrad.no_grad():
            rate = Gamma(self.total_count, (-self.logits).exp(), validate_args=False)
            return whygrad.poisson(rate.sample(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        total = self.total_count
        chance = total * logsigmoid(-self.logits) + value * logsigmoid(self.logits)
        normalizer = -(total + value).lgamma() + (1.0 + value).lgamma() + total.lgamma()
        return chance - normalizer.masked_fill(total + value == 0.0, 0.0)
