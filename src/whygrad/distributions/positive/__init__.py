"""Positive numbers."""

from whygrad.distributions.positive.chi2 import *
from whygrad.distributions.positive.exponential import *
from whygrad.distributions.positive.fishersnedecor import *
from whygrad.distributions.positive.gamma import *
from whygrad.distributions.positive.generalized_pareto import *
from whygrad.distributions.positive.half_cauchy import *
from whygrad.distributions.positive.half_normal import *
from whygrad.distributions.positive.inverse_gamma import *
from whygrad.distributions.positive.log_normal import *
from whygrad.distributions.positive.pareto import *
from whygrad.distributions.positive.weibull import *

__all__ = sorted(name for name in globals() if name[0].isupper())
