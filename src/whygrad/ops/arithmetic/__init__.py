"""Sums, products, powers, rounding and bounds, element by element."""

from whygrad.ops.arithmetic import (
    arithmetic,
    bounds,
    powers,
    rounding,
)
