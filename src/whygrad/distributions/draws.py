"""Gamma and Dirichlet numbers, and how they move with a parameter.

A gamma or beta number is no simple function of noise, but its distribution function F(x; a) is
known: moving a with F held fixed moves x by dx/da = −(∂F/∂a)/p(x).  ∂F/∂a comes from a five-point
difference of ln F, which is smooth in a wherever samples fall.  Such a derivative has no derivative
of its own here, as in PyTorch: a second backward raises.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import whygrad
from whygrad.autograd.function import Function, once_differentiable
from whygrad.ops.creation.sampling import rng_of
from whygrad.random import draws
from whygrad.tensor import Tensor

__all__ = [
    "beta_slope",
    "dirichlet",
    "gamma_slope",
    "standard_gamma",
    "von_mises",
]

Array = Any
Distribution = Callable[..., Array]

STEP = 0.01  # of a difference, relative to the scale on which ln F changes with a


@draws
def von_mises(loc: Tensor, concentration: Tensor) -> Tensor:
    """Angles from −π to π around ``loc``."""
    center, kappa = (each._array.astype(np.float64) for each in (loc, concentration))
    return _like(loc, rng_of(None).vonmises(center, kappa))


def standard_gamma(concentration: Tensor) -> Tensor:
    """Gamma numbers with rate 1, differentiable with respect to ``concentration``."""
    return _Gamma.apply(concentration)


def dirichlet(concentration: Tensor) -> Tensor:
    """Shares that add up to 1, differentiable with respect to ``concentration``."""
    return _Dirichlet.apply(concentration)


def _like(tensor: Tensor, array: Array) -> Tensor:
    numbers = np.asarray(array).astype(tensor._array.dtype)
    return whygrad.as_tensor(numbers, dtype=tensor.dtype, device=tensor.device)


@draws
def _gamma_numbers(concentration: Tensor) -> Tensor:
    alpha = concentration._array.astype(np.float64)
    # Γ(a) = Γ(a + 1)·u^(1/a): small numbers keep their digits
    log = np.log(rng_of(None).standard_gamma(alpha + 1))
    log -= rng_of(None).standard_exponential(alpha.shape) / alpha
    return _like(concentration, np.maximum(np.exp(log), whygrad.finfo(concentration.dtype).tiny))


@draws
def _dirichlet_numbers(concentration: Tensor) -> Tensor:
    alpha = concentration._array.astype(np.float64)
    log = np.log(rng_of(None).standard_gamma(alpha + 1))
    log -= rng_of(None).standard_exponential(alpha.shape) / alpha
    shares = np.exp(log - log.max(-1, keepdims=True))  # never 0/0, however small all of them are
    shares /= shares.sum(-1, keepdims=True)
    limits = whygrad.finfo(concentration.dtype)
    return _like(concentration, np.clip(shares, limits.tiny, 1 - limits.eps / 2))


class _Gamma(Function):
    @staticmethod
    def forward(ctx: Any, concentration: Tensor) -> Tensor:
        sample = _gamma_numbers(concentration)
        ctx.save_for_backward(concentration, sample)
        return sample

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, incoming: Tensor) -> Tensor:
        concentration, sample = ctx.saved_tensors
        return incoming * gamma_slope(concentration, sample)


class _Dirichlet(Function):
    @staticmethod
    def forward(ctx: Any, concentration: Tensor) -> Tensor:
        sample = _dirichlet_numbers(concentration)
        ctx.save_for_backward(concentration, sample)
        return sample

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, incoming: Tensor) -> Tensor:
        """A share that grows takes from the others in proportion to what they have."""
        concentration, sample = ctx.saved_tensors
        total = concentration.sum(-1, keepdim=True)
        slope = beta_slope(sample, concentration, total.expand_as(concentration))
        return slope * (incoming - (sample * incoming).sum(-1, keepdim=True))


def gamma_slope(concentration: Tensor, sample: Tensor) -> Tensor:
    """dx/da of a gamma number x with concentration a."""
    from scipy import special

    a, x = (each._array.astype(np.float64) for each in (concentration, sample))
    log_density = (a - 1) * np.log(x) - x - special.gammaln(a)
    return _like(concentration, _moved(special.gammainc, special.gammaincc, log_density, a, x))


def beta_slope(sample: Tensor, concentration: Tensor, total: Tensor) -> Tensor:
    """dx/da/(1 − x) of a share x with concentration a out of ``total``."""
    from scipy import special

    x, a, whole = (each._array.astype(np.float64) for each in (sample, concentration, total))
    b = whole - a
    log_density = (a - 1) * np.log(x) + (b - 1) * np.log1p(-x) - special.betaln(a, b)
    slope = _moved(special.betainc, special.betaincc, log_density, a, b, x)
    return _like(sample, slope / (1 - x))


def _moved(lower: Distribution, upper: Distribution, log_density: Array, *at: Array) -> Array:
    """−(∂F/∂a)/p for F = ``lower(a, …)`` and 1 − F = ``upper(a, …)``, whichever is smaller."""
    moved = np.empty(log_density.shape)
    below = lower(*at) <= 0.5
    for side, function, sign in ((below, lower, -1.0), (~below, upper, 1.0)):
        a, *others = (each[side] for each in at)
        step = STEP * np.minimum(a, np.sqrt(a))
        with np.errstate(divide="ignore", invalid="ignore"):
            values = [np.log(function(a + count * step, *others)) for count in (-2, -1, 0, 1, 2)]
            slope = 8 * (values[3] - values[1]) - (values[4] - values[0])
            moved[side] = sign * slope / (12 * step) * np.exp(values[2] - log_density[side])
    return np.where(np.isfinite(moved), moved, 0.0)  # beyond what double precision can tell apart
