"""Many numbers into fewer, and running versions of the same."""

from whygrad.ops.reduction import (  # noqa: F401  (each declares its ops)
    chosen,
    extrema,
    moments,
    ordering,
    scans,
    sums,
)
