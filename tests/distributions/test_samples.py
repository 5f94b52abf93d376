"""Samples: that they have their distribution, and that they move with the parameters as they must.

A sample x of a distribution with distribution function F moves with a parameter θ, its noise held
fixed, by −(∂F/∂θ)/p.  F and p are PyTorch's, so this needs no formula of ours.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from scipy import special, stats

import whygrad
from tests.distributions.cases import CASES
from tests.distributions.test_distributions import BOTH
from whygrad.distributions.draws import beta_slope, gamma_slope

# Continuous numbers whose distribution function PyTorch can differentiate.
MOVING = (
    "Cauchy", "ContinuousBernoulli", "Exponential", "GeneralizedPareto", "Gumbel", "HalfCauchy",
    "HalfNormal", "Kumaraswamy", "Laplace", "LogNormal", "Normal", "Pareto",
    "TransformedDistribution", "Uniform", "Weibull",
)  # fmt: skip
COUNT = 4000


@pytest.fixture(autouse=True)
def _double_precision() -> Iterator[None]:
    for library in BOTH.values():
        library.set_default_dtype(library.float64)
    with whygrad.fork_rng():
        whygrad.manual_seed(11)
        yield
    for library in BOTH.values():
        library.set_default_dtype(library.float32)


def test_samples_move_with_the_parameters() -> None:
    for name in MOVING:
        distribution, parameters = CASES[name].build(whygrad)
        x = distribution.rsample((4,))
        moved = whygrad.autograd.grad(x.sum(), parameters, allow_unused=True)
        theirs, inputs = CASES[name].build(torch)
        at = torch.tensor(x.detach().numpy())
        density = theirs.log_prob(at).exp().detach()
        slopes = torch.autograd.grad((theirs.cdf(at) / density).sum(), inputs, allow_unused=True)
        for mine, slope in zip(moved, slopes, strict=True):
            np.testing.assert_allclose(mine.numpy(), -slope.numpy(), rtol=1e-6, err_msg=name)


def test_gamma_numbers_move_as_in_pytorch() -> None:
    rng = np.random.default_rng(0)
    a = np.exp(rng.uniform(np.log(0.02), np.log(300), 400))
    x = np.maximum(rng.standard_gamma(a), 1e-30)
    mine = gamma_slope(whygrad.tensor(a), whygrad.tensor(x)).numpy()
    theirs = torch._standard_gamma_grad(torch.tensor(a), torch.tensor(x)).numpy()
    np.testing.assert_allclose(mine, theirs, rtol=3e-3)  # PyTorch approximates
    chance = special.gammainc(a, x)
    usual = (chance > 1e-6) & (chance < 1 - 1e-6)  # SciPy inverts it there with all its digits
    step = 1e-4 * a[usual]
    after, before = (special.gammaincinv(a[usual] + way * step, chance[usual]) for way in (1, -1))
    np.testing.assert_allclose(mine[usual], (after - before) / (2 * step), rtol=2e-5)


def test_shares_move_as_in_pytorch() -> None:
    rng = np.random.default_rng(1)
    a, b = np.exp(rng.uniform(np.log(0.1), np.log(50), (2, 400)))
    x = np.clip(rng.beta(a, b), 1e-12, 1 - 1e-9)
    arrays = x, a, a + b
    mine = beta_slope(*map(whygrad.tensor, arrays)).numpy()
    theirs = torch._dirichlet_grad(*map(torch.tensor, arrays)).numpy()
    np.testing.assert_allclose(mine, theirs, rtol=5e-3, atol=1e-8)


@pytest.mark.parametrize("name", ["Gamma", "Chi2", "Beta", "Dirichlet", "StudentT"])
def test_reparameterized_means(name: str) -> None:
    """The mean gradient of a function of samples is the gradient of its mean."""
    distribution, parameters = CASES[name].build(whygrad)
    if name == "StudentT":  # a mean and a variance exist from df = 2 on
        parameters = [whygrad.tensor([3.0, 5.0]).requires_grad_()]
        distribution = whygrad.distributions.StudentT(parameters[0])
    x = distribution.rsample((COUNT,))
    function = x.abs() if name == "StudentT" else x + x * x
    estimate = whygrad.autograd.grad(function.mean(0).sum(), parameters, retain_graph=True)
    if name == "StudentT":
        df = parameters[0].detach().requires_grad_()
        half = 0.5 * df
        expected = 2 * df.sqrt() / (df - 1) * ((half + 0.5).lgamma() - half.lgamma()).exp()
        expected = expected / math.sqrt(math.pi)
        slopes = whygrad.autograd.grad(expected.sum(), [df])
    else:
        mean = distribution.mean + distribution.variance + distribution.mean**2
        slopes = whygrad.autograd.grad(mean.sum(), parameters)
    for one, other in zip(estimate, slopes, strict=True):
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=0.2, atol=0.03)


def test_second_derivatives_of_such_samples_are_refused() -> None:
    a = whygrad.tensor([1.5]).requires_grad_()
    sample = whygrad.distributions.Gamma(a, 1.0).rsample()
    (slope,) = whygrad.autograd.grad(sample.sum(), a, create_graph=True)
    with pytest.raises(RuntimeError):
        whygrad.autograd.grad(slope.sum(), a)


@pytest.mark.parametrize("name", sorted(CASES))
def test_samples_have_their_distribution(name: str) -> None:
    """Numbers with a distribution function by Kolmogorov's test, all others by their moments."""
    distribution, _ = CASES[name].build(whygrad)
    with whygrad.no_grad():
        samples = distribution.sample((COUNT,))
        if name in MOVING:
            chances = distribution.cdf(samples).numpy().reshape(COUNT, -1).T
            assert min(stats.kstest(each, "uniform").pvalue for each in chances) > 1e-4
        elif name.startswith("Categorical"):
            frequencies = whygrad.one_hot(samples, 3).double().mean(0)
            np.testing.assert_allclose(
                frequencies.numpy(), distribution.probs.detach().numpy(), atol=0.04
            )
        elif name == "VonMises":  # mean and variance are those of points on a circle
            center = np.exp(1j * samples.numpy()).mean(0)
            mean, variance = distribution.mean.detach(), distribution.variance.detach()
            np.testing.assert_allclose(np.angle(center), mean.numpy(), atol=0.2)
            np.testing.assert_allclose(1 - np.abs(center), variance.numpy(), atol=0.03)
        else:
            _check_moments(distribution, samples)


