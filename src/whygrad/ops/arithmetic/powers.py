"""Powers and roots.

Most powers in real programs have a small fixed exponent, and a general power costs many times what
a product does, so exponents that mean products, quotients or square roots are computed as such.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from whygrad.errors import describe_call, fail
from whygrad.ops.complex_numbers import is_complex
from whygrad.ops.define import composite, elementwise, table
from whygrad.ops.undefined import TOO_LARGE, Undefined, always
from whygrad.tensor import Tensor, keys

Array = Any
_NUMBERS = keys.SCALAR_BITS


_NEGATIVE_ROOT = Undefined(
    lambda v: v["x"] < 0,
    "a negative number has no real square root",
    "keep the argument from falling below 0: x.clamp(min=0), or x.relu()",
    "root",
    "values are negative (lowest {lowest})",
)


def _cube(a: Array) -> Array:
    result = np.square(a)
    result *= a
    return result


# Exponents that need no logarithm.
_SHORT_POWERS: dict[Any, Callable[[Array], Array]] = {
    -2: lambda a: np.reciprocal(np.square(a)),
    -1: np.reciprocal,
    -0.5: lambda a: np.reciprocal(np.sqrt(a)),
    0: np.ones_like,
    0.5: np.sqrt,
    1: np.array,
    2: np.square,
    3: _cube,
}


def _power(a: Array, b: Array) -> Array:
    base_is_array = type(a) not in _NUMBERS
    kind = (a if base_is_array else b).dtype.kind
    if kind == "b":
        raise _refused_power(a, b, "\"pow\" not implemented for 'Bool'")
    if kind in "iu":
        return _integer_power(a, b)
    if base_is_array and type(b) in _NUMBERS and b in _SHORT_POWERS:
        return _SHORT_POWERS[b](a)
    return np.power(a, b)


def _integer_power(a: Array, b: Array) -> Array:
    if type(b) in _NUMBERS:
        if b < 0:
            raise _refused_power(a, b, "Integers to negative integer powers are not allowed")
        return np.power(a, b)
    negative = b < 0
    if not negative.any():
        return np.power(a, b)
    # 1/a rounded towards zero is 0, except for ±1
    of_unit = np.where(a == 1, 1, np.where(a == -1, 1 - 2 * (b & 1), 0)).astype(b.dtype)
    return np.where(negative, of_unit, np.power(a, np.where(negative, 0, b)))


def _refused_power(a: Array, b: Array, cause: str) -> RuntimeError:
    return fail(
        RuntimeError,
        call=describe_call("pow", ("input", "exponent"), (a, b)),
        cause=cause,
        fix="convert to float first: input.float() ** exponent",
    )


def _slope_of_base(xp: Any, incoming: Array, a: Array, b: Array) -> Array:
    if type(b) not in _NUMBERS:
        return xp.where(b == 0, 0.0, incoming * (b * xp.pow(a, b - 1)))
    if b == 0:
        return xp.zeros_like(incoming)
    if b in (1, 2) and not isinstance(a, Tensor):  # on tensors a¹ and a⁰ keep a on the tape
        return incoming if b == 1 else incoming * (b * a)
    return incoming * (b * xp.pow(a, b - 1))


def _slope_of_exponent(xp: Any, incoming: Array, a: Array, b: Array, y: Array) -> Array:
    rises = (xp.real_part(b) if is_complex(b) else b) >= 0
    if type(a) in _NUMBERS:
        if a == 0:
            return xp.where(rises, 0.0, incoming * (y * -math.inf))
        if is_complex(b):
            return incoming * (y * cmath.log(a))
        return incoming * (y * (math.log(a) if a > 0 else math.nan))
    slope = y * xp.log(a)
    return incoming * xp.where(a == 0, xp.where(rises, 0.0, slope), slope)


elementwise(
    "pow(a, b)",
    "y = aᵇ;  ∂y/∂a = b·aᵇ⁻¹ (0 where b = 0),  ∂y/∂b = y·log a (0 where a = 0 and b ≥ 0)",
    complex_rule="holomorphic",
    undefined=(
        Undefined(
            lambda v: (v["a"] < 0) & (v["b"] != np.round(v["b"])),
            "a negative number has no real power with a fractional exponent",
            "take the power of x.abs() or of x.clamp(min=0)",
            "root",
            "values are negative (lowest {lowest})",
            operand="a",
        ),
        Undefined(
            lambda v: (v["a"] == 0) & (v["b"] < 0),
            "0 to a negative power is a division by 0",
            "keep the base away from 0: x.clamp(min=1e-8) ** p",
            "division",
            "values are 0",
            operand="a",
        ),
        Undefined(always, "the power is larger than the dtype can hold", TOO_LARGE),
        Undefined(
            lambda v: (v["a"] == 0) & (v["b"] < 1),
            "the slope of x ** p is infinite at 0 for p below 1",
            "keep the base away from 0: (x + 1e-12) ** p",
            "root",
            "values are exactly 0, where its slope is infinite",
            operand="a",
            backward=True,
        ),
        Undefined(
            lambda v: v["a"] < 0,
            "the slope needs the logarithm or a root of a negative base",
            "take the power of x.abs() or of x.clamp(min=1e-8), or detach() the exponent",
            operand="a",
            backward=True,
        ),
    ),
    forward=_power,
    vjp={"a": _slope_of_base, "b": _slope_of_exponent},
    promote="same",
    subgradient="0⁰ counts as constant in the base, 0ᵇ as constant in the exponent",
    public=lambda input, exponent: (input, exponent),
    samples=lambda make: [
        *make.pairs(low=0.3),
        *(make.call(make(2, 3, low=0.3), e) for e in (2, 3, 0.5, -1, 1, 0, -2, -0.5, 2.7, -3)),
        make.call(make(2, 3), 3),
        make.call(make(low=0.3), 2),
        make.call(1.7, make(2, 3)),
        make.call(2, make.ints(4)),
        make.call(make.ints(4, low=-3), 3),
        make.call(make.ints(4, low=-3), make.ints(4, low=-3)),
        make.call(make.ints(3), 0.5),
        make.call(make.bools(3), 2),
    ],
)


def square(input: Tensor) -> Tensor:
    """The product of a tensor with itself."""
    result: Tensor = table["pow"].call(input, 2)
    return result


composite(
    square,
    "y = x²;  ∂y/∂x = 2x",
    kernel=np.square,
    samples=lambda make: [make.call(make(3, 4)), make.call(make()), make.call(make.bools(3))],
    inplace=True,
)
elementwise(
    "reciprocal(x)",
    "y = 1/x;  ∂y/∂x = −y²",
    complex_rule="holomorphic",
    undefined=(
        Undefined(
            lambda v: v["x"] == 0,
            "a division by 0",
            "keep it away from 0: 1 / (x + 1e-8)",
            "division",
            "divisors are exactly 0",
        ),
        Undefined(
            lambda v: np.isinf(v["y"]),
            "a division by 0",
            "keep it away from 0: 1 / (x + 1e-8)",
            "division",
            "divisors are exactly 0",
            backward=True,
        ),
    ),
    forward=np.reciprocal,
    vjp={"x": lambda xp, incoming, y: -incoming * (y * y)},
    domain={"x": (0.4, 2.0)},
)
elementwise(
    "sqrt(x)",
    "y = √x;  ∂y/∂x = 1/(2y)",
    complex_rule="holomorphic",
    undefined=(
        _NEGATIVE_ROOT,
        Undefined(
            lambda v: v["y"] == 0,
            "the slope of a square root is infinite at 0",
            "keep the argument away from 0: (x + 1e-12).sqrt(); the length of a vector is "
            "x.norm(), whose gradient at 0 is 0",
            "root",
            "values are exactly 0, where its slope, 1/(2·sqrt(x)), is infinite",
            backward=True,
        ),
    ),
    forward=np.sqrt,
    vjp={"x": lambda xp, incoming, y: incoming / (2 * y)},
    domain={"x": (0.2, 3.0)},
)
elementwise(
    "rsqrt(x)",
    "y = 1/√x;  ∂y/∂x = −y³/2",
    complex_rule="holomorphic",
    undefined=(
        _NEGATIVE_ROOT,
        Undefined(
            lambda v: v["x"] == 0,
            "a division by 0",
            "keep it away from 0: (x + 1e-8).rsqrt()",
            "root",
            "values are exactly 0, where its value is infinite",
        ),
        Undefined(
            lambda v: np.isinf(v["y"]),
            "a division by 0",
            "keep it away from 0: (x + 1e-8).rsqrt()",
            "root",
            "values are exactly 0, where its value is infinite",
            backward=True,
        ),
    ),
    forward=lambda x: np.reciprocal(np.sqrt(x)),
    vjp={"x": lambda xp, incoming, y: incoming * (-0.5 * (y * y * y))},
    domain={"x": (0.3, 3.0)},
)
elementwise(
    "hypot(a, b)",
    "y = √(a² + b²);  ∂y/∂a = a/y,  ∂y/∂b = b/y",
    undefined=(
        Undefined(
            lambda v: (v["a"] == 0) & (v["b"] == 0),
            "it has no slope at the origin (0, 0)",
            "move the point away from it, for example b + 1e-12",
            "root",
            "points are at the origin, where its slope is infinite",
            operand="a",
            backward=True,
        ),
    ),
    forward=np.hypot,
    vjp={
        "a": lambda xp, incoming, a, y: incoming * (a / y),
        "b": lambda xp, incoming, b, y: incoming * (b / y),
    },
    samples=lambda make: make.pairs(low=0.3),
)
