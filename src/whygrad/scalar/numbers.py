"""Arithmetic on floats that says why there is no answer.

Python raises "math domain error"; these functions raise the same exception types with the call, the
cause, a fix and the user's line.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from numbers import Real
from typing import Any

from whygrad.errors import describe, fail

__all__ = [
    "CLOSED", "Number", "Rule", "compute", "divide", "larger", "number", "power", "smaller",
    "subtract",
]  # fmt: skip

TOO_LARGE = "the result is beyond the largest float, about 1.8e308"
CAUSES: dict[tuple[str, type[Exception]], tuple[str, str]] = {
    ("/", ZeroDivisionError): (
        "the divisor is zero",
        "keep the divisor away from zero: x / (y + 1e-12), or x / y.max(1e-12)",
    ),
    ("**", ZeroDivisionError): (
        "zero to a negative power divides by zero",
        "keep the base away from zero: (x + 1e-12) ** n, or x.max(1e-12) ** n",
    ),
    ("**", ValueError): (
        "a negative number to a fractional power is not a real number",
        "take x.abs() ** n, or an exponent that is a whole number",
    ),
    ("**", OverflowError): (TOO_LARGE, "scale the base down, or compute with logarithms"),
    ("cos", ValueError): ("infinity is not an angle", "look for what made it infinite"),
    ("exp", OverflowError): (
        f"{TOO_LARGE}: exp ends at 709.78",
        "subtract the largest exponent first, as softmax does, or use sigmoid() or tanh()",
    ),
    ("log", ValueError): (
        "only a positive number has a real logarithm",
        "keep the argument above zero: (x + 1e-12).log(), or x.max(1e-12).log()",
    ),
    ("sin", ValueError): ("infinity is not an angle", "look for what made it infinite"),
    ("sqrt", ValueError): (
        "a negative number has no real square root",
        "x.relu().sqrt() if only rounding made it negative; otherwise look for what did",
    ),
}


class Number:
    """What compares and converts like the float in its ``data``."""

    __slots__ = ("data",)
    __array_ufunc__ = None  # NumPy's numbers leave an operator to the Number beside them

    data: float

    def __eq__(self, other: object) -> bool:
        return self.data == _plain(other)

    def __lt__(self, other: Any) -> bool:
        return self.data < _plain(other)

    def __le__(self, other: Any) -> bool:
        return self.data <= _plain(other)

    def __gt__(self, other: Any) -> bool:
        return self.data > _plain(other)

    def __ge__(self, other: Any) -> bool:
        return self.data >= _plain(other)

    __hash__ = object.__hash__  # equal numbers may have different gradients

    def __bool__(self) -> bool:
        return self.data != 0.0

    def __float__(self) -> float:
        return self.data

    def __format__(self, spec: str) -> str:
        return format(self.data, spec) if spec else str(self)


def _plain(operand: Any) -> Any:
    return operand.data if isinstance(operand, Number) else operand


def number(operand: Any, op: str | None = None) -> float:
    """The float behind an operand: a number's or a Value's; anything else is refused."""
    if type(operand) is float:
        return operand
    if isinstance(operand, Number):
        return operand.data
    if isinstance(operand, (float, int, Real)):
        return float(operand)
    raise fail(
        TypeError,
        call=f"Value({describe(operand)})" if op is None else f"a Value {op} {describe(operand)}",
        cause=f"a Value computes with numbers and Values, not with {type(operand).__name__}",
        fix="pass a number, such as float(...) of it or one of its elements",
    )


def compute(op: str, function: Callable[..., float], *numbers: float) -> float:
    """``function(*numbers)``, or an error that says why there is no such number."""
    try:
        answer = function(*numbers)
        if not isinstance(answer, complex):
            return answer
        kind: type[Exception] = ValueError
    except (ArithmeticError, ValueError) as error:
        kind = type(error)
    cause, fix = CAUSES[op, kind]
    shown = [f"{each:g}" for each in numbers]
    call = f"{op}({shown[0]})" if len(shown) == 1 else f" {op} ".join(shown)
    raise fail(kind, call=call, cause=cause, fix=fix)


class _Closed(float):
    """A slope of 0 that stays 0 even if the gradient is infinite: nothing gets through."""

    def __mul__(self, gradient: float) -> float:
        return 0.0


CLOSED = _Closed(0.0)  # of an inactive relu, of the smaller operand of max
Rule = Callable[[float, float], tuple[float, float, float]]  # the result and two slopes


def subtract(x: float, y: float) -> tuple[float, float, float]:
    return x - y, 1.0, -1.0


def divide(x: float, y: float) -> tuple[float, float, float]:
    ratio = compute("/", operator.truediv, x, y)
    return ratio, 1.0 / y, -ratio / y


def power(x: float, n: float) -> tuple[float, float, float]:
    """d xⁿ/dx = n·xⁿ⁻¹ and d xⁿ/dn = xⁿ·log x; with PyTorch, n = 0 and x = 0 have slope 0."""
    y = compute("**", operator.pow, x, n)
    in_base = n * _power_or_infinity(x, n - 1.0) if n else CLOSED
    in_exponent = y * math.log(x) if x > 0.0 else CLOSED if x == 0.0 else math.nan
    return y, in_base, in_exponent


def _power_or_infinity(x: float, n: float) -> float:
    """A slope may be infinite where a value may not."""
    try:
        return x**n
    except ArithmeticError:
        return math.copysign(math.inf, x if n % 2.0 == 1.0 else 1.0)


def larger(x: float, y: float) -> tuple[float, float, float]:
    """Equal operands share the slope; a NaN wins, so that it is seen."""
    if x == y:
        return x, 0.5, 0.5
    return (y, CLOSED, 1.0) if x < y or y != y else (x, 1.0, CLOSED)


def smaller(x: float, y: float) -> tuple[float, float, float]:
    negative, d_left, d_right = larger(-x, -y)
    return -negative, d_left, d_right
