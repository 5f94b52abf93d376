"""Probability distributions: samples with gradients, densities, entropies, divergences.

The interface is PyTorch's: ``Normal(loc, scale).rsample()``, ``Categorical(logits=…).log_prob(a)``,
``kl_divergence(p, q)``.  A distribution has a module of its name, so
``from whygrad.distributions.normal import Normal`` works as well.  Samples come from whygrad's
generator: the same seed gives the same numbers, but not PyTorch's.
"""

from whygrad import aliases as _aliases
from whygrad.distributions import constraints, kl_pairs, transforms
from whygrad.distributions.constraint_registry import biject_to, transform_to
from whygrad.distributions.discrete import *
from whygrad.distributions.distribution import Distribution
from whygrad.distributions.exp_family import ExponentialFamily
from whygrad.distributions.independent import Independent
from whygrad.distributions.kl import kl_divergence, register_kl
from whygrad.distributions.mixture_same_family import MixtureSameFamily
from whygrad.distributions.multivariate import *
from whygrad.distributions.positive import *
from whygrad.distributions.real import *
from whygrad.distributions.transformed_distribution import TransformedDistribution
from whygrad.distributions.transforms import *
from whygrad.distributions.unit import *

_aliases.load_inside(__name__)
__all__ = sorted(
    [
        "biject_to", "constraints", "identity_transform", "kl_divergence", "kl_pairs",
        "register_kl", "transform_to", "transforms",
        *(name for name in globals() if name[0].isupper()),
    ]
)  # fmt: skip
