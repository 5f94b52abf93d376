"""Numbers of the whole line, a piece of it, or a circle."""
# Written by scripts/stubs.py: run `make stubs` instead of editing.

from whygrad.distributions.real.cauchy import Cauchy as Cauchy
from whygrad.distributions.real.gumbel import Gumbel as Gumbel
from whygrad.distributions.real.laplace import Laplace as Laplace
from whygrad.distributions.real.normal import Normal as Normal
from whygrad.distributions.real.studentT import StudentT as StudentT
from whygrad.distributions.real.uniform import Uniform as Uniform
from whygrad.distributions.real.von_mises import VonMises as VonMises

__all__ = ["Cauchy", "Gumbel", "Laplace", "Normal", "StudentT", "Uniform", "VonMises"]
