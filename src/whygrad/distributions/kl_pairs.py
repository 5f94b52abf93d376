"""KL(p ‖ q) of two different families: −H(p) − E ln q, of which ln q asks for moments of p.

A normal q needs the mean and the variance of p, an exponential one the mean, a gamma one the mean
and E ln x.  Where p reaches beyond the support of q the divergence is infinite.
"""

from __future__ import annotations

import math
from typing import Any

import whygrad
from whygrad.distributions.discrete.bernoulli import Bernoulli
from whygrad.distributions.discrete.binomial import Binomial
from whygrad.distributions.discrete.poisson import Poisson
from whygrad.distributions.distribution import Distribution
from whygrad.distributions.kl import register_kl
from whygrad.distributions.positive.exponential import Exponential
from whygrad.distributions.positive.gamma import Gamma
from whygrad.distributions.positive.pareto import Pareto
from whygrad.distributions.real.gumbel import Gumbel
from whygrad.distributions.real.laplace import Laplace
from whygrad.distributions.real.normal import Normal
from whygrad.distributions.real.uniform import Uniform
from whygrad.distributions.unit.beta import Beta
from whygrad.distributions.unit.continuous_bernoulli import ContinuousBernoulli
from whygrad.distributions.utils import EULER
from whygrad.tensor import Tensor

__all__: list[str] = []

_REACHES_BEYOND: dict[type[Distribution], tuple[type[Distribution], ...]] = {
    Beta: (Pareto,),
    ContinuousBernoulli: (Pareto,),
    Exponential: (Beta, ContinuousBernoulli, Pareto, Uniform),
    Gamma: (Beta, ContinuousBernoulli, Pareto, Uniform),
    Gumbel: (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform),
    Laplace: (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform),
    Normal: (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform),
    Pareto: (Beta, ContinuousBernoulli, Uniform),
    Poisson: (Bernoulli, Binomial),
}


def _infinite(p: Any, q: Any) -> Tensor:
    first = next(name for name in p.arg_constraints if hasattr(p, name))
    return whygrad.full_like(getattr(p, first).detach(), math.inf)


for _own, _others in _REACHES_BEYOND.items():
    for _other in _others:
        register_kl(_own, _other)(_infinite)


def _x_log_x(x: Tensor) -> Tensor:
    return x.xlogy(x)


def _mean_log(p: Any) -> Tensor:
    """E ln x."""
    if isinstance(p, Beta):
        return p.concentration1.digamma() - (p.concentration1 + p.concentration0).digamma()
    if isinstance(p, Exponential):
        return -EULER - p.rate.log()
    if isinstance(p, Pareto):
        return p.scale.log() + p.alpha.reciprocal()
    return (_x_log_x(p.high) - _x_log_x(p.low)) / (p.high - p.low) - 1


def _below_zero(p: Any, result: Tensor) -> Tensor:
    """Infinite where p, a uniform distribution, has negative values."""
    return result.masked_fill(p.low < 0, math.inf) if isinstance(p, Uniform) else result


def _heavy(p: Any, result: Tensor, moments: int) -> Tensor:
    """Infinite where p, a Pareto distribution, lacks the moments."""
    return result.masked_fill(p.alpha <= moments, math.inf) if isinstance(p, Pareto) else result


def _moment(p: Any, order: int) -> tuple[Tensor, Tensor]:
    """Mean and variance; of a Pareto distribution without them anything finite will do."""
    if not isinstance(p, Pareto):
        return p.mean, p.variance if order == 2 else p.mean
    alpha = p.alpha.masked_fill(p.alpha <= order, order + 1.0)
    mean = alpha * p.scale / (alpha - 1)
    return mean, p.scale.pow(2) * alpha / ((alpha - 1).pow(2) * (alpha - 2))


@register_kl(Beta, Normal)
@register_kl(ContinuousBernoulli, Normal)
@register_kl(Exponential, Normal)
@register_kl(Gamma, Normal)
@register_kl(Gumbel, Normal)
@register_kl(Laplace, Normal)
@register_kl(Pareto, Normal)
@register_kl(Uniform, Normal)
def _to_normal(p: Any, q: Normal) -> Tensor:
    mean, variance = _moment(p, 2)
    square = q.scale.pow(2)
    cross = 0.5 * (2 * math.pi * square).log() + (variance + (mean - q.loc).pow(2)) / (2 * square)
    return _heavy(p, cross - p.entropy(), 2)


