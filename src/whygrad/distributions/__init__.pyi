"""Probability distributions: samples with gradients, densities, entropies, divergences.

The interface is PyTorch's: ``Normal(loc, scale).rsample()``, ``Categorical(logits=…).log_prob(a)``,
``kl_divergence(p, q)``.  A distribution stands in the module of its name, so
``from whygrad.distributions.normal import Normal`` works as well.  Samples come from whygrad's
generator: the same seed gives the same numbers, but not PyTorch's.
"""
# Written by scripts/stubs.py: run `make stubs` instead of editing.

from whygrad.distributions import constraints as constraints
from whygrad.distributions import kl_pairs as kl_pairs
from whygrad.distributions import transforms as transforms
from whygrad.distributions.bernoulli import Bernoulli as Bernoulli
from whygrad.distributions.beta import Beta as Beta
from whygrad.distributions.binomial import Binomial as Binomial
from whygrad.distributions.categorical import Categorical as Categorical
from whygrad.distributions.cauchy import Cauchy as Cauchy
from whygrad.distributions.chi2 import Chi2 as Chi2
from whygrad.distributions.constraint_registry import ConstraintRegistry
from whygrad.distributions.continuous_bernoulli import ContinuousBernoulli as ContinuousBernoulli
from whygrad.distributions.dirichlet import Dirichlet as Dirichlet
from whygrad.distributions.distribution import Distribution as Distribution
from whygrad.distributions.exp_family import ExponentialFamily as ExponentialFamily
from whygrad.distributions.exponential import Exponential as Exponential
from whygrad.distributions.fishersnedecor import FisherSnedecor as FisherSnedecor
from whygrad.distributions.gamma import Gamma as Gamma
from whygrad.distributions.generalized_pareto import GeneralizedPareto as GeneralizedPareto
from whygrad.distributions.geometric import Geometric as Geometric
from whygrad.distributions.gumbel import Gumbel as Gumbel
from whygrad.distributions.half_cauchy import HalfCauchy as HalfCauchy
from whygrad.distributions.half_normal import HalfNormal as HalfNormal
from whygrad.distributions.independent import Independent as Independent
from whygrad.distributions.inverse_gamma import InverseGamma as InverseGamma
from whygrad.distributions.kl import kl_divergence as kl_divergence
from whygrad.distributions.kl import register_kl as register_kl
from whygrad.distributions.kumaraswamy import Kumaraswamy as Kumaraswamy
from whygrad.distributions.laplace import Laplace as Laplace
from whygrad.distributions.lkj_cholesky import LKJCholesky as LKJCholesky
from whygrad.distributions.log_normal import LogNormal as LogNormal
from whygrad.distributions.logistic_normal import LogisticNormal as LogisticNormal
from whygrad.distributions.lowrank_multivariate_normal import (
    LowRankMultivariateNormal as LowRankMultivariateNormal,
)
from whygrad.distributions.mixture_same_family import MixtureSameFamily as MixtureSameFamily
from whygrad.distributions.multinomial import Multinomial as Multinomial
from whygrad.distributions.multivariate_normal import MultivariateNormal as MultivariateNormal
from whygrad.distributions.negative_binomial import NegativeBinomial as NegativeBinomial
from whygrad.distributions.normal import Normal as Normal
from whygrad.distributions.one_hot_categorical import OneHotCategorical as OneHotCategorical
from whygrad.distributions.one_hot_categorical import (
    OneHotCategoricalStraightThrough as OneHotCategoricalStraightThrough,
)
from whygrad.distributions.pareto import Pareto as Pareto
from whygrad.distributions.poisson import Poisson as Poisson
from whygrad.distributions.relaxed_bernoulli import LogitRelaxedBernoulli as LogitRelaxedBernoulli
from whygrad.distributions.relaxed_bernoulli import RelaxedBernoulli as RelaxedBernoulli
from whygrad.distributions.relaxed_categorical import (
    RelaxedOneHotCategorical as RelaxedOneHotCategorical,
)
from whygrad.distributions.studentT import StudentT as StudentT
from whygrad.distributions.transform import ComposeTransform as ComposeTransform
from whygrad.distributions.transform import IndependentTransform as IndependentTransform
from whygrad.distributions.transform import ReshapeTransform as ReshapeTransform
from whygrad.distributions.transform import Transform as Transform
from whygrad.distributions.transformed_distribution import (
    TransformedDistribution as TransformedDistribution,
)
from whygrad.distributions.transforms import AbsTransform as AbsTransform
from whygrad.distributions.transforms import AffineTransform as AffineTransform
from whygrad.distributions.transforms import CatTransform as CatTransform
from whygrad.distributions.transforms import CorrCholeskyTransform as CorrCholeskyTransform
from whygrad.distributions.transforms import (
    CumulativeDistributionTransform as CumulativeDistributionTransform,
)
from whygrad.distributions.transforms import ExpTransform as ExpTransform
from whygrad.distributions.transforms import LowerCholeskyTransform as LowerCholeskyTransform
from whygrad.distributions.transforms import PositiveDefiniteTransform as PositiveDefiniteTransform
from whygrad.distributions.transforms import PowerTransform as PowerTransform
from whygrad.distributions.transforms import SigmoidTransform as SigmoidTransform
from whygrad.distributions.transforms import SoftmaxTransform as SoftmaxTransform
from whygrad.distributions.transforms import SoftplusTransform as SoftplusTransform
from whygrad.distributions.transforms import StackTransform as StackTransform
from whygrad.distributions.transforms import StickBreakingTransform as StickBreakingTransform
from whygrad.distributions.transforms import TanhTransform as TanhTransform
from whygrad.distributions.uniform import Uniform as Uniform
from whygrad.distributions.von_mises import VonMises as VonMises
from whygrad.distributions.weibull import Weibull as Weibull
from whygrad.distributions.wishart import Wishart as Wishart

