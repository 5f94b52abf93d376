"""A Bernoulli distribution on all numbers from 0 to 1."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import whygrad
from whygrad.distributions import constraints
from whygrad.distributions.constraints import Constraint
from whygrad.distributions.exp_family import ExponentialFamily
from whygrad.distributions.odds import Odds
from whygrad.distributions.utils import (
    broadcast_all,
    clamp_probs,
    lazy_property,
    logits_to_probs,
)
from whygrad.nn.functional import binary_cross_entropy_with_logits
from whygrad.tensor import Tensor

__all__ = ["ContinuousBernoulli"]


class ContinuousBernoulli(Odds, ExponentialFamily):
    """p(x) ∝ probs^x·(1 − probs)^(1 − x) on [0, 1].

    At probs = ½ the closed forms are 0/0; between ``lims`` their series is used.
    """

    arg_constraints: ClassVar[dict[str, Constraint]] = {
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    support = constraints.unit_interval
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(
        self,
        probs: Any = None,
        logits: Any = None,
        lims: tuple[float, float] = (0.499, 0.501),
        validate_args: bool | None = None,
    ) -> None:
        self._set_odds(probs, logits)
        if probs is not None:
            if validate_args or (validate_args is None and self._validate_args):
                self._check_probs()
            self.probs = clamp_probs(self.probs)
        self._lims = lims
        super().__init__(self._param.size(), validate_args=validate_args)

    def _check_probs(self) -> None:
        if not bool(constraints.unit_interval.check(self.probs).all()):
            self._check_parameters()

    def _expand_rest(self, new: Any, batch_shape: Any) -> None:
        new._lims = self._lims

    @lazy_property
    def probs(self) -> Tensor:
        """The parameter; it is not the mean."""
        return clamp_probs(logits_to_probs(self.logits, is_binary=True))

    def _stable(self) -> Tensor:
        """Where the closed forms can be used."""
        return (self.probs <= self._lims[0]) | (self.probs > self._lims[1])

    def _cut(self) -> Tensor:
        """``probs``, with another value where they are near ½."""
        return whygrad.where(self._stable(), self.probs, self._lims[0])

    def _log_norm(self) -> Tensor:
        cut = self._cut()
        below = whygrad.where(cut <= 0.5, cut, 0.0)
        above = whygrad.where(cut >= 0.5, cut, 1.0)
        odds = ((-cut).log1p() - cut.log()).abs().log()
        width = whygrad.where(cut <= 0.5, (-2 * below).log1p(), (2 * above - 1).log())
        x = (self.probs - 0.5).pow(2)
        series = math.log(2.0) + (4.0 / 3.0 + 104.0 / 45.0 * x) * x
        return whygrad.where(self._stable(), odds - width, series)

    @property
    def mean(self) -> Tensor:
        cut = self._cut()
        closed = cut / (2.0 * cut - 1.0) + 1.0 / ((-cut).log1p() - cut.log())
        x = self.probs - 0.5
        series = 0.5 + (1.0 / 3.0 + 16.0 / 45.0 * x.pow(2)) * x
        return whygrad.where(self._stable(), closed, series)

    @property
    def stddev(self) -> Tensor:
        return self.variance.sqrt()

    @property
    def variance(self) -> Tensor:
        cut = self._cut()
        closed = cut * (cut - 1.0) / (1.0 - 2.0 * cut).pow(2)
        closed = closed + 1.0 / ((-cut).log1p() - cut.log()).pow(2)
        x = (self.probs - 0.5).pow(2)
        series = 1.0 / 12.0 - (1.0 / 15.0 - 128.0 / 945.0 * x) * x
        return whygrad.where(self._stable(), closed, series)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        return self.icdf(self._drawn(whygrad.rand, sample_shape, self.probs))

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        cross = binary_cross_entropy_with_logits(logits, value, reduction="none")
        return -cross + self._log_norm()

    def cdf(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        cut = self._cut()
        closed = cut.pow(value) * (1.0 - cut).pow(1.0 - value) + cut - 1.0
        inside = whygrad.where(self._stable(), closed / (2.0 * cut - 1.0), value)
        inside = whygrad.where(value <= 0.0, 0.0, inside)
        return whygrad.where(value >= 1.0, 1.0, inside)

    def icdf(self, value: Tensor) -> Tensor:
        cut = self._cut()
        closed = (-cut + value * (2.0 * cut - 1.0)).log1p() - (-cut).log1p()
        return whygrad.where(self._stable(), closed / (cut.log() - (-cut).log1p()), value)

    def entropy(self) -> Tensor:
        no, yes = (-self.probs).log1p(), self.probs.log()
        return self.mean * (no - yes) - self._log_norm() - no

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (self.logits,)

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        (x,) = natural_params
        near = (x <= self._lims[0] - 0.5) | (x > self._lims[1] - 0.5)
        cut = whygrad.where(near, x, self._lims[0] - 0.5)
        closed = (cut.exp() - 1).abs().log() - cut.abs().log()
        return whygrad.where(near, closed, 0.5 * x + x.pow(2) / 24.0 - x.pow(4) / 2880.0)
