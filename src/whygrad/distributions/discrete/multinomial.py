"""How often each class is chosen in several choices."""

from __future__ import annotations

import math
from typing import Any

import whygrad
from whygrad.distributions import constraints
from whygrad.distributions.constraints import Constraint
from whygrad.distributions.discrete.binomial import Binomial
from whygrad.distributions.discrete.classes import OverClasses
from whygrad.distributions.utils import broadcast_all
from whygrad.errors import fail
from whygrad.tensor import Tensor

__all__ = ["Multinomial"]


class Multinomial(OverClasses):
    """Counts per class of ``total_count`` choices with probabilities ``probs``."""

    def __init__(
        self,
        total_count: int = 1,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        if not isinstance(total_count, int):
            raise fail(
                NotImplementedError,
                call=f"Multinomial(total_count={total_count!r})",
                cause="inhomogeneous total_count is not supported",
                fix="pass one int for the whole batch",
            )
        self.total_count = total_count
        super().__init__(probs, logits, validate_args)
        self._binomial = Binomial(total_count=total_count, probs=self.probs)

    def _expand_rest(self, new: Any, batch_shape: Any) -> None:
        new.total_count = self.total_count
        super()._expand_rest(new, batch_shape)
        new._binomial = self._binomial.expand((*batch_shape, *self.event_shape))

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self) -> Constraint:
        return constraints.multinomial(self.total_count)

    @property
    def mean(self) -> Tensor:
        return self.probs * self.total_count

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        chosen = self._categorical.sample((self.total_count, *sample_shape))
        counts = whygrad.one_hot(chosen, self.event_shape[0]).sum(0)
        return counts.to(self.probs.dtype)

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        ways = (value.sum(-1) + 1).lgamma() - (value + 1).lgamma().sum(-1)
        logits = logits.masked_fill((value == 0) & (logits == -math.inf), 0)
        return ways + (logits * value).sum(-1)

    def entropy(self) -> Tensor:
        total = whygrad.tensor(
            float(self.total_count), dtype=self.probs.dtype, device=self.probs.device
        )
        support = self._binomial.enumerate_support(expand=False)[1:]
        chances = self._binomial.log_prob(support).exp()
        repeats = (chances * (support + 1).lgamma()).sum([0, -1])
        return total * self._categorical.entropy() - (total + 1).lgamma() + repeats
