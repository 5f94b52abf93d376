"""Vectors and matrices."""
# Written by scripts/stubs.py: run `make stubs` instead of editing.

from whygrad.distributions.multivariate.lkj_cholesky import LKJCholesky as LKJCholesky
from whygrad.distributions.multivariate.lowrank_multivariate_normal import (
    LowRankMultivariateNormal as LowRankMultivariateNormal,
)
from whygrad.distributions.multivariate.multivariate_normal import (
    MultivariateNormal as MultivariateNormal,
)
from whygrad.distributions.multivariate.wishart import Wishart as Wishart

__all__ = ["LKJCholesky", "LowRankMultivariateNormal", "MultivariateNormal", "Wishart"]
