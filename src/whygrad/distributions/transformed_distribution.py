"""The distribution of a function of a random number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from whygrad.distributions import constraints
from whygrad.distributions.constraints import Constraint
from whygrad.distributions.distribution import Distribution
from whygrad.distributions.independent import Independent
from whygrad.distributions.transforms import ComposeTransform, Transform
from whygrad.distributions.utils import sum_rightmost
from whygrad.errors import fail
from whygrad.tensor import Tensor
from whygrad.tensor.memory import Size
from whygrad.tensor.modes import no_grad

__all__ = ["TransformedDistribution"]


class TransformedDistribution(Distribution):
    """y = f(x), x from ``base_distribution``: ln p(y) = ln p(x) − ln |dy/dx|."""

    arg_constraints: ClassVar[Mapping[str, Constraint]] = {}

    def __init__(
        self,
        base_distribution: Distribution,
        transforms: Transform | list[Transform],
        validate_args: bool | None = None,
    ) -> None:
        steps = [transforms] if isinstance(transforms, Transform) else transforms
        if not isinstance(steps, list) or not all(isinstance(each, Transform) for each in steps):
            raise fail(
                ValueError,
                call=f"{type(self).__name__}({base_distribution!r}, {transforms!r})",
                cause="transforms must be a Transform or list of Transforms",
                fix="pass a list of objects such as ExpTransform()",
            )
        self.transforms = steps
        shape = base_distribution.batch_shape + base_distribution.event_shape
        whole = ComposeTransform(steps)
        if len(shape) < whole.domain.event_dim:
            raise fail(
                ValueError,
                call=f"{type(self).__name__}({base_distribution!r}, {transforms!r})",
                cause=f"base_distribution needs to have shape with size at least "
                f"{whole.domain.event_dim}, but got {tuple(shape)}",
                fix="give the base distribution a batch of that many dimensions",
            )
        result = whole.forward_shape(shape)
        needed = whole.inverse_shape(result)
        if shape != needed:
            batch = needed[: len(needed) - len(base_distribution.event_shape)]
            base_distribution = base_distribution.expand(batch)
        more = whole.domain.event_dim - len(base_distribution.event_shape)
        if more > 0:
            base_distribution = Independent(base_distribution, more)
        self.base_dist = base_distribution
        beyond = max(len(base_distribution.event_shape) - whole.domain.event_dim, 0)
        cut = len(result) - whole.codomain.event_dim - beyond
        super().__init__(result[:cut], result[cut:], validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._blank(_instance)
        new.transforms = self.transforms
        batch = Size(batch_shape)
        shape = ComposeTransform(self.transforms).inverse_shape(batch + self.event_shape)
        new.base_dist = self.base_dist.expand(shape[: len(shape) - len(self.base_dist.event_shape)])
        return self._finished(new, batch)

    @constraints.dependent_property(is_discrete=False)
    def support(self) -> Constraint:
        if not self.transforms:
            return self.base_dist.support
        support = self.transforms[-1].codomain
        missing = len(self.event_shape) - support.event_dim
        if missing > 0:
            return constraints.independent(support, missing)
        return support

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        return self.base_dist.has_rsample

    def sample(self, sample_shape: Any = ()) -> Tensor:
        with no_grad():
            return self._transformed(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        return self._transformed(self.base_dist.rsample(sample_shape))

    def _transformed(self, x: Tensor) -> Tensor:
        for transform in self.transforms:
            x = transform(x)
        return x

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        dim = len(self.event_shape)
        total: Any = 0.0
        y = value
        for transform in reversed(self.transforms):
            x = transform.inv(y)
            dim += transform.domain.event_dim - transform.codomain.event_dim
            stretch = transform.log_abs_det_jacobian(x, y)
            total = total - sum_rightmost(stretch, dim - transform.domain.event_dim)
            y = x
        inner = self.base_dist.log_prob(y)
        result: Tensor = total + sum_rightmost(inner, dim - len(self.base_dist.event_shape))
        return result

    def _rising(self, value: Tensor) -> Tensor:
        """A probability, of the complement where the transforms fall."""
        sign: Any = 1
        for transform in self.transforms:
            sign = sign * transform.sign
        if isinstance(sign, int) and sign == 1:
            return value
        flipped: Tensor = sign * (value - 0.5) + 0.5
        return flipped

    def cdf(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        for transform in reversed(self.transforms):
            value = transform.inv(value)
        return self._rising(self.base_dist.cdf(value))

    def icdf(self, value: Tensor) -> Tensor:
        return self._transformed(self.base_dist.icdf(self._rising(value)))
