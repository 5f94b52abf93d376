"""Exponentials and logarithms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from whygrad.ops.define import elementwise
from whygrad.ops.undefined import LOGARITHM, OVERFLOWING_EXP, Undefined

Array = Any

_LN2 = math.log(2.0)
_LN10 = math.log(10.0)
_POSITIVE = {"x": (0.2, 3.0)}

_ABOVE_MINUS_ONE = "keep it there: x.clamp(min=-1 + 1e-6)"

elementwise(
    "exp(x)",
    "y = eˣ;  ∂y/∂x = y",
    complex_rule="holomorphic",
    image=(0.0, np.inf),
    undefined=OVERFLOWING_EXP,
    forward=np.exp,
    vjp={"x": lambda xp, incoming, y: incoming * y},
)
elementwise(
    "exp2(x)",
    "y = 2ˣ;  ∂y/∂x = y·ln 2",
    complex_rule="holomorphic",
    undefined=OVERFLOWING_EXP,
    forward=np.exp2,
    vjp={"x": lambda xp, incoming, y: incoming * (y * _LN2)},
)
elementwise(
    "expm1(x)",
    "y = eˣ − 1;  ∂y/∂x = y + 1",
    complex_rule="holomorphic",
    undefined=OVERFLOWING_EXP,
    forward=np.expm1,
    vjp={"x": lambda xp, incoming, y: incoming * (y + 1)},
)
elementwise(
    "log(x)",
    "y = ln x;  ∂y/∂x = 1/x",
    complex_rule="holomorphic",
    undefined=LOGARITHM,
    forward=np.log,
    vjp={"x": lambda xp, incoming, x: incoming / x},
    domain=_POSITIVE,
)
elementwise(
    "log2(x)",
    "y = log₂ x;  ∂y/∂x = 1/(x·ln 2)",
    complex_rule="holomorphic",
    undefined=LOGARITHM,
    forward=np.log2,
    vjp={"x": lambda xp, incoming, x: incoming / (x * _LN2)},
    domain=_POSITIVE,
)
elementwise(
    "log10(x)",
    "y = log₁₀ x;  ∂y/∂x = 1/(x·ln 10)",
    complex_rule="holomorphic",
    undefined=LOGARITHM,
    forward=np.log10,
    vjp={"x": lambda xp, incoming, x: incoming / (x * _LN10)},
    domain=_POSITIVE,
)
elementwise(
    "log1p(x)",
    "y = ln(1 + x);  ∂y/∂x = 1/(1 + x)",
    complex_rule="holomorphic",
    undefined=(
        Undefined(
            lambda v: v["x"] < -1,
            "log(1 + x) needs x above −1",
            _ABOVE_MINUS_ONE,
            "log",
            "values are below -1 (lowest {lowest})",
            safe=0.0,
        ),
        Undefined(
            lambda v: v["x"] == -1,
            "log(1 + x) needs x above −1",
            _ABOVE_MINUS_ONE,
            "log",
            "values are exactly -1",
            safe=0.0,
        ),
        Undefined(
            lambda v: v["x"] == -1,
            "the slope is infinite at −1",
            "use x.clamp(min=-1 + 1e-6)",
            "log",
            "values are exactly -1",
            backward=True,
        ),
    ),
    forward=np.log1p,
    vjp={"x": lambda xp, incoming, x: incoming / (x + 1)},
    domain={"x": (-0.7, 3.0)},
)


def logaddexp(a: Array, b: Array) -> Array:
    """Of complex numbers: near the larger one, however often its angle goes around."""
    if np.result_type(a, b).kind != "c":
        return np.logaddexp(a, b)
    swap = np.real(a) < np.real(b)
    large: Array = np.where(swap, b, a)
    small: Array = np.where(swap, a, b)
    nothing = np.isneginf(np.real(small))  # and −∞ − −∞ would be NaN
    return np.where(nothing, large, large + np.log1p(np.exp(np.where(nothing, 0, small - large))))


elementwise(
    "logaddexp(a, b)",
    "y = ln(eᵃ + eᵇ);  ∂y/∂a = 1/(1 + eᵇ⁻ᵃ),  ∂y/∂b = 1/(1 + eᵃ⁻ᵇ)",
    forward=logaddexp,
    complex_rule="holomorphic",
    vjp={
        "a": lambda xp, incoming, a, b: incoming / (1 + xp.exp(b - a)),
        "b": lambda xp, incoming, a, b: incoming / (1 + xp.exp(a - b)),
    },
    samples=lambda make: make.pairs(),
    inplace=False,
)
elementwise(
    "logaddexp2(a, b)",
    "y = log₂(2ᵃ + 2ᵇ);  ∂y/∂a = 1/(1 + 2ᵇ⁻ᵃ),  ∂y/∂b = 1/(1 + 2ᵃ⁻ᵇ)",
    forward=np.logaddexp2,
    vjp={
        "a": lambda xp, incoming, a, b: incoming / (1 + xp.exp2(b - a)),
        "b": lambda xp, incoming, a, b: incoming / (1 + xp.exp2(a - b)),
    },
    samples=lambda make: make.pairs(),
    inplace=False,
)
