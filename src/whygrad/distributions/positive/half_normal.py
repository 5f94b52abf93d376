"""The absolute value of a normal number."""

from __future__ import annotations

import math

from whygrad.distributions.positive.half import Half
from whygrad.distributions.real.normal import Normal
from whygrad.tensor import Tensor

__all__ = ["HalfNormal"]


class HalfNormal(Half):
    """|x| of a normal x around 0."""

    _whole = Normal

    @property
    def mean(self) -> Tensor:
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def variance(self) -> Tensor:
        return self.scale.pow(2) * (1 - 2 / math.pi)
