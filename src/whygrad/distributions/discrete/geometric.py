"""How many trials fail before one succeeds."""

from __future__ import annotations

from typing import Any, ClassVar

import whygrad
from whygrad.distributions import constraints
from whygrad.distributions.constraints import Constraint
from whygrad.distributions.distribution import Distribution
from whygrad.distributions.odds import Odds
from whygrad.distributions.utils import broadcast_all
from whygrad.errors import fail
from whygrad.nn.functional import binary_cross_entropy_with_logits
from whygrad.tensor import Tensor

__all__ = ["Geometric"]


class Geometric(Odds, Distribution):
    """P(k) = (1 − probs)^k·probs for k = 0, 1, 2, …"""

    arg_constraints: ClassVar[dict[str, Constraint]] = {
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    support = constraints.nonnegative_integer

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self._set_odds(probs, logits)
        super().__init__(self._param.size(), validate_args=validate_args)
        if self._validate_args and probs is not None and not bool((self.probs > 0).all()):
            raise fail(
                ValueError,
                call=f"Geometric(probs={self.probs})",
                cause="with probability 0 no trial ever succeeds",
                fix="pass probabilities above 0",
            )

    @property
    def mean(self) -> Tensor:
        return 1.0 / self.probs - 1.0

    @property
    def mode(self) -> Tensor:
        return whygrad.zeros_like(self.probs)

    @property
    def variance(self) -> Tensor:
        return (1.0 / self.probs - 1.0) / self.probs

    def sample(self, sample_shape: Any = ()) -> Tensor:
        with whygrad.no_grad():
            noise = self._uniform(self.probs, sample_shape)
            return (noise.log() / (-self.probs).log1p()).floor()

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        value, probs = broadcast_all(value, self.probs)
        failing = probs.masked_fill((probs == 1) & (value == 0), 0)  # 0·ln 0 is 0 here
        return value * (-failing).log1p() + self.probs.log()

    def entropy(self) -> Tensor:
        cross = binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")
        return cross / self.probs
