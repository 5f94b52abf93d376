"""Numbers from 0 to 1, and several that sum to 1."""

from whygrad.distributions.unit.beta import *
from whygrad.distributions.unit.continuous_bernoulli import *
from whygrad.distributions.unit.dirichlet import *
from whygrad.distributions.unit.kumaraswamy import *
from whygrad.distributions.unit.logistic_normal import *
from whygrad.distributions.unit.relaxed_bernoulli import *
from whygrad.distributions.unit.relaxed_categorical import RelaxedOneHotCategorical

__all__ = sorted(name for name in globals() if name[0].isupper())
