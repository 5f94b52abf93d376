"""Numbers from 0 to 1, and several that sum to 1."""
# Written by scripts/stubs.py: run `make stubs` instead of editing.

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
    "Beta",
    "ContinuousBernoulli",
    "Dirichlet",
    "Kumaraswamy",
    "LogisticNormal",
    "LogitRelaxedBernoulli",
    "RelaxedBernoulli",
    "RelaxedOneHotCategorical",
]
