"""What distributions of a yes or no share: a probability, or its log-odds."""

from __future__ import annotations

from typing import Any

from whygrad.distributions.utils import (
    broadcast_all,
    lazy_property,
    logits_to_probs,
    one_of,
    probs_to_logits,
)
from whygrad.tensor import Tensor

__all__ = ["Odds"]


class Odds:
    """Given ``probs`` or ``logits``, computes the other when somebody asks."""

    def _set_odds(self, probs: Any, logits: Any, *others: Any) -> list[Tensor]:
        """Keep the one that is given; ``others`` come back in the shape they have in common."""
        name, given = ("probs", probs) if one_of(self, probs, logits) else ("logits", logits)
        *others_in_shape, self.__dict__[name] = broadcast_all(*others, given)
        return others_in_shape

    @property
    def _param(self) -> Tensor:
        given = self.__dict__
        return given["probs"] if "probs" in given else given["logits"]

    @property
    def param_shape(self) -> Any:
        """The shape of the parameter."""
        return self._param.size()

    @lazy_property
    def logits(self) -> Tensor:
        """ln(p/(1 − p))."""
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self) -> Tensor:
        """The probability of a yes."""
        return logits_to_probs(self.logits, is_binary=True)
