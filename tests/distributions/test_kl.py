"""KL divergences: every pair PyTorch has, its values and gradients, and how pairs are found."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from torch.distributions.kl import _KL_REGISTRY

import whygrad
from tests.distributions.cases import CASES, COVARIANCE, Case, plain
from tests.distributions.test_distributions import BOTH, assert_same, outcome
from whygrad.distributions import Distribution, Normal, kl_divergence, register_kl
from whygrad.distributions.kl import _REGISTRY

# A second set of numbers per family, so that p and q differ; bounds lie inside and outside.
OTHERS: dict[str, Case] = {
    "Bernoulli": Case(plain("Bernoulli"), probs=[0.3, 0.4, 0.7]),
    "Beta": Case(plain("Beta"), concentration1=[1.2, 0.5, 2.0], concentration0=[0.6, 1.4, 1.0]),
    "Binomial": Case(plain("Binomial", total_count=5), probs=[0.3, 0.4, 0.7]),
    "Categorical": Case(plain("Categorical"), logits=[[0.5, 0.1, -0.4], [0.0, 1.0, 0.3]]),
    "Cauchy": Case(plain("Cauchy"), loc=[0.3, 0.1], scale=[1.0, 0.6]),
    "ContinuousBernoulli": Case(plain("ContinuousBernoulli"), probs=[0.3, 0.5, 0.7]),
    "Dirichlet": Case(plain("Dirichlet"), concentration=[[1.7, 0.5, 2.2], [0.5, 1.0, 2.5]]),
    "Exponential": Case(plain("Exponential"), rate=[0.4, 2.0, 1.0]),
    "Gamma": Case(plain("Gamma"), concentration=[1.2, 0.5, 2.0], rate=[0.6, 1.4, 1.0]),
    "Geometric": Case(plain("Geometric"), probs=[0.3, 0.4, 0.7]),
    "Gumbel": Case(plain("Gumbel"), loc=[0.4, -0.3, 1.0], scale=[1.2, 0.5, 2.0]),
    "HalfNormal": Case(plain("HalfNormal"), scale=[1.2, 0.5, 2.0]),
    "Independent": Case(
        lambda module, p: module.Independent(module.Normal(**p), 1),
        loc=[[0.1, 0.2, 0.3], [1.0, 0.0, -1.0]], scale=[[1.0, 0.4, 0.6], [0.3, 0.2, 0.9]],
    ),
    "Laplace": Case(plain("Laplace"), loc=[0.4, -0.3, 1.0], scale=[1.2, 0.5, 2.0]),
    "LogNormal": Case(plain("LogNormal"), loc=[0.4, -0.3, 1.0], scale=[1.2, 0.5, 2.0]),
    "LowRankMultivariateNormal": Case(
        plain("LowRankMultivariateNormal"),
        loc=[0.5, 0.4], cov_factor=[[0.2], [0.7]], cov_diag=[1.5, 0.5],
    ),
    "MultivariateNormal": Case(
        plain("MultivariateNormal"), loc=[[0.5, 0.4]], covariance_matrix=COVARIANCE
    ),
    "Normal": Case(plain("Normal"), loc=[0.4, -0.3, 1.0], scale=[1.2, 0.5, 2.0]),
    "OneHotCategorical": Case(plain("OneHotCategorical"), probs=[[0.3, 0.3, 0.4], [0.2, 0.7, 0.1]]),
    "Pareto": Case(plain("Pareto"), scale=[1.0, 0.3, 2.0], alpha=[1.5, 0.9, 4.0]),
    "Poisson": Case(plain("Poisson"), rate=[1.2, 0.5, 2.0]),
    "Uniform": Case(plain("Uniform"), low=[-0.5, 0.3, 0.6], high=[0.7, 0.9, 3.0]),
}  # fmt: skip
FIRST = {**CASES}
FIRST["Uniform"] = Case(plain("Uniform"), low=[0.1, -0.2, 2.5], high=[0.8, 0.6, 2.9])
FIRST["Cauchy"] = Case(plain("Cauchy"), loc=[-1.0, 0.5], scale=[0.4, 2.0])
FIRST["MultivariateNormal"] = Case(
    plain("MultivariateNormal"), loc=[[0.1, -0.4], [1.0, 2.0]], covariance_matrix=COVARIANCE
)
FIRST["LowRankMultivariateNormal"] = Case(
    plain("LowRankMultivariateNormal"), loc=[0.1, -0.4], cov_factor=[[1.0], [0.3]], cov_diag=[1, 2]
)
GENERAL = {"ExponentialFamily", "TransformedDistribution"}
PAIRS = sorted((p.__name__, q.__name__) for p, q in _KL_REGISTRY)


@pytest.fixture(autouse=True)
def _double_precision() -> Iterator[None]:
    for library in BOTH.values():
        library.set_default_dtype(library.float64)
    yield
    for library in BOTH.values():
        library.set_default_dtype(library.float32)


def test_every_pair_of_pytorch_is_there() -> None:
    assert set(PAIRS) <= {(p.__name__, q.__name__) for p, q in _REGISTRY}


def _answers(p_name: str, q_name: str) -> dict[str, Any]:
    answers = {}
    for label, library in BOTH.items():
        p, own = FIRST[p_name].build(library)
        q, others = OTHERS[q_name].build(library)
        divergence = library.distributions.kl_divergence
        answers[label] = outcome(lambda p=p, q=q, kl=divergence: kl(p, q), own + others, library)
    return answers


@pytest.mark.parametrize("p_name", sorted({p for p, _ in PAIRS} - GENERAL))
def test_values_and_gradients(p_name: str) -> None:
    for q_name in [q for p, q in PAIRS if p == p_name]:
        answers = _answers(p_name, q_name)
        assert_same(answers["whygrad"], answers["torch"], f"KL({p_name}, {q_name})")


def test_transformed() -> None:
    answers = _answers("LogNormal", "LogNormal")
    assert_same(answers["whygrad"], answers["torch"], "KL(LogNormal, LogNormal)")


def test_exponential_families_in_general() -> None:
    """The divergence from the normalizers is that of the closed form."""
    from whygrad.distributions.kl import _one_family

    for name in ("Bernoulli", "Beta", "Dirichlet", "Exponential", "Gamma", "Normal", "Poisson"):
        p, q = FIRST[name].build(whygrad)[0], OTHERS[name].build(whygrad)[0]
        general, closed = _one_family(p, q), kl_divergence(p, q)
        np.testing.assert_allclose(general.detach().numpy(), closed.detach().numpy(), rtol=1e-9)
        entropy = super(type(p), p).entropy if name != "Poisson" else None
        if entropy is not None and hasattr(type(p), "_mean_carrier_measure"):
            np.testing.assert_allclose(
                entropy().detach().numpy(), p.entropy().detach().numpy(), rtol=1e-9
            )


def test_by_samples() -> None:
    """An oracle without formulas: the mean of ln p − ln q over samples of p."""
    whygrad.manual_seed(0)
    for name, other in (("Gamma", "Normal"), ("Normal", "Laplace"), ("Gamma", "Gumbel")):
        p, q = FIRST[name].build(whygrad)[0], OTHERS[other].build(whygrad)[0]
        with whygrad.no_grad():
            x = p.sample((20000,))
            estimate = (p.log_prob(x) - q.log_prob(x)).mean(0)
            np.testing.assert_allclose(
                estimate.numpy(), kl_divergence(p, q).numpy(), rtol=0.05, atol=0.02
            )


def test_bounds_of_the_unit_interval() -> None:
    """A uniform distribution on all of [0, 1] covers a continuous Bernoulli; PyTorch: infinite."""
    module = whygrad.distributions
    bernoulli = module.ContinuousBernoulli(0.3)
    divergence = kl_divergence(bernoulli, module.Uniform(0.0, 1.0))
    assert divergence.item() == pytest.approx(-bernoulli.entropy().item())
    assert kl_divergence(bernoulli, module.Uniform(0.1, 1.0)).item() == math.inf


def test_unknown_pairs_are_refused() -> None:
    module = whygrad.distributions
    with pytest.raises(NotImplementedError, match="register_kl a closed form"):
        kl_divergence(module.Normal(0.0, 1.0), module.Cauchy(0.0, 1.0))


def test_registering() -> None:
    class Mine(Normal):
        """A subclass with a divergence of its own."""

    class Other(Normal):
        """Another one."""

    before = dict(_REGISTRY)
    try:
        register_kl(Mine, Normal)(lambda p, q: "left")
        register_kl(Normal, Other)(lambda p, q: "right")
        assert kl_divergence(Mine(0.0, 1.0), Normal(0.0, 1.0)) == "left"
        assert kl_divergence(Normal(0.0, 1.0), Other(0.0, 1.0)) == "right"
        with pytest.warns(RuntimeWarning, match="Ambiguous kl_divergence"):
            assert kl_divergence(Mine(0.0, 1.0), Other(0.0, 1.0)) == "left"
        with pytest.raises(TypeError, match="Distribution subclass"):
            register_kl(int, Normal)
    finally:
        _REGISTRY.clear()
        _REGISTRY.update(before)
    assert all(issubclass(each, Distribution) for each in itertools.chain(*_REGISTRY))
    assert torch.distributions.kl_divergence is not kl_divergence
