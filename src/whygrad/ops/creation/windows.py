"""Windows that fade a stretch of signal in and out, for spectra.

A periodic window is a symmetric one with one more point, of which the last is dropped.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Unpack

import numpy as np

from whygrad.errors import fail
from whygrad.ops.creation.creation import Options, build
from whygrad.ops.define import composite
from whygrad.tensor import Tensor, dtypes

Array = Any
# From places between −1 and 1 to heights.
Shape = Callable[[Array], Array]


def _window(
    name: str, length: int, periodic: bool, options: Options, height: Callable[[Array], Array]
) -> Tensor:
    dtype = dtypes.get_default_dtype() if options.get("dtype") is None else options["dtype"]
    cause, fix = "", "pass the number of points"
    if length < 0:
        cause = f"{name} requires non-negative window_length, got window_length={length}"
    elif dtypes.of(dtype).category < dtypes.FLOAT or (dtypes.of(dtype).is_complex and length > 1):
        cause = f"{name} expects floating point dtypes, got: {dtypes.of(dtype).name}"
        fix = "ask for a float dtype"
    if cause:
        kind = NotImplementedError if dtypes.of(dtype).is_complex else RuntimeError
        raise fail(kind, call=f"{name}({length})", cause=cause, fix=fix)

    def make(chosen: Any) -> Array:
        if length <= 1:
            return np.ones(length, chosen)
        points = length + 1 if periodic else length
        place = np.arange(points, dtype=np.float64) / (points - 1)
        return height(place)[:length].astype(chosen)

    return build(name, (length,), make, options)


def _cosines(*weights: float) -> Callable[[Array], Array]:
    """a₀ − a₁·cos 2πt + a₂·cos 4πt."""

    def height(place: Array) -> Array:
        return sum(
            (-1) ** order * weight * np.cos(2 * math.pi * order * place)
            for order, weight in enumerate(weights)
        )

    return height


def bartlett_window(
    window_length: int, periodic: bool = True, **options: Unpack[Options]
) -> Tensor:
    """A triangle."""
    return _window(
        "bartlett_window",
        window_length,
        periodic,
        options,
        lambda place: 1 - np.abs(2 * place - 1),
    )


def blackman_window(
    window_length: int, periodic: bool = True, **options: Unpack[Options]
) -> Tensor:
    """Three cosines, with side lobes lower than Hann's."""
    return _window("blackman_window", window_length, periodic, options, _cosines(0.42, 0.5, 0.08))


def hamming_window(
    window_length: int,
    periodic: bool = True,
    alpha: float = 0.54,
    beta: float = 0.46,
    **options: Unpack[Options],
) -> Tensor:
    """A raised cosine that does not reach 0."""
    return _window("hamming_window", window_length, periodic, options, _cosines(alpha, beta))


def hann_window(window_length: int, periodic: bool = True, **options: Unpack[Options]) -> Tensor:
    """A raised cosine."""
    return _window("hann_window", window_length, periodic, options, _cosines(0.5, 0.5))


def kaiser_window(
    window_length: int, periodic: bool = True, beta: float = 12.0, **options: Unpack[Options]
) -> Tensor:
    """A Bessel function of half a circle; ``beta`` says how narrow."""

    def height(place: Array) -> Array:
        return np.i0(beta * np.sqrt(np.maximum(1 - (2 * place - 1) ** 2, 0))) / np.i0(beta)

    return _window("kaiser_window", window_length, periodic, options, height)


_FORMULAS = (
    (bartlett_window, "y[n] = 1 − |2n/N − 1|"),
    (blackman_window, "y[n] = 0.42 − 0.5·cos(2πn/N) + 0.08·cos(4πn/N)"),
    (hamming_window, "y[n] = alpha − beta·cos(2πn/N)"),
    (hann_window, "y[n] = ½ − ½·cos(2πn/N)"),
    (kaiser_window, "y[n] = I₀(beta·√(1 − (2n/N − 1)²)) / I₀(beta)"),
)
for _function, _formula in _FORMULAS:
    composite(
        _function,
        _formula,
        method=False,
        differentiable=False,
        samples=lambda make: [
            make.call(6, dtype=dtypes.float64),
            make.call(5, False, dtype=dtypes.float64),
            make.call(1),
            make.call(0),
        ],
    )
