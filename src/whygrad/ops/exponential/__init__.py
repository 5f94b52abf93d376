"""Exponentials, logarithms, trigonometry and special functions."""

from whygrad.ops.exponential import (
    exponential,
    special,
    trigonometry,
)
