"""Exponentials, logarithms, trigonometry and special functions."""

from whygrad.ops.exponential import (  # noqa: F401  (each declares its ops)
    exponential,
    special,
    trigonometry,
)
