"""Many numbers into fewer, and running versions of the same."""

from whygrad.ops.reduction import (
    chosen,
    extrema,
    moments,
    ordering,
    scans,
    sums,
)
