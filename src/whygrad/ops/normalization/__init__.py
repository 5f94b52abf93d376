"""Ops that bring numbers to a common size: by mean and variance, by root mean square, by norm."""

from whygrad.ops.normalization import (
    channels,
    groups,
    lengths,
    native,
    rows,
)
