"""Every distribution, made of the same numbers in both libraries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Make = Callable[[Any, dict[str, Any]], Any]


class Case:
    """Parameters that want gradients, and how to make the distribution of them."""

    def __init__(self, make: Make, tolerance: float = 1e-7, **parameters: Any) -> None:
        self.make = make
        self.tolerance = tolerance
        self.parameters = {name: np.asarray(each, float) for name, each in parameters.items()}

    def build(self, library: Any) -> tuple[Any, list[Any]]:
        tensors = {
            name: library.tensor(each.tolist(), dtype=library.float64).requires_grad_()
            for name, each in self.parameters.items()
        }
        return self.make(library.distributions, tensors), list(tensors.values())


def plain(name: str, **options: Any) -> Make:
    """The class ``name`` with the parameters as its arguments."""
    return lambda module, tensors: getattr(module, name)(**tensors, **options)


A, B = [0.7, 1.5, 3.2], [1.1, 0.4, 2.3]
ROWS = [[0.2, 0.5, 0.3], [0.6, 0.1, 0.3]]
LOGITS = [[0.3, -1.2, 0.8], [2.0, 0.1, -0.5]]
FACTOR = [[1.2, 0.0], [0.5, 0.8]]
COVARIANCE = [[2.0, 0.3], [0.3, 1.0]]

CASES: dict[str, Case] = {
    "Bernoulli": Case(plain("Bernoulli"), probs=[0.2, 0.5, 0.9]),
    "Bernoulli, logits": Case(plain("Bernoulli"), logits=[-1.0, 0.3, 4.0]),
    "Beta": Case(plain("Beta"), concentration1=A, concentration0=B),
    "Binomial": Case(plain("Binomial", total_count=5), probs=[0.2, 0.5, 0.9]),
    "Binomial, logits": Case(plain("Binomial", total_count=4), logits=[-1.0, 0.3, 2.0]),
    "Categorical": Case(plain("Categorical"), probs=ROWS),
    "Categorical, logits": Case(plain("Categorical"), logits=LOGITS),
    "Cauchy": Case(plain("Cauchy"), loc=[-1.0, 0.5], scale=[0.4, 2.0]),
    "Chi2": Case(plain("Chi2"), df=A),
    "ContinuousBernoulli": Case(plain("ContinuousBernoulli"), probs=[0.2, 0.4995, 0.9]),
    "ContinuousBernoulli, logits": Case(plain("ContinuousBernoulli"), logits=[-1.0, 0.0, 2.0]),
    "Dirichlet": Case(plain("Dirichlet"), concentration=[[0.7, 2.5, 1.2], [1.5, 3.0, 2.0]]),
    "Exponential": Case(plain("Exponential"), rate=A),
    "FisherSnedecor": Case(plain("FisherSnedecor"), df1=[1.5, 3.0, 7.0], df2=[1.0, 3.0, 9.0]),
    "Gamma": Case(plain("Gamma"), concentration=A, rate=B),
    "GeneralizedPareto": Case(
        plain("GeneralizedPareto"), loc=[0.1, 1.0, 0.0], scale=B, concentration=[0.2, 0.0, -0.3]
    ),
    "Geometric": Case(plain("Geometric"), probs=[0.2, 0.5, 0.9]),
    "Geometric, logits": Case(plain("Geometric"), logits=[-1.0, 0.3, 2.0]),
    "Gumbel": Case(plain("Gumbel"), loc=[-1.0, 0.5, 0.0], scale=B),
    "HalfCauchy": Case(plain("HalfCauchy"), scale=A),
    "HalfNormal": Case(plain("HalfNormal"), scale=A),
    "Independent": Case(
        lambda module, p: module.Independent(module.Normal(**p), 1), loc=ROWS, scale=ROWS
    ),
    "InverseGamma": Case(plain("InverseGamma"), concentration=A, rate=B),
    "Kumaraswamy": Case(plain("Kumaraswamy"), concentration1=A, concentration0=B),
    "LKJCholesky": Case(plain("LKJCholesky", dim=3), concentration=[0.6, 2.0]),
    "Laplace": Case(plain("Laplace"), loc=[-1.0, 0.5, 0.0], scale=B),
    "LogNormal": Case(plain("LogNormal"), loc=[-1.0, 0.5, 0.0], scale=[0.4, 1.0, 0.2]),
    "LogisticNormal": Case(plain("LogisticNormal"), loc=ROWS, scale=ROWS),
    "LogitRelaxedBernoulli": Case(
        lambda module, p: module.relaxed_bernoulli.LogitRelaxedBernoulli(**p),
        temperature=0.7, probs=[0.2, 0.5, 0.9],
    ),
    "LowRankMultivariateNormal": Case(
        plain("LowRankMultivariateNormal"),
        loc=[[0.1, -0.4, 1.0]], cov_factor=[[0.5], [1.0], [-0.3]], cov_diag=[0.5, 1.0, 2.0],
    ),
    "MixtureSameFamily": Case(
        lambda module, p: module.MixtureSameFamily(
            module.Categorical(logits=p["logits"]), module.Normal(p["loc"], p["scale"])
        ),
        logits=LOGITS, loc=ROWS, scale=ROWS,
    ),
    "MixtureSameFamily of vectors": Case(
        lambda module, p: module.MixtureSameFamily(
            module.Categorical(logits=p["logits"]),
            module.Independent(module.Normal(p["loc"], 0.5), 1),
        ),
        logits=[0.2, 0.7], loc=ROWS,
    ),
    "Multinomial": Case(plain("Multinomial", total_count=4), probs=ROWS),
    "Multinomial, logits": Case(plain("Multinomial", total_count=3), logits=LOGITS),
    "MultivariateNormal": Case(
        plain("MultivariateNormal"), loc=[[0.1, -0.4], [1.0, 2.0]], covariance_matrix=COVARIANCE
    ),
    "MultivariateNormal, precision": Case(
        plain("MultivariateNormal"), loc=[0.1, -0.4], precision_matrix=[COVARIANCE, COVARIANCE]
    ),
    "MultivariateNormal, factor": Case(
        plain("MultivariateNormal"), loc=[0.1, -0.4], scale_tril=FACTOR
    ),
    "NegativeBinomial": Case(plain("NegativeBinomial"), total_count=A, probs=[0.2, 0.5, 0.9]),
    "NegativeBinomial, logits": Case(
        plain("NegativeBinomial"), total_count=A, logits=[-1.0, 0.3, 1.0]
    ),
    "Normal": Case(plain("Normal"), loc=[-1.0, 0.5, 0.0], scale=B),
    "OneHotCategorical": Case(plain("OneHotCategorical"), probs=ROWS),
    "OneHotCategoricalStraightThrough": Case(
        plain("OneHotCategoricalStraightThrough"), logits=LOGITS
    ),
    "Pareto": Case(plain("Pareto"), scale=B, alpha=[0.8, 1.7, 3.5]),
    "Poisson": Case(plain("Poisson"), rate=A),
    "RelaxedBernoulli": Case(plain("RelaxedBernoulli"), temperature=0.7, logits=[-1.0, 0.3, 2.0]),
    "RelaxedOneHotCategorical": Case(
        plain("RelaxedOneHotCategorical"), temperature=0.7, probs=ROWS
    ),
    "StudentT": Case(plain("StudentT"), df=[0.8, 1.7, 5.0], loc=[-1.0, 0.5, 0.0], scale=B),
    "TransformedDistribution": Case(
        lambda module, p: module.TransformedDistribution(
            module.Normal(**p),
            [
                module.TanhTransform(),
                module.AffineTransform(0.5, 2.0),
                module.transforms.ComposeTransform([module.ExpTransform()]),
            ],
        ),
        loc=[-0.3, 0.5, 0.0], scale=[0.4, 0.3, 0.5],
    ),
    "TransformedDistribution of vectors": Case(
        lambda module, p: module.TransformedDistribution(
            module.Normal(**p), [module.AffineTransform(0.1, -1.5), module.StickBreakingTransform()]
        ),
        loc=ROWS, scale=ROWS,
    ),
    "Uniform": Case(plain("Uniform"), low=[-1.0, 0.2], high=[0.5, 4.0]),
    # PyTorch approximates the Bessel functions
    "VonMises": Case(plain("VonMises"), 1e-5, loc=[0.5, -2.0, 3.0], concentration=[0.3, 2.0, 9.0]),
    "Weibull": Case(plain("Weibull"), scale=A, concentration=B),
    "Wishart": Case(plain("Wishart"), df=[3.5, 6.0], covariance_matrix=COVARIANCE),
    "Wishart, precision": Case(plain("Wishart"), df=4.0, precision_matrix=COVARIANCE),
    "Wishart, factor": Case(plain("Wishart"), df=[2.5, 3.0], scale_tril=FACTOR),
}  # fmt: skip