__all__ = [
    "AbsTransform",
    "AffineTransform",
    "Bernoulli",
    "Beta",
    "Binomial",
    "CatTransform",
    "Categorical",
    "Cauchy",
    "Chi2",
    "ComposeTransform",
    "ContinuousBernoulli",
    "CorrCholeskyTransform",
    "CumulativeDistributionTransform",
    "Dirichlet",
    "Distribution",
    "ExpTransform",
    "Exponential",
    "ExponentialFamily",
    "FisherSnedecor",
    "Gamma",
    "GeneralizedPareto",
    "Geometric",
    "Gumbel",
    "HalfCauchy",
    "HalfNormal",
    "Independent",
    "IndependentTransform",
    "InverseGamma",
    "Kumaraswamy",
    "LKJCholesky",
    "Laplace",
    "LogNormal",
    "LogisticNormal",
    "LogitRelaxedBernoulli",
    "LowRankMultivariateNormal",
    "LowerCholeskyTransform",
    "MixtureSameFamily",
    "Multinomial",
    "MultivariateNormal",
    "NegativeBinomial",
    "Normal",
    "OneHotCategorical",
    "OneHotCategoricalStraightThrough",
    "Pareto",
    "Poisson",
    "PositiveDefiniteTransform",
    "PowerTransform",
    "RelaxedBernoulli",
    "RelaxedOneHotCategorical",
    "ReshapeTransform",
    "SigmoidTransform",
    "SoftmaxTransform",
    "SoftplusTransform",
    "StackTransform",
    "StickBreakingTransform",
    "StudentT",
    "TanhTransform",
    "Transform",
    "TransformedDistribution",
    "Uniform",
    "VonMises",
    "Weibull",
    "Wishart",
    "biject_to",
    "constraints",
    "identity_transform",
    "kl_divergence",
    "kl_pairs",
    "register_kl",
    "transform_to",
    "transforms",
]

biject_to: ConstraintRegistry

identity_transform: ComposeTransform

transform_to: ConstraintRegistry
