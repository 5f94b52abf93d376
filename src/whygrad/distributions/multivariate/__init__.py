"""Vectors and matrices."""

from whygrad.distributions.multivariate.lkj_cholesky import *
from whygrad.distributions.multivariate.lowrank_multivariate_normal import *
from whygrad.distributions.multivariate.multivariate_normal import *
from whygrad.distributions.multivariate.wishart import *

__all__ = sorted(name for name in globals() if name[0].isupper())
