"""Whole numbers and choices."""
# Written by scripts/stubs.py: run `make stubs` instead of editing.

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

__all__ = [
    "Bernoulli",
    "Binomial",
    "Categorical",
    "Geometric",
    "Multinomial",
    "NegativeBinomial",
    "OneHotCategorical",
    "OneHotCategoricalStraightThrough",
    "Poisson",
]
