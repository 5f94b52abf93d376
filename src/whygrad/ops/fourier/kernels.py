"""The three sums that every Fourier transform is made of, without any scaling.

Complex to complex, real to half a spectrum, half a spectrum to real.  The second half of the
spectrum of real numbers mirrors the first; that is why a gradient counts the inner ones twice.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from whygrad.ops.batching import shift_dims
from whygrad.ops.define import define

Array = Any
Dims = tuple[int, ...]


def _along(x: Array, dim: int, item: slice) -> tuple[Any, ...]:
    return (*(slice(None),) * (dim % x.ndim), item)


def _complex_of(dtype: Any) -> Any:
    return np.dtype(np.complex64 if dtype == np.float32 else np.complex128)


def _c2c(x: Array, dim: Dims, inverse: bool) -> Array:
    if not dim or not x.size:
        return x.copy()
    if inverse:
        return np.fft.ifftn(x, axes=dim, norm="forward")
    return np.fft.fftn(x, axes=dim)


def _r2c_rule(xp: Any, incoming: Array, x_shape: Any, dim: int) -> Array:
    whole = (*incoming.shape[:dim], x_shape[dim], *incoming.shape[dim + 1 :])
    index = _along(incoming, dim, slice(0, incoming.shape[dim]))
    return xp.real_part(xp.fft_c2c(xp.slice_backward(incoming, whole, index), (dim,), True))


def _mirrored(x: Array, dim: int, n: int) -> Array:
    """Twice the elements that have a mirror image in the other half of a spectrum of length n."""
    weights = np.full(x.shape[dim], 2, x.real.dtype)
    weights[0] = 1
    if n % 2 == 0:
        weights[n // 2 :] = 1
    return x * weights.reshape(-1, *(1,) * (x.ndim - dim - 1))


def _complex_sample(transform: Any, x: Any, *args: Any) -> Any:
    """For samples: a complex number made of a real one, the result as real numbers."""
    y = transform(x * (1 + 0.5j), *args)
    return (y.real, y.imag) if y.dtype.is_complex else y


def _both_parts(transform: Any, x: Any, *args: Any) -> Any:
    y = transform(x, *args)
    return y.real, y.imag


define(
    "fft_c2c(x; dim, inverse)",
    "y[k] = Σ x[j]·e^(∓2πijk/n) along each of dim;  ∂x = the same sum of incoming",
    forward=_c2c,
    vjp={"x": lambda xp, incoming, dim, inverse: xp.fft_c2c(incoming, dim, inverse)},
    linear=True,
    meta=lambda x, dim, inverse: (x.shape, x.dtype),
    batching=shift_dims("dim"),
    internal=True,
    samples=lambda make: [
        make.around(_complex_sample, make(3, 4), (0, 1), False),
        make.around(_complex_sample, make(5), (0,), True),
    ],
)
define(
    "fft_r2c(x; dim)",
    "y[k] = Σ x[j]·e^(−2πijk/n) for k ≤ n/2;  ∂x = the real part of the sum over incoming",
    forward=lambda x, dim: np.fft.rfft(x, axis=dim),
    vjp={"x": _r2c_rule},
    linear=True,
    complex_rule="own",
    meta=lambda x, dim: (
        (*x.shape[:dim], x.shape[dim] // 2 + 1, *x.shape[dim + 1 :]),
        _complex_of(x.dtype),
    ),
    batching=shift_dims("dim"),
    internal=True,
    samples=lambda make: [
        make.around(_both_parts, make(4, 3), 0),
        make.around(_both_parts, make(2, 5), 1),
    ],
)
define(
    "fft_c2r(x; dim, n)",
    "y[j] = Re Σ x[k]·e^(2πijk/n), inner terms twice;  ∂x = r2c of incoming, inner terms twice",
    forward=lambda x, dim, n: np.fft.irfft(x, n, dim, "forward"),
    vjp={"x": lambda xp, incoming, dim, n: xp.fft_mirrored(xp.fft_r2c(incoming, dim), dim, n)},
    linear=True,
    complex_rule="own",
    meta=lambda x, dim, n: ((*x.shape[:dim], n, *x.shape[dim + 1 :]), x.real.dtype),
    batching=shift_dims("dim"),
    internal=True,
    samples=lambda make: [
        make.around(_complex_sample, make(3, 2), 0, 4),
        make.around(_complex_sample, make(3), 0, 5),
    ],
)
define(
    "fft_mirrored(x; dim, n)",
    "y = x, twice where the spectrum has a mirror image;  ∂x = incoming, likewise",
    forward=_mirrored,
    vjp={"x": lambda xp, incoming, dim, n: xp.fft_mirrored(incoming, dim, n)},
    linear=True,
    meta=lambda x, dim, n: (x.shape, x.dtype),
    batching=shift_dims("dim"),
    internal=True,
    samples=lambda make: [make.call(make(3, 2), 0, 4), make.call(make(2, 3), 1, 5)],
)
