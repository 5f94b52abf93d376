"""How many trials fail before one succeeds."""

from __future__ import annotations

from typing import Any, ClassVar

import whygrad
from whygrad.distributions import constraints
from whygrad.distributions.constraints import Constraint
from whygrad.distributions.distribution import Distribution
from whygrad.distributions.utils import (
    broadcast_all,
    lazy_property,
    logits_to_probs,
    one_of,
    probs_to_logits,
)
from whygrad.errors import fail
from whygrad.nn.functional import binary_cross_entropy_with_logits
from whygrad.tensor import Tensor

__all__ = ["Geometric"]


class Geometric(Distribution):
    """P(k) = (1 − probs)^k·probs for k = 0, 1, 2, …"""

    arg_constraints: ClassVar[dict[str, Constraint]] = {
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    support = constraints.nonnegative_integer

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        if one_of(self, probs, logits):
            (self.probs,) = broadcast_all(probs)
        else:
            (self.logits,) = broadcast_all(logits)
        given = self.__dict__
        shape = (given["probs"] if "probs" in given else given["logits"]).size()
        super().__init__(shape, validate_args=validate_args)
        if self._validate_args and "probs" in given and not bool((self.probs > 0).all()):
            raise fail(
                ValueError,
                call=f"Geometric(probs={self.probs})",
                cause="with probability 0 no trial ever succeeds",
                fix="pass probabilities above 0",
            )

    @lazy_property
    def logits(self) -> Tensor:
        """ln(p/(1 − p))."""
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self) -> Tensor:
        """The probability that a trial succeeds."""
        return logits_to_probs(self.logits, is_binary=True)

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
