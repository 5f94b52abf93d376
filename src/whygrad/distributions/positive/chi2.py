"""The distribution of a sum of squares of normal numbers."""

from __future__ import annotations

from typing import Any, ClassVar

from whygrad.distributions import constraints
from whygrad.distributions.constraints import Constraint
from whygrad.distributions.positive.gamma import Gamma
from whygrad.tensor import Tensor

__all__ = ["Chi2"]


class Chi2(Gamma):
    """Gamma(df/2, 1/2): the sum of the squares of ``df`` standard normal numbers."""

    arg_constraints: ClassVar[dict[str, Constraint]] = {"df": constraints.positive}

    def __init__(self, df: Any, validate_args: bool | None = None) -> None:
        super().__init__(0.5 * df, 0.5, validate_args=validate_args)

    @property
    def df(self) -> Tensor:
        """How many squares are added."""
        return self.concentration * 2

    def _expand_rest(self, new: Any, batch_shape: Any) -> None:
        new.concentration = self.concentration.expand(batch_shape)
        new.rate = self.rate.expand(batch_shape)
