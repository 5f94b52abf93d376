"""The normal distribution, its inverse and its tails; entropy."""

from __future__ import annotations

import math
from typing import Any

from whygrad.ops.define import elementwise
from whygrad.ops.special.kernels import scipy_kernel

Array = Any

_ROOT_2_PI = math.sqrt(2 * math.pi)

elementwise(
    "special_ndtr(x)",
    "y = Φ(x), the area under the normal curve up to x;  ∂y/∂x = e^(−x²/2)/√2π",
    forward=scipy_kernel("ndtr"),
    vjp={"x": lambda xp, incoming, x: incoming * (xp.exp(-0.5 * x * x) / _ROOT_2_PI)},
    torch="special.ndtr",
)
elementwise(
    "special_ndtri(x)",
    "Φ(y) = x;  ∂y/∂x = √2π·e^(y²/2)",
    forward=scipy_kernel("ndtri"),
    vjp={
        "x": lambda xp, incoming, x: (
            incoming * (_ROOT_2_PI * xp.exp(0.5 * xp.square(xp.special_ndtri(x))))
        )
    },
    domain={"x": (0.1, 0.9)},
    torch="special.ndtri",
)
elementwise(
    "special_erfcx(x)",
    "y = e^(x²)·erfc x;  ∂y/∂x = 2x·y − 2/√π",
    forward=scipy_kernel("erfcx"),
    vjp={"x": lambda xp, incoming, x, y: incoming * (2 * x * y - 2 / math.sqrt(math.pi))},
    torch="special.erfcx",
)


def _slope_of_log_ndtr(xp: Any, incoming: Array, x: Array, y: Array) -> Array:
    """φ(x)/Φ(x), each side in the terms that neither overflow nor cancel there."""
    below = x < 0
    tail = xp.special_erfcx(xp.where(below, x, 0.0) * (-1 / math.sqrt(2)))
    exponent = -0.5 * xp.square(xp.where(below, 0.0, x)) - xp.where(below, 0.0, y)
    return incoming * xp.where(
        below, math.sqrt(2 / math.pi) / tail, xp.exp(exponent) * (1 / _ROOT_2_PI)
    )


elementwise(
    "special_log_ndtr(x)",
    "y = log Φ(x), exact in the lower tail too;  ∂y/∂x = φ(x)/Φ(x)",
    forward=scipy_kernel("log_ndtr"),
    vjp={"x": _slope_of_log_ndtr},
    torch="special.log_ndtr",
)


def _slope_of_entropy(xp: Any, incoming: Array, x: Array) -> Array:
    inside = -xp.log(xp.where(x > 0, x, 1.0)) - 1
    return incoming * xp.where(
        x > 0, inside, xp.where(x == 0, math.inf, xp.zeros_like(x) + math.nan)
    )


elementwise(
    "special_entr(x)",
    "y = −x·ln x, 0 at 0, −∞ below;  ∂y/∂x = −ln x − 1",
    forward=scipy_kernel("entr"),
    vjp={"x": _slope_of_entropy},
    domain={"x": (0.1, 2.0)},
    torch="special.entr",
)


def _slope_of_factor(xp: Any, incoming: Array, a: Array, b: Array) -> Array:
    slope = xp.special_xlog1py(incoming, b)
    return xp.where(a == 0, xp.where(b <= -1, 0.0, slope), slope)


elementwise(
    "special_xlog1py(a, b)",
    "y = a·ln(1 + b), 0 where a = 0;  ∂y/∂a = ln(1 + b),  ∂y/∂b = a/(1 + b)",
    forward=scipy_kernel("xlog1py"),
    vjp={
        "a": _slope_of_factor,
        "b": lambda xp, incoming, a, b: incoming * (a / (b + 1)),
    },
    public=lambda input, other: (input, other),
    subgradient="0 for a at a = 0 with b ≤ −1",
    torch="special.xlog1py",
    samples=lambda make: [
        make.call(make(3, 4), make(4, low=-0.5)),
        make.call(make(3), 1.5),
        make.call(1.5, make(3, low=-0.5)),
        make.call(make.ints(3), make.ints(3)),
    ],
)
