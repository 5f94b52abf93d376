"""Positive numbers."""
# Written by scripts/stubs.py: run `make stubs` instead of editing.

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

__all__ = [
    "Chi2",
    "Exponential",
    "FisherSnedecor",
    "Gamma",
    "GeneralizedPareto",
    "HalfCauchy",
    "HalfNormal",
    "InverseGamma",
    "LogNormal",
    "Pareto",
    "Weibull",
]
