"""Invertible functions with the logarithm of how much they stretch: elements and vectors.

A transform maps its ``domain`` to its ``codomain``; ``transform.inv`` goes back.
``log_abs_det_jacobian(x, y)`` is ln |dy/dx| per event of the domain.
"""

from whygrad.distributions.transforms.combined import *
from whygrad.distributions.transforms.elementwise import *
from whygrad.distributions.transforms.transform import Transform
from whygrad.distributions.transforms.vectors import *

__all__ = sorted(["identity_transform", *(name for name in globals() if name[0].isupper())])