def _check_moments(distribution: Any, samples: Any) -> None:
    try:
        moments = distribution.mean, distribution.variance
    except NotImplementedError:
        return  # relaxed ones and shares of normal numbers: their parts are checked elsewhere
    mean, variance = (each.detach().numpy() for each in moments)
    usual = np.isfinite(variance) & (variance < 30)
    error = np.sqrt(variance[usual] / COUNT)
    assert (np.abs(samples.mean(0).numpy() - mean)[usual] < 5 * error + 1e-12).all()
    spread = samples.var(0).numpy()[usual]
    np.testing.assert_allclose(spread, variance[usual], rtol=0.35, atol=0.02)


def test_seeds() -> None:
    for name, case in CASES.items():
        distribution, _ = case.build(whygrad)
        drawn = []
        for seed in (5, 5, 6):
            whygrad.manual_seed(seed)
            drawn.append(distribution.sample((64,)).numpy())
        np.testing.assert_array_equal(drawn[0], drawn[1], err_msg=name)
        assert (drawn[0] != drawn[2]).any(), name


def test_the_default_device_changes_nothing() -> None:
    """Samples and densities are where the parameters are."""
    for name, case in CASES.items():
        distribution, _ = case.build(whygrad)
        with whygrad.device("meta"):
            sample = distribution.sample()
            assert sample.device.type == "cpu", name
            try:
                found = distribution.log_prob(sample)
            except NotImplementedError:  # some have no density
                continue
        assert found.device.type == "cpu", name


def test_half_precision_and_extremes() -> None:
    module = whygrad.distributions
    for dtype in (whygrad.float32, whygrad.float16):
        small = whygrad.full((200,), 1e-3, dtype=dtype)
        gamma = module.Gamma(small, whygrad.ones(200, dtype=dtype)).sample()
        assert gamma.dtype is dtype
        assert bool((gamma > 0).all())
        shares = module.Dirichlet(small.reshape(50, 4)).sample()
        assert bool(((shares > 0) & (shares < 1)).all())
    large = whygrad.tensor([1e5]).requires_grad_()
    sample = module.Gamma(large, 1.0).rsample()
    (slope,) = whygrad.autograd.grad(sample.sum(), large)
    assert slope.item() == pytest.approx(1.0, abs=0.02)


def test_vmap_draws() -> None:
    module = whygrad.distributions

    def draw(loc: Any) -> Any:
        return module.Normal(loc, 1.0, validate_args=False).rsample()

    drawn = whygrad.vmap(draw, randomness="different")(whygrad.zeros(5))
    assert len(set(drawn.tolist())) == 5
