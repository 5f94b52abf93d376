"""Bessel functions and their relatives."""

from __future__ import annotations

from typing import Any

import numpy as np

from whygrad.ops.define import elementwise
from whygrad.ops.special.kernels import scipy_kernel

Array = Any


_NEAR_ZERO = 0.01  # up to here three terms of the series of I₁(x)/x are exact


def _first_over_x(xp: Any, y: Array, x: Array, scaled: bool = False) -> Array:
    """y/x for y = I₁(x), or for I₁(x)·e^−|x|, with derivatives that stay right near 0."""
    near = xp.abs(x) < _NEAR_ZERO
    square = xp.square(xp.where(near, x, 0.0))
    series = 0.5 + square * (1 / 16) + xp.square(square) * (1 / 384)
    if scaled:
        series = series * xp.exp(-xp.abs(xp.where(near, x, 0.0)))
    return xp.where(near, series, y / xp.where(near, 1.0, x))


def _slope_of_i1e(xp: Any, incoming: Array, x: Array, y: Array) -> Array:
    """PyTorch takes numbers that cannot be told from 0 next to 1 for 0, where the slope is ½."""
    slope = xp.special_i0e(x) - xp.sign(x) * y - _first_over_x(xp, y, x, scaled=True)
    return incoming * xp.where(xp.abs(x) > np.finfo("float64").eps, slope, 0.5)


elementwise(
    "i0(x)",
    "y = I₀(x), the modified Bessel function of order 0;  ∂y/∂x = I₁(x)",
    forward=scipy_kernel("i0"),
    vjp={"x": lambda xp, incoming, x: incoming * xp.special_i1(x)},
)
elementwise(
    "special_i0e(x)",
    "y = I₀(x)·e^−|x|;  ∂y/∂x = i1e(x) − sign(x)·y",
    forward=scipy_kernel("i0e"),
    vjp={"x": lambda xp, incoming, x, y: incoming * (xp.special_i1e(x) - xp.sign(x) * y)},
    torch="special.i0e",
)
elementwise(
    "special_i1(x)",
    "y = I₁(x), the modified Bessel function of order 1;  ∂y/∂x = I₀(x) − y/x",
    forward=scipy_kernel("i1"),
    vjp={"x": lambda xp, incoming, x, y: incoming * (xp.i0(x) - _first_over_x(xp, y, x))},
    torch="special.i1",
)
elementwise(
    "special_i1e(x)",
    "y = I₁(x)·e^−|x|;  ∂y/∂x = i0e(x) − y·(sign(x) + 1/x)",
    forward=scipy_kernel("i1e"),
    vjp={"x": _slope_of_i1e},
    torch="special.i1e",
)


def _airy(x: Array) -> Array:
    from scipy import special

    return np.asarray(special.airy(x)[0], x.dtype)


def _spherical(x: Array) -> Array:
    return np.where(np.isinf(x), 0, np.sinc(x / np.pi)).astype(x.dtype)


# PyTorch has these without a derivative.
for _name, _kernel, _words in (
    ("airy_ai", _airy, "Ai(x), Airy's function"),
    ("bessel_j0", scipy_kernel("j0"), "J₀(x)"),
    ("bessel_j1", scipy_kernel("j1"), "J₁(x)"),
    ("bessel_y0", scipy_kernel("y0"), "Y₀(x)"),
    ("bessel_y1", scipy_kernel("y1"), "Y₁(x)"),
    ("modified_bessel_i0", scipy_kernel("i0"), "I₀(x)"),
    ("modified_bessel_i1", scipy_kernel("i1"), "I₁(x)"),
    ("modified_bessel_k0", scipy_kernel("k0"), "K₀(x)"),
    ("modified_bessel_k1", scipy_kernel("k1"), "K₁(x)"),
    ("scaled_modified_bessel_k0", scipy_kernel("k0e"), "K₀(x)·eˣ"),
    ("scaled_modified_bessel_k1", scipy_kernel("k1e"), "K₁(x)·eˣ"),
    ("spherical_bessel_j0", _spherical, "sin(x)/x"),
):
    elementwise(
        f"special_{_name}(x)",
        f"y = {_words};  no gradient, as in PyTorch",
        forward=_kernel,
        vjp=None,
        torch=f"special.{_name}",
        samples=lambda make: [
            make.call(make.constant(make(3, 4, low=0.2, high=2.0))),
            make.call(make.constant(make(0, 2))),
        ],
    )
