"""Fourier transforms: the sums themselves, PyTorch's functions over them, short-time spectra."""

from whygrad.ops.fourier import (  # noqa: F401  (each declares its ops)
    frequencies,
    kernels,
    short_time,
    transforms,
)
