"""Fourier transforms: the sums themselves, PyTorch's functions over them, short-time spectra."""

from whygrad.ops.fourier import (
    frequencies,
    kernels,
    short_time,
    transforms,
)
