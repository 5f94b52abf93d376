"""Whole numbers and choices."""

from whygrad.distributions.discrete.bernoulli import *
from whygrad.distributions.discrete.binomial import *
from whygrad.distributions.discrete.categorical import *
from whygrad.distributions.discrete.geometric import *
from whygrad.distributions.discrete.multinomial import *
from whygrad.distributions.discrete.negative_binomial import *
from whygrad.distributions.discrete.one_hot_categorical import *
from whygrad.distributions.discrete.poisson import *

__all__ = sorted(name for name in globals() if name[0].isupper())
