"""Yes or no, made continuous by a temperature."""

from __future__ import annotations

from typing import Any, ClassVar

import whygrad
from whygrad.distributions import constraints
from whygrad.distributions.constraints import Constraint
from whygrad.distributions.distribution import Distribution
from whygrad.distributions.odds import Odds
from whygrad.distributions.transformed_distribution import TransformedDistribution
from whygrad.distributions.transforms import SigmoidTransform
from whygrad.distributions.utils import broadcast_all, clamp_probs
from whygrad.tensor import Tensor

__all__ = ["LogitRelaxedBernoulli", "RelaxedBernoulli"]


class LogitRelaxedBernoulli(Odds, Distribution):
    """The log-odds of a relaxed yes: (logits + logistic noise)/temperature."""

    arg_constraints: ClassVar[dict[str, Constraint]] = {
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    support = constraints.real

    def __init__(
        self,
        temperature: Any,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        self.temperature = temperature
        self._set_odds(probs, logits)
        super().__init__(self._param.size(), validate_args=validate_args)

    def _expand_rest(self, new: Any, batch_shape: Any) -> None:
        new.temperature = self.temperature

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        probs = clamp_probs(self.probs.expand(self._extended_shape(sample_shape)))
        noise = clamp_probs(self._drawn(whygrad.rand, sample_shape, probs))
        odds = noise.log() - (-noise).log1p() + probs.log() - (-probs).log1p()
        return odds / self.temperature

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        difference = logits - value * self.temperature
        scale = whygrad.as_tensor(self.temperature, device=value.device).log()
        return scale + difference - 2 * difference.exp().log1p()


class RelaxedBernoulli(TransformedDistribution):
    """A number from 0 to 1 that becomes a yes or no as the temperature falls."""

    arg_constraints: ClassVar[dict[str, Constraint]] = {
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    support = constraints.unit_interval
    has_rsample = True
    base_dist: LogitRelaxedBernoulli

    def __init__(
        self,
        temperature: Any,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        base = LogitRelaxedBernoulli(temperature, probs, logits)
        super().__init__(base, SigmoidTransform(), validate_args=validate_args)

    @property
    def temperature(self) -> Any:
        """How far from a yes or no samples are."""
        return self.base_dist.temperature

    @property
    def logits(self) -> Tensor:
        """ln(p/(1 − p))."""
        return self.base_dist.logits

    @property
    def probs(self) -> Tensor:
        """The probability of a yes at temperature 0."""
        return self.base_dist.probs
