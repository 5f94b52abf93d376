"""Random correlation matrices, as their Cholesky factors."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import whygrad
from whygrad.distributions import constraints
from whygrad.distributions.constraints import Constraint
from whygrad.distributions.distribution import Distribution
from whygrad.distributions.unit.beta import Beta
from whygrad.distributions.utils import broadcast_all
from whygrad.errors import fail
from whygrad.tensor import Tensor
from whygrad.tensor.memory import Size

__all__ = ["LKJCholesky"]


class LKJCholesky(Distribution):
    """L of a correlation matrix L·Lᵀ with density ∝ det^(concentration − 1)."""

    arg_constraints: ClassVar[dict[str, Constraint]] = {"concentration": constraints.positive}
    support = constraints.corr_cholesky

    def __init__(
        self, dim: int, concentration: Any = 1.0, validate_args: bool | None = None
    ) -> None:
        if dim < 2:
            raise fail(
                ValueError,
                call=f"LKJCholesky({dim})",
                cause="Expected dim to be an integer greater than or equal to 2",
                fix="pass the number of variables",
            )
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        super().__init__(self.concentration.size(), Size((dim, dim)), validate_args=validate_args)

    def _expand_rest(self, new: Any, batch_shape: Any) -> None:
        new.dim = self.dim

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """Row by row: how long it is without its last entry (beta), and where it points."""
        with whygrad.no_grad():
            alpha = self.concentration
            kind: dict[str, Any] = {"dtype": alpha.dtype, "device": alpha.device}
            row = whygrad.arange(self.dim, **kind).sub(1).clamp(min=0)
            rest = (alpha + 0.5 * (self.dim - 2)).unsqueeze(-1) - 0.5 * row
            length = Beta(0.5 + row, rest).sample(sample_shape).unsqueeze(-1)
            noise = whygrad.randn(self._extended_shape(sample_shape), **kind).tril(-1)
            norm = noise.norm(dim=-1, keepdim=True)
            direction = noise / norm.masked_fill(norm == 0, 1.0)  # the first row is empty
            below = length.sqrt() * direction
            tiny = whygrad.finfo(below.dtype).tiny
            diagonal = (1 - (below * below).sum(-1)).clamp(min=tiny).sqrt()
            return below + diagonal.diag_embed()

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        count = self.dim - 1
        diagonal = value.diagonal(dim1=-1, dim2=-2)[..., 1:]
        row = whygrad.arange(2, self.dim + 1, device=self.concentration.device)
        power = 2 * (self.concentration - 1).unsqueeze(-1) + self.dim - row
        alpha = self.concentration + 0.5 * count
        normalizer = whygrad.mvlgamma(alpha - 0.5, count) - alpha.lgamma() * count
        constant = 0.5 * count * math.log(math.pi)
        return (power * diagonal.log()).sum(-1) - normalizer - constant
