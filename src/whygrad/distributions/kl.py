"""KL(p ‖ q) = E ln p − E ln q, for the pairs that have a closed form.

``register_kl`` adds a pair.  Looked up is the most specific registered pair of base classes.  Pairs
of one family stand here; those of two families are in :mod:`~whygrad.distributions.kl_pairs`.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from functools import total_ordering
from typing import Any

import whygrad
from whygrad.distributions.discrete.bernoulli import Bernoulli
from whygrad.distributions.discrete.binomial import Binomial
from whygrad.distributions.discrete.categorical import Categorical
from whygrad.distributions.discrete.geometric import Geometric
from whygrad.distributions.discrete.one_hot_categorical import OneHotCategorical
from whygrad.distributions.discrete.poisson import Poisson
from whygrad.distributions.distribution import Distribution
from whygrad.distributions.exp_family import ExponentialFamily
from whygrad.distributions.independent import Independent
from whygrad.distributions.multivariate.lowrank_multivariate_normal import LowRankMultivariateNormal
from whygrad.distributions.multivariate.multivariate_normal import (
    MultivariateNormal,
    log_det_half,
    mahalanobis,
)
from whygrad.distributions.positive.exponential import Exponential
from whygrad.distributions.positive.gamma import Gamma
from whygrad.distributions.positive.half_normal import HalfNormal
from whygrad.distributions.positive.pareto import Pareto
from whygrad.distributions.real.cauchy import Cauchy
from whygrad.distributions.real.gumbel import Gumbel
from whygrad.distributions.real.laplace import Laplace
from whygrad.distributions.real.normal import Normal
from whygrad.distributions.real.uniform import Uniform
from whygrad.distributions.transformed_distribution import TransformedDistribution
from whygrad.distributions.unit.beta import Beta
from whygrad.distributions.unit.continuous_bernoulli import ContinuousBernoulli
from whygrad.distributions.unit.dirichlet import Dirichlet
from whygrad.distributions.utils import EULER, sum_rightmost
from whygrad.errors import fail
from whygrad.nn.functional import softplus
from whygrad.tensor import Tensor

__all__ = ["kl_divergence", "register_kl"]

Divergence = Callable[[Any, Any], Tensor]

_REGISTRY: dict[tuple[type, type], Divergence] = {}
_FOUND: dict[tuple[type, type], Divergence | None] = {}


def register_kl(type_p: type, type_q: type) -> Callable[[Divergence], Divergence]:
    """``@register_kl(P, Q)`` above a function of p and q makes it the KL divergence of the two."""
    for each in (type_p, type_q):
        if not (isinstance(each, type) and issubclass(each, Distribution)):
            raise fail(
                TypeError,
                call=f"register_kl({type_p!r}, {type_q!r})",
                cause=f"expected a Distribution subclass but got {each!r}",
                fix="pass the two classes",
            )

    def register(function: Divergence) -> Divergence:
        _REGISTRY[type_p, type_q] = function
        _FOUND.clear()
        return function

    return register


@total_ordering
class _Match:
    """A pair of classes; less is more specific, the first class before the second."""

    def __init__(self, *types: type) -> None:
        self.types = types

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Match) and self.types == other.types

    def __le__(self, other: _Match) -> bool:
        for mine, its in zip(self.types, other.types, strict=True):
            if not issubclass(mine, its):
                return False
            if mine is not its:
                break
        return True


def _found(type_p: type, type_q: type) -> Divergence | None:
    if (type_p, type_q) in _FOUND:
        return _FOUND[type_p, type_q]
    pairs = [
        pair for pair in _REGISTRY if issubclass(type_p, pair[0]) and issubclass(type_q, pair[1])
    ]
    if not pairs:
        return _FOUND.setdefault((type_p, type_q), None)
    left = min(_Match(*pair) for pair in pairs).types
    right = min(_Match(*reversed(pair)) for pair in pairs).types[::-1]
    chosen = _REGISTRY[left[0], left[1]]
    if chosen is not _REGISTRY[right[0], right[1]]:
        names = [f"({pair[0].__name__}, {pair[1].__name__})" for pair in (left, right)]
        warnings.warn(
            f"Ambiguous kl_divergence({type_p.__name__}, {type_q.__name__}). Please register_kl "
            f"it: both {names[0]} and {names[1]} fit.",
            RuntimeWarning,
            stacklevel=3,
        )
    return _FOUND.setdefault((type_p, type_q), chosen)


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """How many nats it costs to take ``q`` for ``p``."""
    function = _found(type(p), type(q))
    if function is None:
        raise fail(
            NotImplementedError,
            call=f"kl_divergence({p!r}, {q!r})",
            cause=f"No KL(p || q) is implemented for p type {type(p).__name__} and q type "
            f"{type(q).__name__}",
            fix="estimate it: x = p.sample((1000,)); (p.log_prob(x) - q.log_prob(x)).mean(0); or "
            "register_kl a closed form",
        )
    return function(p, q)


def _unavailable(p: Distribution, q: Distribution, cause: str, kind: type[Exception]) -> Exception:
    return fail(
        kind,
        call=f"kl_divergence({p!r}, {q!r})",
        cause=cause,
        fix="estimate it from samples of p",
    )


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p: Bernoulli, q: Bernoulli) -> Tensor:
    yes = p.probs * (softplus(-q.logits) - softplus(-p.logits))
    yes = yes.masked_fill(q.probs == 0, math.inf).masked_fill(p.probs == 0, 0)
    no = (1 - p.probs) * (softplus(q.logits) - softplus(p.logits))
    return yes + no.masked_fill(q.probs == 1, math.inf).masked_fill(p.probs == 1, 0)


@register_kl(Beta, Beta)
def _beta(p: Beta, q: Beta) -> Tensor:
    return _dirichlet(p._dirichlet, q._dirichlet)


@register_kl(Binomial, Binomial)
def _binomial(p: Binomial, q: Binomial) -> Tensor:
    if bool((p.total_count < q.total_count).any()):
        cause = "KL between Binomials where q.total_count > p.total_count is not implemented"
        raise _unavailable(p, q, cause, NotImplementedError)
    one = p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p()
    return (p.total_count * one).masked_fill(p.total_count > q.total_count, math.inf)


@register_kl(Categorical, Categorical)
def _categorical(p: Categorical, q: Categorical) -> Tensor:
    terms = p.probs * (p.logits - q.logits)
    return terms.masked_fill(q.probs == 0, math.inf).masked_fill(p.probs == 0, 0).sum(-1)


@register_kl(Cauchy, Cauchy)
def _cauchy(p: Cauchy, q: Cauchy) -> Tensor:
    apart = (p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)
    return apart.log() - (4 * p.scale * q.scale).log()


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def _continuous_bernoulli(p: ContinuousBernoulli, q: ContinuousBernoulli) -> Tensor:
    own = p._log_norm() + (-p.probs).log1p()
    other = q._log_norm() + (-q.probs).log1p()
    return p.mean * (p.logits - q.logits) + own - other


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p: Dirichlet, q: Dirichlet) -> Tensor:
    a, b = p.concentration, q.concentration
    totals = a.sum(-1).lgamma() - b.sum(-1).lgamma()
    logs = a.digamma() - a.sum(-1, keepdim=True).digamma()
    return totals - (a.lgamma() - b.lgamma()).sum(-1) + ((a - b) * logs).sum(-1)


@register_kl(Exponential, Exponential)
def _exponential(p: Exponential, q: Exponential) -> Tensor:
    ratio = q.rate / p.rate
    return ratio - 1 - ratio.log()


@register_kl(ExponentialFamily, ExponentialFamily)
def _one_family(p: ExponentialFamily, q: ExponentialFamily) -> Tensor:
    """The Bregman divergence of the log-normalizer A: A(q) − A(p) − (q − p)·∇A(p)."""
    if type(p) is not type(q):
        cause = "different exponential families have no common normalizer"
        raise _unavailable(p, q, cause, NotImplementedError)
    own = [each.detach().requires_grad_() for each in p._natural_params]
    with whygrad.enable_grad():
        normalizer = p._log_normalizer(*own)
        slopes = whygrad.autograd.grad(normalizer.sum(), own, create_graph=True)
    result = q._log_normalizer(*q._natural_params) - normalizer
    for mine, its, slope in zip(own, q._natural_params, slopes, strict=True):
        result = result - sum_rightmost((its - mine) * slope, len(q.event_shape))
    return result


@register_kl(Gamma, Gamma)
def _gamma(p: Gamma, q: Gamma) -> Tensor:
    a, b = p.concentration, q.concentration
    rates = b * (p.rate / q.rate).log() + (q.rate - p.rate) * (a / p.rate)
    return rates + b.lgamma() - a.lgamma() + (a - b) * a.digamma()


@register_kl(Geometric, Geometric)
def _geometric(p: Geometric, q: Geometric) -> Tensor:
    return -p.entropy() - (-q.probs).log1p() / p.probs - q.logits


@register_kl(Gumbel, Gumbel)
def _gumbel(p: Gumbel, q: Gumbel) -> Tensor:
    ratio, apart = p.scale / q.scale, (p.loc - q.loc) / q.scale
    return apart - ratio.log() + ratio * EULER + ((1 + ratio).lgamma() - apart).exp() - (1 + EULER)


@register_kl(HalfNormal, HalfNormal)
def _half_normal(p: HalfNormal, q: HalfNormal) -> Tensor:
    return _normal(p.base_dist, q.base_dist)


@register_kl(Independent, Independent)
def _independent(p: Independent, q: Independent) -> Tensor:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        cause = "they have events of different numbers of dimensions"
        raise _unavailable(p, q, cause, NotImplementedError)
    inner = kl_divergence(p.base_dist, q.base_dist)
    total: Tensor = sum_rightmost(inner, p.reinterpreted_batch_ndims)
    return total


@register_kl(Laplace, Laplace)
def _laplace(p: Laplace, q: Laplace) -> Tensor:
    ratio, apart = p.scale / q.scale, (p.loc - q.loc).abs()
    return apart / q.scale + ratio * (-apart / p.scale).exp() - ratio.log() - 1


@register_kl(Normal, Normal)
def _normal(p: Normal, q: Normal) -> Tensor:
    ratio = (p.scale / q.scale).pow(2)
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).pow(2) - 1 - ratio.log())


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hot_categorical(p: OneHotCategorical, q: OneHotCategorical) -> Tensor:
    return _categorical(p._categorical, q._categorical)


@register_kl(Pareto, Pareto)
def _pareto(p: Pareto, q: Pareto) -> Tensor:
    ratio = q.alpha / p.alpha
    result = q.alpha * (p.scale / q.scale).log() - ratio.log() + ratio - 1
    return result.masked_fill(p.scale < q.scale, math.inf)


@register_kl(Poisson, Poisson)
def _poisson(p: Poisson, q: Poisson) -> Tensor:
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(TransformedDistribution, TransformedDistribution)
def _transformed(p: TransformedDistribution, q: TransformedDistribution) -> Tensor:
    """A common invertible map changes nothing."""
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise _unavailable(p, q, "they have different transforms", NotImplementedError)
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(Uniform, Uniform)
def _uniform(p: Uniform, q: Uniform) -> Tensor:
    result = ((q.high - q.low) / (p.high - p.low)).log()
    return result.masked_fill((q.low > p.low) | (q.high < p.high), math.inf)


@register_kl(LowRankMultivariateNormal, LowRankMultivariateNormal)
@register_kl(LowRankMultivariateNormal, MultivariateNormal)
@register_kl(MultivariateNormal, LowRankMultivariateNormal)
@register_kl(MultivariateNormal, MultivariateNormal)
def _multivariate_normal(p: Any, q: Any) -> Tensor:
    """½·(ln det Σq/det Σp + tr(Σq⁻¹·Σp) + distance² − n), from the factors of both."""
    if p.event_shape != q.event_shape:
        raise _unavailable(p, q, "their events have different shapes", ValueError)
    own, other = (
        each._factor if isinstance(each, MultivariateNormal) else each.scale_tril for each in (p, q)
    )
    ratio = whygrad.linalg.solve_triangular(other, own, upper=False)
    trace = ratio.pow(2).sum((-2, -1))
    distance = mahalanobis(other, q.loc - p.loc)
    half = 0.5 * (trace + distance - p.event_shape[0])
    return log_det_half(other) - log_det_half(own) + half
