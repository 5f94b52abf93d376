"""Sums, products, powers, rounding and bounds, element by element."""

from whygrad.ops.arithmetic import (  # noqa: F401  (each declares its ops)
    arithmetic,
    bounds,
    powers,
    rounding,
)
