"""Which frequency stands where in a spectrum, and spectra with frequency 0 in the middle."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np

from whygrad.ops.creation.creation import Options, build
from whygrad.ops.define import composite, table
from whygrad.ops.geometry import dims_or_all
from whygrad.tensor import Tensor, dtypes


def fft_fftfreq(n: int, d: float = 1.0, **options: Unpack[Options]) -> Tensor:
    """The frequency of each element of a spectrum: 0, 1, …, −2, −1 over n·d."""
    return build("fft.fftfreq", (n,), lambda dtype: np.fft.fftfreq(n, d).astype(dtype), options)


def fft_rfftfreq(n: int, d: float = 1.0, **options: Unpack[Options]) -> Tensor:
    """The frequency of each element of half a spectrum: 0, 1, …, n//2 over n·d."""
    return build(
        "fft.rfftfreq",
        (n // 2 + 1,),
        lambda dtype: np.fft.rfftfreq(n, d).astype(dtype),
        options,
    )


def fft_fftshift(input: Tensor, dim: Any = None) -> Tensor:
    """Frequency 0 from the front to the middle."""
    dims = dims_or_all(dim, input.ndim, "fft.fftshift")
    return table["roll"].public(input, tuple(input.shape[each] // 2 for each in dims), dims)


def fft_ifftshift(input: Tensor, dim: Any = None) -> Tensor:
    """Frequency 0 from the middle to the front."""
    dims = dims_or_all(dim, input.ndim, "fft.ifftshift")
    return table["roll"].public(input, tuple(-(input.shape[each] // 2) for each in dims), dims)


for _function in (fft_fftfreq, fft_rfftfreq):
    composite(
        _function,
        "y = k/(n·d)",
        differentiable=False,
        torch=_function.__name__.replace("_", ".", 1),
        samples=lambda make: [
            make.call(5, dtype=dtypes.float64),
            make.call(4, 0.5, dtype=dtypes.float64),
        ],
    )
for _shift in (fft_fftshift, fft_ifftshift):
    composite(
        _shift,
        "y = x rolled by half of each dimension",
        torch=_shift.__name__.replace("_", ".", 1),
        samples=lambda make: [
            make.call(make(5)),
            make.call(make(3, 4), 1),
            make.call(make(3, 4), dim=(0, 1)),
        ],
    )
