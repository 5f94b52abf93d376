"""How many of several trials succeed."""

from __future__ import annotations

from typing import Any, ClassVar

import whygrad
from whygrad.distributions import constraints
from whygrad.distributions.constraints import Constraint
from whygrad.distributions.distribution import Distribution
from whygrad.distributions.odds import Odds
from whygrad.tensor import Tensor

__all__ = ["Binomial"]


class Binomial(Odds, Distribution):
    """The number of yeses in ``total_count`` trials with probability ``probs`` each."""

    arg_constraints: ClassVar[dict[str, Constraint]] = {
        "total_count": constraints.nonnegative_integer,
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    has_enumerate_support = True

    def __init__(
        self,
        total_count: Any = 1,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        (count,) = self._set_odds(probs, logits, total_count)
        self.total_count = count.to(self._param.dtype)
        super().__init__(self._param.size(), validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Constraint:
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> Tensor:
        return self.total_count * self.probs

    @property
    def mode(self) -> Tensor:
        return ((self.total_count + 1) * self.probs).floor().minimum(self.total_count)

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with whygrad.no_grad():
            return whygrad.binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        total, logits = self.total_count, self.logits
        ways = (total + 1).lgamma() - (value + 1).lgamma() - (total - value + 1).lgamma()
        # ln(1 + e^logits), with the slope ½ at 0 that max(0, ·) alone would not have
        positive = (logits.clamp(min=0) + logits - logits.clamp(max=0)) / 2
        normalizer = total * positive + total * (-logits.abs()).exp().log1p()
        return value * logits - normalizer + ways

    def entropy(self) -> Tensor:
        log_prob = self.log_prob(self.enumerate_support(False))
        return -(log_prob.exp() * log_prob).sum(0)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        total = int(self.total_count.max())
        if total != int(self.total_count.min()):
            raise self._undefined("enumerate_support with several total_counts")
        values = whygrad.arange(1 + total, dtype=self._param.dtype, device=self._param.device)
        values = values.view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1, *self._batch_shape)) if expand else values
