"""Shares made of normal numbers."""

from __future__ import annotations

from typing import Any, ClassVar

from whygrad.distributions import constraints
from whygrad.distributions.constraints import Constraint
from whygrad.distributions.independent import Independent
from whygrad.distributions.real.normal import Normal
from whygrad.distributions.transformed_distribution import TransformedDistribution
from whygrad.distributions.transforms import StickBreakingTransform
from whygrad.tensor import Tensor

__all__ = ["LogisticNormal"]


class LogisticNormal(TransformedDistribution):
    """n + 1 shares, broken off a stick by n normal numbers."""

    arg_constraints: ClassVar[dict[str, Constraint]] = {
        "loc": constraints.real,
        "scale": constraints.positive,
    }
    support = constraints.simplex
    base_dist: Independent

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        base = Normal(loc, scale, validate_args=validate_args)
        if not base.batch_shape:
            base = base.expand((1,))
        super().__init__(base, StickBreakingTransform(), validate_args=validate_args)

    @property
    def loc(self) -> Tensor:
        """The means of the normal numbers."""
        loc: Tensor = self.base_dist.base_dist.loc  # type: ignore[attr-defined]
        return loc

    @property
    def scale(self) -> Tensor:
        """The standard deviations of the normal numbers."""
        scale: Tensor = self.base_dist.base_dist.scale  # type: ignore[attr-defined]
        return scale
