"""GELU, exact and approximated, and its backward as an op of its own.

Between large layers GELU is the most expensive thing after the matrix products, forward and back,
so its rule is one op on whole arrays: one pass through memory where a fused kernel is installed.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from whygrad.errors import fail
from whygrad.ops.activation.smooth import ONLY_FLOATS
from whygrad.ops.define import elementwise
from whygrad.tensor import Tensor

Array = Any

_SQRT_HALF = math.sqrt(0.5)
_DENSITY_AT_0 = 1.0 / math.sqrt(2.0 * math.pi)
_SLOPE = math.sqrt(2.0 / math.pi)
_CUBIC = 0.044715


def _gelu(x: Array, approximate: str) -> Array:
    if approximate == "none":
        from scipy.special import erf

        out = erf(x * _SQRT_HALF, out=np.empty_like(x))
    else:
        out = np.multiply(x, x, out=np.empty_like(x))
        out *= _CUBIC
        out += 1.0
        out *= x
        out *= _SLOPE
        np.tanh(out, out)
    out += 1.0
    out *= x
    out *= 0.5
    return out


def _gelu_backward(arriving: Array, x: Array, approximate: str) -> Array:
    if approximate == "none":
        from scipy.special import erf

        slope = erf(x * _SQRT_HALF, out=np.empty_like(x))
        slope *= 0.5
        slope += 0.5
        density = np.multiply(x, x, out=np.empty_like(x))
        density *= -0.5
        np.exp(density, density)
        density *= _DENSITY_AT_0
        density *= x
        slope += density
    else:
        tanh, squared = _tanh(np, x)
        steepness = (0.5 * _SLOPE) * (1.0 + (3.0 * _CUBIC) * squared)
        slope = 0.5 * (1.0 + tanh) + x * ((1.0 - tanh * tanh) * steepness)
    return arriving * slope


def _tanh(xp: Any, x: Array) -> tuple[Array, Array]:
    """tanh of √(2/π)·(x + 0.044715·x³), and x²"""
    squared = x * x
    return xp.tanh(x * (_SLOPE * (1.0 + _CUBIC * squared))), squared


def _gelu_curvature(xp: Any, x: Array, approximate: str) -> Array:
    """The second derivative of GELU."""
    if approximate == "none":
        squared = x * x
        return _DENSITY_AT_0 * xp.exp(-0.5 * squared) * (2.0 - squared)
    tanh, squared = _tanh(xp, x)
    inner = _SLOPE * (1.0 + (3.0 * _CUBIC) * squared)  # of what tanh is taken: first derivative
    bend = (3.0 * _CUBIC * _SLOPE) * x  # half the second
    return (1.0 - tanh * tanh) * (inner + x * (bend - tanh * (inner * inner)))


def _gelu_args(input: Tensor, *, approximate: str = "none") -> Any:
    """x·Φ(x), with Φ the normal distribution function or its tanh approximation"""
    if approximate not in ("none", "tanh"):
        raise fail(
            RuntimeError,
            call=f"gelu(x, approximate={approximate!r})",
            cause="approximate argument must be either none or tanh",
            fix="pass 'none' for the exact function, 'tanh' for the faster one",
        )
    return input, approximate


elementwise(
    "gelu(x; approximate)",
    "y = x·Φ(x);  ∂y/∂x = Φ(x) + x·φ(x)   (Φ normal distribution, φ its density; or, with "
    "approximate='tanh', Φ(x) ≈ ½(1 + tanh(√(2/π)·(x + 0.044715·x³))))",
    forward=_gelu,
    vjp={"x": lambda xp, incoming, x, approximate: xp.gelu_backward(incoming, x, approximate)},
    refuses=ONLY_FLOATS,
    public=_gelu_args,
    torch="nn.functional.gelu",
    samples=lambda make: [
        make.call(make(3, 4)),
        make.call(make()),
        make.call(make(0, 3)),
        make.call(make(3, 4), approximate="tanh"),
        make.call(make(5, low=-6, high=6), approximate="tanh"),
    ],
)
elementwise(
    "gelu_backward(arriving, x; approximate)",
    "y = arriving·g(x) with g the derivative of gelu;  ∂arriving = incoming·g(x),  "
    "∂x = incoming·arriving·g′(x), with g′(x) = φ(x)·(2 − x²) for the exact function",
    forward=_gelu_backward,
    vjp={
        "arriving": lambda xp, incoming, x, approximate: xp.gelu_backward(incoming, x, approximate),
        "x": lambda xp, incoming, arriving, x, approximate: (
            incoming * arriving * _gelu_curvature(xp, x, approximate)
        ),
    },
    internal=True,
    samples=lambda make: [
        make.call(make(3, 4), make(3, 4), "none"),
        make.call(make(3, 4), make(3, 4), "tanh"),
        make.call(make(), make(), "none"),
        make.call(make(0, 3), make(0, 3), "tanh"),
    ],
)
