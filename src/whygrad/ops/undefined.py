"""What an op cannot compute: where, what comes of it, and what to write instead.

Rows of the op table say it in ``undefined=``; anomaly mode, ``why_nan`` and the doctor read it
there.  A case says for which numbers it speaks, and the first that fits is told.  Cases of the way
forward see the inputs of the call by name, those of the way back also what the node saved (``y`` is
the result); single numbers or whole arrays.  A name that is not known counts as NaN, for which no
comparison holds.  What is known of the call as a whole has names, too: ``made_nan`` (rather than
inf) and ``inf_in`` (among what went in), 1 or 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

import numpy as np

__all__ = [
    "BEYOND_ONE", "DIVISION", "LOGARITHM", "OVERFLOWING_EXP", "SPREAD",
    "TIED_VALUES", "TOO_LARGE", "UNMASKED_ROW", "WITHIN_ONE", "Fault", "Known", "Undefined",
    "always", "first_case", "from_nothing",
]  # fmt: skip

Fault = Literal["log", "division", "root", "overflow"]


class Known(dict[str, Any]):
    """Numbers or arrays by name; NaN for the others."""

    def __missing__(self, name: str) -> float:
        return math.nan


class Undefined(NamedTuple):
    """Where an op misbehaves, why, and the way around it."""

    where: Callable[[Mapping[str, Any]], Any]
    why: str
    fix: str
    fault: Fault | None = None  # the kind of mistake it is
    counted: str = ""  # what is said behind the number of such elements
    operand: str = "x"  # the argument that is to blame
    safe: float = 1.0  # a value of it at which the op and its derivative are finite
    backward: bool = False  # the value is finite, the slope is not


def first_case(cases: tuple[Undefined, ...], known: Known, backward: bool) -> Undefined | None:
    """The case that speaks for these numbers."""
    fitting = (each for each in cases if each.backward is backward)
    return next((each for each in fitting if np.any(each.where(known))), None)


def always(_: Mapping[str, Any]) -> bool:
    return True


def from_nothing(values: Mapping[str, Any]) -> bool:
    """NaN although what went in is finite, and not because the numbers are too large."""
    return bool(values["made_nan"] == 1 and values["inf_in"] == 0)


TOO_LARGE = "use a wider dtype, or scale the numbers down before this op"

_POSITIVE = "keep the argument positive: log(x.clamp(min=1e-8))"
LOGARITHM = (
    Undefined(
        lambda v: v["x"] < 0,
        "a negative number has no real logarithm",
        f"{_POSITIVE}, or ask why it is negative",
        "log",
        "values are below 0 (lowest {lowest})",
    ),
    Undefined(
        lambda v: v["x"] == 0,
        "log(0) is −inf",
        f"{_POSITIVE}; for probabilities use log_softmax of the scores instead of log(softmax)",
        "log",
        "values are exactly 0",
    ),
    Undefined(
        lambda v: v["x"] == 0,
        "the slope of a logarithm is infinite at 0",
        _POSITIVE,
        "log",
        "values are exactly 0",
        backward=True,
    ),
)
OVERFLOWING_EXP = (
    Undefined(
        lambda v: v["x"] > 0,
        "eˣ is larger than the dtype can hold",
        "subtract the maximum first, as logsumexp and softmax do, or clamp the exponent: "
        "x.clamp(max=80).exp()",
        "overflow",
    ),
)
_BY_ZERO = Undefined(
    lambda v: v["b"] == 0,
    "a division by 0",
    "keep the divisor away from 0: a / b.clamp(min=1e-8), or where(b == 0, 1.0, b)",
    "division",
    "divisors are exactly 0",
    operand="b",
)
DIVISION = (
    Undefined(
        lambda v: (v["a"] == 0) & (v["b"] == 0),
        "0 / 0 is not a number",
        "keep the divisor away from 0: a / (b + 1e-8), or where(b == 0, 1.0, b)",
        "division",
        operand="b",
    ),
    _BY_ZERO,
    _BY_ZERO._replace(backward=True),
)
_INSIDE = "x.clamp(-1 + 1e-6, 1 - 1e-6)"
WITHIN_ONE = (
    Undefined(
        lambda v: np.abs(v["x"]) > 1,
        "it is defined between −1 and 1 only",
        f"clamp the argument: {_INSIDE}",
        "root",
        "values are at or beyond ±1",
        safe=0.0,
    ),
    Undefined(
        lambda v: np.abs(v["x"]) == 1,
        "the slope is infinite at ±1",
        f"keep the argument inside: {_INSIDE}",
        "root",
        "values are at or beyond ±1",
        safe=0.0,
        backward=True,
    ),
)
# An inverse of something that ends at ±1: infinite there, and nothing beyond.
BEYOND_ONE = (
    Undefined(
        lambda v: np.abs(v["x"]) > 1,
        WITHIN_ONE[0].why,
        WITHIN_ONE[0].fix,
        "log",
        "values are at or beyond its limits",
        safe=0.0,
    ),
    Undefined(
        lambda v: np.abs(v["x"]) == 1,
        "it is infinite at ±1",
        WITHIN_ONE[0].fix,
        "log",
        "values are at or beyond its limits",
        safe=0.0,
    ),
    WITHIN_ONE[1]._replace(fault="log", counted="values are at or beyond its limits"),
)
UNMASKED_ROW = (
    Undefined(
        lambda v: v["x"] == -math.inf,
        "every score of a row is −inf, so there is nothing to share the probability among",
        "leave one entry of each row unmasked, or write a large negative number such as −1e9 "
        "instead of −inf",
    ),
)
SPREAD = (
    Undefined(
        from_nothing,
        "the spread of a single element, divided by n − 1 = 0",
        "use correction=0, or more than one element",
        "division",
    ),
)
TIED_VALUES = (
    Undefined(
        always,
        "it divides by differences of eigenvalues or singular values, and two of them are equal",
        "break the tie with a little noise on the diagonal, or use a loss that does not need "
        "vectors",
        backward=True,
    ),
)
