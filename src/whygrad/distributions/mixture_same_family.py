"""Mixtures of distributions of one family."""

from __future__ import annotations

from typing import Any, ClassVar

import whygrad
from whygrad.distributions import constraints
from whygrad.distributions.constraints import Constraint
from whygrad.distributions.discrete.categorical import Categorical
from whygrad.distributions.distribution import Distribution
from whygrad.errors import fail
from whygrad.nn.functional import log_softmax
from whygrad.tensor import Tensor
from whygrad.tensor.memory import Size

__all__ = ["MixtureSameFamily"]


class MixtureSameFamily(Distribution):
    """Component k, the last batch dimension, with the probability the mixture gives it."""

    arg_constraints: ClassVar[dict[str, Constraint]] = {}

    def __init__(
        self,
        mixture_distribution: Categorical,
        component_distribution: Distribution,
        validate_args: bool | None = None,
    ) -> None:
        def refuse(cause: str, fix: str) -> Exception:
            return fail(ValueError, call="MixtureSameFamily(…)", cause=cause, fix=fix)

        if not isinstance(mixture_distribution, Categorical):
            raise refuse(
                "The Mixture distribution needs to be an instance of Categorical",
                "pass Categorical(logits=…)",
            )
        if not isinstance(component_distribution, Distribution):
            raise refuse(
                "The Component distribution needs to be an instance of Distribution",
                "pass a distribution whose last batch dimension counts the components",
            )
        batch = component_distribution.batch_shape[:-1]
        for one, other in zip(reversed(mixture_distribution.batch_shape), reversed(batch)):
            if one != other and 1 not in (one, other):
                raise refuse(
                    f"the batch shape {tuple(mixture_distribution.batch_shape)} of the mixture "
                    f"does not fit {tuple(batch)} of the components",
                    "the components have one more batch dimension, the last",
                )
        count = mixture_distribution.logits.shape[-1]
        if count != component_distribution.batch_shape[-1]:
            raise refuse(
                f"`mixture_distribution component` ({count}) does not equal "
                f"`component_distribution.batch_shape[-1]` "
                f"({component_distribution.batch_shape[-1]})",
                "give both the same number of components",
            )
        self._mixture_distribution = mixture_distribution
        self._component_distribution = component_distribution
        self._num_component = count
        super().__init__(batch, component_distribution.event_shape, validate_args=validate_args)

    @property
    def _event_ndims(self) -> int:
        return len(self._component_distribution.event_shape)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._blank(_instance)
        batch = Size(batch_shape)
        new._component_distribution = self._component_distribution.expand(
            (*batch, self._num_component)
        )
        new._mixture_distribution = self._mixture_distribution.expand(batch)
        new._num_component = self._num_component
        return self._finished(new, batch)

    @constraints.dependent_property
    def support(self) -> Constraint:
        return constraints.MixtureSameFamilyConstraint(self._component_distribution.support)

    @property
    def mixture_distribution(self) -> Categorical:
        """Which component is drawn."""
        return self._mixture_distribution

    @property
    def component_distribution(self) -> Distribution:
        """The components, along the last batch dimension."""
        return self._component_distribution

    def _weights(self) -> Tensor:
        probs = self.mixture_distribution.probs
        return probs.reshape(probs.shape + (1,) * self._event_ndims)

    @property
    def mean(self) -> Tensor:
        means = self.component_distribution.mean
        return (self._weights() * means).sum(-1 - self._event_ndims)

    @property
    def variance(self) -> Tensor:
        weights, dim = self._weights(), -1 - self._event_ndims
        within = (weights * self.component_distribution.variance).sum(dim)
        apart = self.component_distribution.mean - self.mean.unsqueeze(dim)
        return within + (weights * apart.pow(2.0)).sum(dim)

    def cdf(self, value: Tensor) -> Tensor:
        below = self.component_distribution.cdf(self._per_component(value))
        return (below * self.mixture_distribution.probs).sum(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        inner = self.component_distribution.log_prob(self._per_component(value))
        return (inner + log_softmax(self.mixture_distribution.logits, dim=-1)).logsumexp(dim=-1)

    def _per_component(self, value: Tensor) -> Tensor:
        return value.unsqueeze(-1 - self._event_ndims)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        with whygrad.no_grad():
            dim = len(sample_shape) + len(self.batch_shape)
            chosen = self.mixture_distribution.sample(sample_shape)
            samples = self.component_distribution.sample(sample_shape)
            index = chosen.reshape(chosen.shape + (1,) * (self._event_ndims + 1))
            shape = (*samples.shape[:dim], 1, *samples.shape[dim + 1 :])
            return samples.gather(dim, index.expand(shape)).squeeze(dim)

    def __repr__(self) -> str:
        parts = f"{self.mixture_distribution!r},\n  {self.component_distribution!r}"
        return f"MixtureSameFamily(\n  {parts})"
