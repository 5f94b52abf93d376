"""Numbers of the whole line, a piece of it, or a circle."""

from whygrad.distributions.real.cauchy import *
from whygrad.distributions.real.gumbel import *
from whygrad.distributions.real.laplace import *
from whygrad.distributions.real.normal import *
from whygrad.distributions.real.studentT import *
from whygrad.distributions.real.uniform import *
from whygrad.distributions.real.von_mises import *

__all__ = sorted(name for name in globals() if name[0].isupper())
