"""Probability distributions: samples with gradients, densities, entropies, divergences.

The interface is PyTorch's: ``Normal(loc, scale).rsample()``, ``Categorical(logits=…).log_prob(a)``,
``kl_divergence(p, q)``.  A distribution stands in the module of its name, so
``from whygrad.distributions.normal import Normal`` works as well.  Samples come from whygrad's
generator: the same seed gives the same numbers, but not PyTorch's.
"""

from whygrad.distributions import constraints, kl_pairs, transforms
from whygrad.distributions.bernoulli import Bernoulli
from whygrad.distributions.beta import Beta
from whygrad.distributions.binomial import Binomial
from whygrad.distributions.categorical import Categorical
from whygrad.distributions.cauchy import Cauchy
from whygrad.distributions.chi2 import Chi2
from whygrad.distributions.constraint_registry import biject_to, transform_to
from whygrad.distributions.continuous_bernoulli import ContinuousBernoulli
from whygrad.distributions.dirichlet import Dirichlet
from whygrad.distributions.distribution import Distribution
from whygrad.distributions.exp_family import ExponentialFamily
from whygrad.distributions.exponential import Exponential
from whygrad.distributions.fishersnedecor import FisherSnedecor
from whygrad.distributions.gamma import Gamma
from whygrad.distributions.generalized_pareto import GeneralizedPareto
from whygrad.distributions.geometric import Geometric
from whygrad.distributions.gumbel import Gumbel
from whygrad.distributions.half_cauchy import HalfCauchy
from whygrad.distributions.half_normal import HalfNormal
from whygrad.distributions.independent import Independent
from whygrad.distributions.inverse_gamma import InverseGamma
from whygrad.distributions.kl import kl_divergence, register_kl
from whygrad.distributions.kumaraswamy import Kumaraswamy
from whygrad.distributions.laplace import Laplace
from whygrad.distributions.lkj_cholesky import LKJCholesky
from whygrad.distributions.log_normal import LogNormal
from whygrad.distributions.logistic_normal import LogisticNormal
from whygrad.distributions.lowrank_multivariate_normal import LowRankMultivariateNormal
from whygrad.distributions.mixture_same_family import MixtureSameFamily
from whygrad.distributions.multinomial import Multinomial
from whygrad.distributions.multivariate_normal import MultivariateNormal
from whygrad.distributions.negative_binomial import NegativeBinomial
from whygrad.distributions.normal import Normal
from whygrad.distributions.one_hot_categorical import (
    OneHotCategorical,
    OneHotCategoricalStraightThrough,
)
from whygrad.distributions.pareto import Pareto
from whygrad.distributions.poisson import Poisson
from whygrad.distributions.relaxed_bernoulli import LogitRelaxedBernoulli, RelaxedBernoulli
from whygrad.distributions.relaxed_categorical import RelaxedOneHotCategorical
from whygrad.distributions.studentT import StudentT
from whygrad.distributions.transformed_distribution import TransformedDistribution
from whygrad.distributions.transforms import *
from whygrad.distributions.uniform import Uniform
from whygrad.distributions.von_mises import VonMises
from whygrad.distributions.weibull import Weibull
from whygrad.distributions.wishart import Wishart

__all__ = [
    "Bernoulli", "Beta", "Binomial", "Categorical", "Cauchy", "Chi2", "ContinuousBernoulli",
    "Dirichlet", "Distribution", "Exponential", "ExponentialFamily", "FisherSnedecor", "Gamma",
    "GeneralizedPareto", "Geometric", "Gumbel", "HalfCauchy", "HalfNormal", "Independent",
    "InverseGamma", "Kumaraswamy", "LKJCholesky", "Laplace", "LogNormal", "LogisticNormal",
    "LogitRelaxedBernoulli", "LowRankMultivariateNormal", "MixtureSameFamily", "Multinomial",
    "MultivariateNormal", "NegativeBinomial", "Normal", "OneHotCategorical",
    "OneHotCategoricalStraightThrough", "Pareto", "Poisson", "RelaxedBernoulli",
    "RelaxedOneHotCategorical", "StudentT", "TransformedDistribution", "Uniform", "VonMises",
    "Weibull", "Wishart", "biject_to", "constraints", "kl_divergence", "kl_pairs", "register_kl",
    "transform_to", "transforms",
    *transforms.__all__,
]  # fmt: skip
__all__.sort()
