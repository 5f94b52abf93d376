"""Dimensions of a batch as dimensions of an event."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from whygrad.distributions import constraints
from whygrad.distributions.constraints import Constraint
from whygrad.distributions.distribution import Distribution
from whygrad.distributions.utils import sum_rightmost
from whygrad.errors import fail
from whygrad.tensor import Tensor
from whygrad.tensor.memory import Size

__all__ = ["Independent"]


class Independent(Distribution):
    """The last ``reinterpreted_batch_ndims`` batch dimensions of ``base_distribution`` together."""

    arg_constraints: ClassVar[Mapping[str, Constraint]] = {}

    def __init__(
        self,
        base_distribution: Distribution,
        reinterpreted_batch_ndims: int,
        validate_args: bool | None = None,
    ) -> None:
        if reinterpreted_batch_ndims > len(base_distribution.batch_shape):
            raise fail(
                ValueError,
                call=f"Independent({base_distribution!r}, {reinterpreted_batch_ndims})",
                cause="Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), "
                f"which is {len(base_distribution.batch_shape)}",
                fix="give the base distribution parameters with that many dimensions",
            )
        shape = base_distribution.batch_shape + base_distribution.event_shape
        count = reinterpreted_batch_ndims + len(base_distribution.event_shape)
        self.base_dist = base_distribution
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        cut = len(shape) - count
        super().__init__(shape[:cut], shape[cut:], validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._blank(_instance)
        batch = Size(batch_shape)
        new.base_dist = self.base_dist.expand(
            batch + self.event_shape[: self.reinterpreted_batch_ndims]
        )
        new.reinterpreted_batch_ndims = self.reinterpreted_batch_ndims
        return self._finished(new, batch)

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        return self.base_dist.has_rsample

    @property
    def has_enumerate_support(self) -> bool:  # type: ignore[override]
        return self.reinterpreted_batch_ndims == 0 and self.base_dist.has_enumerate_support

    @constraints.dependent_property
    def support(self) -> Constraint:
        support = self.base_dist.support
        if self.reinterpreted_batch_ndims:
            return constraints.independent(support, self.reinterpreted_batch_ndims)
        return support

    @property
    def mean(self) -> Tensor:
        return self.base_dist.mean

    @property
    def mode(self) -> Tensor:
        return self.base_dist.mode

    @property
    def variance(self) -> Tensor:
        return self.base_dist.variance

    def sample(self, sample_shape: Any = ()) -> Tensor:
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value: Tensor) -> Tensor:
        total: Tensor = sum_rightmost(
            self.base_dist.log_prob(value), self.reinterpreted_batch_ndims
        )
        return total

    def entropy(self) -> Tensor:
        total: Tensor = sum_rightmost(self.base_dist.entropy(), self.reinterpreted_batch_ndims)
        return total

    def enumerate_support(self, expand: bool = True) -> Tensor:
        if self.reinterpreted_batch_ndims > 0:
            raise self._undefined("enumerate_support")
        return self.base_dist.enumerate_support(expand=expand)

    def __repr__(self) -> str:
        return f"Independent({self.base_dist!r}, {self.reinterpreted_batch_ndims})"
