"""Probability distributions: samples with gradients, densities, entropies, divergences.

The interface is PyTorch's: ``Normal(loc, scale).rsample()``, ``Categorical(logits=…).log_prob(a)``,
``kl_divergence(p, q)``.  A distribution has a module of its name, so
``from whygrad.distributions.normal import Normal`` works as well.  Samples come from whygrad's
generator: the same seed gives the same numbers, but not PyTorch's.
"""
# Written by scripts/stubs.py: run `make stubs` instead of editing.

from whygrad.distributions import constraints as constraints
from whygrad.distributions import kl_pairs as kl_pairs
from whygrad.distributions import transforms as transforms
from whygrad.distributions.constraint_registry import ConstraintRegistry
from whygrad.distributions.discrete.bernoulli import Bernoulli as Bernoulli
from whygrad.distributions.discrete.binomial import Binomial as Binomial
from whygrad.distributions.discrete.categorical import Categorical as Categorical
from whygrad.distributions.discrete.geometric import Geometric as Geometric
from whygrad.distributions.discrete.multinomial import Multinomial as Multinomial
from whygrad.distributions.discrete.negative_binomial import NegativeBinomial as NegativeBinomial
from whygrad.distributions.discrete.one_hot_categorical import (
    OneHotCategorical as OneHotCategorical,
)
from whygrad.distributions.discrete.one_hot_categorical import (
    OneHotCategoricalStraightThrough as OneHotCategoricalStraightThrough,
)
from whygrad.distributions.discrete.poisson import Poisson as Poisson
from whygrad.distributions.distribution import Distribution as Distribution
from whygrad.distributions.exp_family import ExponentialFamily as ExponentialFamily
from whygrad.distributions.independent import Independent as Independent
from whygrad.distributions.kl import kl_divergence as kl_divergence
from whygrad.distributions.kl import register_kl as register_kl
from whygrad.distributions.mixture_same_family import MixtureSameFamily as MixtureSameFamily
from whygrad.distributions.multivariate.lkj_cholesky import LKJCholesky as LKJCholesky
from whygrad.distributions.multivariate.lowrank_multivariate_normal import (
    LowRankMultivariateNormal as LowRankMultivariateNormal,
)
from whygrad.distributions.multivariate.multivariate_normal import (
    MultivariateNormal as MultivariateNormal,
)
from whygrad.distributions.multivariate.wishart import Wishart as Wishart
from whygrad.distributions.positive.chi2 import Chi2 as Chi2
from whygrad.distributions.positive.exponential import Exponential as Exponential
from whygrad.distributions.positive.fishersnedecor import FisherSnedecor as FisherSnedecor
from whygrad.distributions.positive.gamma import Gamma as Gamma
from whygrad.distributions.positive.generalized_pareto import GeneralizedPareto as GeneralizedPareto
from whygrad.distributions.positive.half_cauchy import HalfCauchy as HalfCauchy
from whygrad.distributions.positive.half_normal import HalfNormal as HalfNormal
from whygrad.distributions.positive.inverse_gamma import InverseGamma as InverseGamma
from whygrad.distributions.positive.log_normal import LogNormal as LogNormal
from whygrad.distributions.positive.pareto import Pareto as Pareto
from whygrad.distributions.positive.weibull import Weibull as Weibull
from whygrad.distributions.real.cauchy import Cauchy as Cauchy
from whygrad.distributions.real.gumbel import Gumbel as Gumbel
from whygrad.distributions.real.laplace import Laplace as Laplace
from whygrad.distributions.real.normal import Normal as Normal
from whygrad.distributions.real.studentT import StudentT as StudentT
from whygrad.distributions.real.uniform import Uniform as Uniform
from whygrad.distributions.real.von_mises import VonMises as VonMises
from whygrad.distributions.transformed_distribution import (
    TransformedDistribution as TransformedDistribution,
)
from whygrad.distributions.transforms.combined import CatTransform as CatTransform
from whygrad.distributions.transforms.combined import ComposeTransform as ComposeTransform
from whygrad.distributions.transforms.combined import IndependentTransform as IndependentTransform
from whygrad.distributions.transforms.combined import ReshapeTransform as ReshapeTransform
from whygrad.distributions.transforms.combined import StackTransform as StackTransform
from whygrad.distributions.transforms.elementwise import AbsTransform as AbsTransform
from whygrad.distributions.transforms.elementwise import AffineTransform as AffineTransform
from whygrad.distributions.transforms.elementwise import (
    CumulativeDistributionTransform as CumulativeDistributionTransform,
)
from whygrad.distributions.transforms.elementwise import ExpTransform as ExpTransform
from whygrad.distributions.transforms.elementwise import PowerTransform as PowerTransform
from whygrad.distributions.transforms.elementwise import SigmoidTransform as SigmoidTransform
from whygrad.distributions.transforms.elementwise import SoftplusTransform as SoftplusTransform
from whygrad.distributions.transforms.elementwise import TanhTransform as TanhTransform
from whygrad.distributions.transforms.transform import Transform as Transform
from whygrad.distributions.transforms.vectors import CorrCholeskyTransform as CorrCholeskyTransform
from whygrad.distributions.transforms.vectors import (
    LowerCholeskyTransform as LowerCholeskyTransform,
)
from whygrad.distributions.transforms.vectors import (
    PositiveDefiniteTransform as PositiveDefiniteTransform,
)
from whygrad.distributions.transforms.vectors import SoftmaxTransform as SoftmaxTransform
from whygrad.distributions.transforms.vectors import (
    StickBreakingTransform as StickBreakingTransform,
)
from whygrad.distributions.unit.beta import Beta as Beta
from whygrad.distributions.unit.continuous_bernoulli import (
    ContinuousBernoulli as ContinuousBernoulli,
)
from whygrad.distributions.unit.dirichlet import Dirichlet as Dirichlet
from whygrad.distributions.unit.kumaraswamy import Kumaraswamy as Kumaraswamy
from whygrad.distributions.unit.logistic_normal import LogisticNormal as LogisticNormal
from whygrad.distributions.unit.relaxed_bernoulli import (
    LogitRelaxedBernoulli as LogitRelaxedBernoulli,
)
from whygrad.distributions.unit.relaxed_bernoulli import RelaxedBernoulli as RelaxedBernoulli
from whygrad.distributions.unit.relaxed_categorical import (
    RelaxedOneHotCategorical as RelaxedOneHotCategorical,
)

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
