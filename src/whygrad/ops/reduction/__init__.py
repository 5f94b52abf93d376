"""Many numbers into fewer, and running versions of the same."""

from whygrad.ops.reduction import (  # noqa: F401  (each declares its ops)
    chosen,
    distances,
    extrema,
    histograms,
    moments,
    ordering,
    quantiles,
    scans,
    statistics,
    sums,
)
