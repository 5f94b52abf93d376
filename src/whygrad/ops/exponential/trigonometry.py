"""Circular and hyperbolic functions and their inverses."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from whygrad.ops.complex_numbers import is_complex
from whygrad.ops.define import alias, elementwise
from whygrad.ops.undefined import BEYOND_ONE, OVERFLOWING_EXP, WITHIN_ONE, Undefined

Array = Any

elementwise(
    "sin(x)",
    "y = sin x;  ∂y/∂x = cos x",
    complex_rule="holomorphic",
    image=(-1.0, 1.0),
    forward=np.sin,
    vjp={"x": lambda xp, incoming, x: incoming * xp.cos(x)},
)
elementwise(
    "cos(x)",
    "y = cos x;  ∂y/∂x = −sin x",
    complex_rule="holomorphic",
    image=(-1.0, 1.0),
    forward=np.cos,
    vjp={"x": lambda xp, incoming, x: incoming * -xp.sin(x)},
)
elementwise(
    "tan(x)",
    "y = tan x;  ∂y/∂x = 1 + y²",
    complex_rule="holomorphic",
    forward=np.tan,
    vjp={"x": lambda xp, incoming, y: incoming * (1 + y * y)},
    domain={"x": (-1.2, 1.2)},
)
elementwise(
    "asin(x)",
    "y = arcsin x;  ∂y/∂x = 1/√(1 − x²)",
    complex_rule="holomorphic",
    undefined=WITHIN_ONE,
    forward=np.arcsin,
    vjp={"x": lambda xp, incoming, x: incoming * xp.rsqrt(1 - x * x)},
    domain={"x": (-0.8, 0.8)},
)
elementwise(
    "acos(x)",
    "y = arccos x;  ∂y/∂x = −1/√(1 − x²)",
    complex_rule="holomorphic",
    undefined=WITHIN_ONE,
    forward=np.arccos,
    vjp={"x": lambda xp, incoming, x: incoming * -xp.rsqrt(1 - x * x)},
    domain={"x": (-0.8, 0.8)},
)
elementwise(
    "atan(x)",
    "y = arctan x;  ∂y/∂x = 1/(1 + x²)",
    complex_rule="holomorphic",
    forward=np.arctan,
    vjp={"x": lambda xp, incoming, x: incoming / (x * x + 1)},
)


def _inverse_square(xp: Any, a: Array, b: Array) -> Array:
    """1/(a² + b²), and 0 at the origin, where there is no angle to change."""
    square = a * a + b * b
    return xp.where(square == 0, 0.0, 1 / square)


elementwise(
    "atan2(a, b)",
    "y = the angle of the point (b, a);  ∂y/∂a = b/(a² + b²),  ∂y/∂b = −a/(a² + b²)",
    forward=np.arctan2,
    vjp={
        "a": lambda xp, incoming, a, b: incoming * (b * _inverse_square(xp, a, b)),
        "b": lambda xp, incoming, a, b: incoming * (-a * _inverse_square(xp, a, b)),
    },
    subgradient="0 at the origin",
    samples=lambda make: make.pairs(low=0.3),
)
elementwise(
    "sinh(x)",
    "y = sinh x;  ∂y/∂x = cosh x",
    complex_rule="holomorphic",
    undefined=OVERFLOWING_EXP,
    forward=np.sinh,
    vjp={"x": lambda xp, incoming, x: incoming * xp.cosh(x)},
)
elementwise(
    "cosh(x)",
    "y = cosh x;  ∂y/∂x = sinh x",
    complex_rule="holomorphic",
    undefined=OVERFLOWING_EXP,
    forward=np.cosh,
    vjp={"x": lambda xp, incoming, x: incoming * xp.sinh(x)},
)
elementwise(
    "tanh(x)",
    "y = tanh x;  ∂y/∂x = 1 − y²",
    complex_rule="holomorphic",
    image=(-1.0, 1.0),
    forward=np.tanh,
    vjp={"x": lambda xp, incoming, y: incoming * (1 - y * y)},
)
elementwise(
    "asinh(x)",
    "y = arsinh x;  ∂y/∂x = 1/√(x² + 1)",
    complex_rule="holomorphic",
    forward=np.arcsinh,
    vjp={"x": lambda xp, incoming, x: incoming * xp.rsqrt(x * x + 1)},
)


def _acosh_vjp(xp: Any, incoming: Any, x: Any) -> Any:
    if is_complex(x):  # the root of the product would change its sign left of the imaginary axis
        return incoming * xp.rsqrt(x - 1) * xp.rsqrt(x + 1)
    return incoming * xp.rsqrt(x * x - 1)


elementwise(
    "acosh(x)",
    "y = arcosh x;  ∂y/∂x = 1/√(x² − 1)",
    complex_rule="holomorphic",
    undefined=(
        Undefined(
            lambda v: v["x"] < 1,
            "it is defined from 1 upwards only",
            "use x.clamp(min=1)",
            safe=2.0,
        ),
        Undefined(
            lambda v: v["x"] == 1,
            "the slope is infinite at 1",
            "use x.clamp(min=1 + 1e-6)",
            backward=True,
        ),
    ),
    forward=np.arccosh,
    vjp={"x": _acosh_vjp},
    domain={"x": (1.2, 3.0)},
)
elementwise(
    "atanh(x)",
    "y = artanh x;  ∂y/∂x = 1/(1 − x²)",
    complex_rule="holomorphic",
    undefined=BEYOND_ONE,
    forward=np.arctanh,
    vjp={"x": lambda xp, incoming, x: incoming / (1 - x * x)},
    domain={"x": (-0.8, 0.8)},
)


def _sinc(x: Array) -> Array:
    angle = x * math.pi
    return np.divide(np.sin(angle), angle, out=np.ones_like(angle), where=angle != 0)


elementwise(
    "sinc(x)",
    "y = sin(πx)/(πx), 1 at 0;  ∂y/∂x = (cos(πx) − y)/x, 0 at 0",
    complex_rule="holomorphic",
    forward=_sinc,
    vjp={
        "x": lambda xp, incoming, x: xp.where(
            x == 0, 0.0, incoming * ((xp.cos(math.pi * x) - xp.sinc(x)) / x)
        )
    },
    domain={"x": (0.3, 2.0)},
)
elementwise(
    "deg2rad(x)",
    "y = x·π/180;  ∂y/∂x = π/180",
    forward=lambda x: x * (math.pi / 180),
    vjp={"x": lambda xp, incoming: incoming * (math.pi / 180)},
)
elementwise(
    "rad2deg(x)",
    "y = x·180/π;  ∂y/∂x = 180/π",
    forward=lambda x: x * (180 / math.pi),
    vjp={"x": lambda xp, incoming: incoming * (180 / math.pi)},
)
for _name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "tan2"):
    alias(f"arc{_name}", f"a{_name}")