@register_kl(Beta, Exponential)
@register_kl(ContinuousBernoulli, Exponential)
@register_kl(Gamma, Exponential)
@register_kl(Pareto, Exponential)
@register_kl(Uniform, Exponential)
def _to_exponential(p: Any, q: Exponential) -> Tensor:
    mean, _ = _moment(p, 1)
    return _below_zero(p, _heavy(p, q.rate * mean - q.rate.log() - p.entropy(), 1))


@register_kl(Beta, Gamma)
@register_kl(Exponential, Gamma)
@register_kl(Pareto, Gamma)
@register_kl(Uniform, Gamma)
def _to_gamma(p: Any, q: Gamma) -> Tensor:
    mean, _ = _moment(p, 1)
    a = q.concentration
    cross = a.lgamma() - a * q.rate.log() - (a - 1) * _mean_log(p) + q.rate * mean
    return _below_zero(p, _heavy(p, cross - p.entropy(), 1))


@register_kl(Beta, Uniform)
@register_kl(ContinuousBernoulli, Uniform)
def _to_uniform(p: Any, q: Uniform) -> Tensor:
    result = (q.high - q.low).log() - p.entropy()
    return result.masked_fill((q.low > 0) | (q.high < 1), math.inf)


@register_kl(Beta, ContinuousBernoulli)
@register_kl(Uniform, ContinuousBernoulli)
def _to_continuous_bernoulli(p: Any, q: ContinuousBernoulli) -> Tensor:
    cross = -p.mean * q.logits - (-q.probs).log1p() - q._log_norm()
    result = cross - p.entropy()
    if isinstance(p, Uniform):
        result = result.masked_fill((p.low < 0) | (p.high > 1), math.inf)
    return result


@register_kl(Uniform, Beta)
def _uniform_beta(p: Uniform, q: Beta) -> Tensor:
    a, b, width = q.concentration1, q.concentration0, p.high - p.low
    upper = (_x_log_x(1 - p.low) - _x_log_x(1 - p.high)) / width - 1  # E ln(1 − x)
    normalizer = a.lgamma() + b.lgamma() - (a + b).lgamma()
    result = normalizer - (a - 1) * _mean_log(p) - (b - 1) * upper - p.entropy()
    return result.masked_fill((p.high > 1) | (p.low < 0), math.inf)


@register_kl(Uniform, Pareto)
def _uniform_pareto(p: Uniform, q: Pareto) -> Tensor:
    cross = (q.alpha + 1) * _mean_log(p) - (q.alpha * q.scale.pow(q.alpha)).log()
    return (cross - p.entropy()).masked_fill(p.low < q.scale, math.inf)


def _to_gumbel(p: Any, q: Gumbel, mean_exp: Tensor) -> Tensor:
    """``mean_exp`` is E exp(−(x − loc)/scale)."""
    return q.scale.log() + (p.mean - q.loc) / q.scale + mean_exp - p.entropy()


@register_kl(Exponential, Gumbel)
def _exponential_gumbel(p: Exponential, q: Gumbel) -> Tensor:
    product = p.rate * q.scale
    return _to_gumbel(p, q, (q.loc / q.scale).exp() * product / (product + 1))


@register_kl(Gamma, Gumbel)
def _gamma_gumbel(p: Gamma, q: Gumbel) -> Tensor:
    shrunk = (1 + (p.rate * q.scale).reciprocal()).pow(-p.concentration)
    return _to_gumbel(p, q, (q.loc / q.scale).exp() * shrunk)


@register_kl(Normal, Gumbel)
def _normal_gumbel(p: Normal, q: Gumbel) -> Tensor:
    return _to_gumbel(p, q, ((q.loc - p.loc) / q.scale + 0.5 * (p.scale / q.scale).pow(2)).exp())


@register_kl(Uniform, Gumbel)
def _uniform_gumbel(p: Uniform, q: Gumbel) -> Tensor:
    low, high = ((-(each - q.loc) / q.scale).exp() for each in (p.low, p.high))
    return _to_gumbel(p, q, q.scale / (p.high - p.low) * (low - high))


@register_kl(Normal, Laplace)
def _normal_laplace(p: Normal, q: Laplace) -> Tensor:
    apart = p.loc - q.loc
    ratio = apart / p.scale
    distance = math.sqrt(2 / math.pi) * p.scale * (-0.5 * ratio.pow(2)).exp()
    distance = distance + apart * (math.sqrt(0.5) * ratio).erf()
    return (2 * q.scale).log() + distance / q.scale - p.entropy()


@register_kl(Bernoulli, Poisson)
def _bernoulli_poisson(p: Bernoulli, q: Poisson) -> Tensor:
    return q.rate - p.probs * q.rate.log() - p.entropy()
