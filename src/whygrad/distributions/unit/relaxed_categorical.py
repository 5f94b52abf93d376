"""A choice among classes, made continuous by a temperature."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import whygrad
from whygrad.distributions import constraints
from whygrad.distributions.constraints import Constraint
from whygrad.distributions.discrete.classes import OverClasses
from whygrad.distributions.transformed_distribution import TransformedDistribution
from whygrad.distributions.transforms import ExpTransform
from whygrad.distributions.utils import broadcast_all, clamp_probs
from whygrad.tensor import Tensor

__all__ = ["ExpRelaxedCategorical", "RelaxedOneHotCategorical"]


class ExpRelaxedCategorical(OverClasses):
    """Logarithms of relaxed unit vectors: log-softmax of (logits + Gumbel noise)/temperature."""

    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self,
        temperature: Any,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        self.temperature = temperature
        super().__init__(probs, logits, validate_args)

    def _expand_rest(self, new: Any, batch_shape: Any) -> None:
        new.temperature = self.temperature
        super()._expand_rest(new, batch_shape)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        noise = clamp_probs(self._drawn(whygrad.rand, sample_shape, self.logits))
        scores = (self.logits - (-noise.log()).log()) / self.temperature
        return scores - scores.logsumexp(dim=-1, keepdim=True)

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        count = self.event_shape[0]
        logits, value = broadcast_all(self.logits, value)
        scale = math.lgamma(count) + whygrad.as_tensor(
            self.temperature, device=value.device
        ).log() * (count - 1)
        score = logits - value * self.temperature
        return (score - score.logsumexp(dim=-1, keepdim=True)).sum(-1) + scale


class RelaxedOneHotCategorical(TransformedDistribution):
    """Shares that become a unit vector as the temperature falls."""

    arg_constraints: ClassVar[dict[str, Constraint]] = {
        "probs": constraints.simplex,
        "logits": constraints.real_vector,
    }
    support = constraints.simplex
    base_dist: ExpRelaxedCategorical

    def __init__(
        self,
        temperature: Any,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        base = ExpRelaxedCategorical(temperature, probs, logits, validate_args=validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)

    @property
    def temperature(self) -> Any:
        """How far from a unit vector samples are."""
        return self.base_dist.temperature

    @property
    def logits(self) -> Tensor:
        """ln p."""
        return self.base_dist.logits

    @property
    def probs(self) -> Tensor:
        """The probabilities of the classes at temperature 0."""
        return self.base_dist.probs
