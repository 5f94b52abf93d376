"""Functions of mathematical physics and statistics, under ``whygrad.special``.

SciPy computes them; it is imported when one is first called.
"""

from whygrad.ops.special import (
    bessel,
    gamma,
    normal,
    polynomials,
)
