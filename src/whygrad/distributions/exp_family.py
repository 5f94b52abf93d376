"""Distributions of the form p(x) = h(x)·exp(θ·t(x) − A(θ)), whose entropy follows from A."""

from __future__ import annotations

import whygrad
from whygrad.distributions.distribution import Distribution
from whygrad.distributions.utils import sum_rightmost
from whygrad.tensor import Tensor

__all__ = ["ExponentialFamily"]


class ExponentialFamily(Distribution):
    """A subclass gives θ (``_natural_params``) and A (``_log_normalizer``)."""

    _mean_carrier_measure: float | Tensor  # E ln h(x)

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        raise self._undefined("_natural_params")

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        raise self._undefined("_log_normalizer")

    def entropy(self) -> Tensor:
        """A(θ) − θ·∇A(θ) − E ln h, with ∇A from the engine: the mean of t(x)."""
        natural = [each.detach().requires_grad_() for each in self._natural_params]
        with whygrad.enable_grad():
            normalizer = self._log_normalizer(*natural)
            slopes = whygrad.autograd.grad(normalizer.sum(), natural, create_graph=True)
        result = normalizer - self._mean_carrier_measure
        for parameter, slope in zip(natural, slopes, strict=True):
            result = result - sum_rightmost(parameter * slope, len(self.event_shape))
        return result
