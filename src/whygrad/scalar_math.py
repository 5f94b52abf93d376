"""Arithmetic on floats that says why there is no answer.

Python raises "math domain error"; these functions raise the same exception types with the call, the
cause, a fix and the user's line.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Real
from typing import Any

from whygrad.autograd.source import caller
from whygrad.errors import describe, fail

__all__ = ["CLOSED", "compute", "number", "power_or_infinity"]

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


def number(operand: Any) -> float:
    """A plain number as a float; anything else is refused."""
    if isinstance(operand, (float, int, Real)):
        return float(operand)
    raise fail(
        TypeError,
        call=f"a Value and {describe(operand)}",
        cause=f"a Value computes with numbers and Values, not with {type(operand).__name__}",
        fix="pass a number, such as float(...) of it or one of its elements",
        where=caller(),
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
    raise fail(kind, call=call, cause=cause, fix=fix, where=caller())


def power_or_infinity(x: float, n: float) -> float:
    """x ** n for a slope, which may be infinite where a value may not."""
    try:
        return x**n
    except ArithmeticError:
        return math.copysign(math.inf, x if n % 2.0 == 1.0 else 1.0)


class _Closed(float):
    """A slope of 0 that stays 0 even if the gradient is infinite: nothing gets through."""

    def __mul__(self, gradient: float) -> float:
        return 0.0


CLOSED = _Closed(0.0)  # of an inactive relu, of the smaller operand of max
