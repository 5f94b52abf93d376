"""The larger, the smaller, and keeping within bounds."""

from __future__ import annotations

from typing import Any

import numpy as np

from whygrad.errors import describe, fail
from whygrad.ops.define import alias, composite, elementwise, table
from whygrad.ops.numbers import number_for
from whygrad.tensor import Tensor, dtypes

__all__ = ["UNORDERED"]

Array = Any

UNORDERED = {
    "complex": (
        "not implemented for complex tensors: complex numbers have no order",
        "work with abs() or with the real and imaginary parts",
    )
}


def _half_on_ties(xp: Any, incoming: Array, mine: Array, theirs: Array, loses: Array) -> Array:
    shared = xp.where(mine == theirs, incoming / 2, incoming)
    return xp.where(loses, 0.0, shared)


elementwise(
    "maximum(a, b)",
    "y = max(a, b);  ∂y/∂a = 1 where a > b, ½ where a = b, 0 where a < b",
    forward=np.maximum,
    vjp={
        "a": lambda xp, incoming, a, b: _half_on_ties(xp, incoming, a, b, a < b),
        "b": lambda xp, incoming, a, b: _half_on_ties(xp, incoming, b, a, b < a),
    },
    promote="same",
    refuses=UNORDERED,
    subgradient="½ to each where they are equal",
    samples=lambda make: [*make.pairs(), make.call(make.ints(4), make.ints(4))],
    inplace=False,
)
elementwise(
    "minimum(a, b)",
    "y = min(a, b);  ∂y/∂a = 1 where a < b, ½ where a = b, 0 where a > b",
    forward=np.minimum,
    vjp={
        "a": lambda xp, incoming, a, b: _half_on_ties(xp, incoming, a, b, a > b),
        "b": lambda xp, incoming, a, b: _half_on_ties(xp, incoming, b, a, b > a),
    },
    promote="same",
    refuses=UNORDERED,
    subgradient="½ to each where they are equal",
    samples=lambda make: [*make.pairs(), make.call(make.ints(4), make.ints(4))],
    inplace=False,
)


def _if_number(xp: Any, other: Array, here: Array, otherwise: Array) -> Array:
    """``here`` where ``other`` is a number, ``otherwise`` where it is NaN."""
    return xp.where(other == other, here, otherwise)


elementwise(
    "fmax(a, b)",
    "y = max(a, b), the other one where one is NaN;  ∂y/∂a = 1 where y is a, else 0",
    forward=np.fmax,
    vjp={
        "a": lambda xp, incoming, a, b: _if_number(
            xp, b, xp.where(a >= b, incoming, 0.0), incoming
        ),
        "b": lambda xp, incoming, a, b: _if_number(xp, b, xp.where(a >= b, 0.0, incoming), 0.0),
    },
    promote="same",
    refuses=UNORDERED,
    subgradient="all to the first where they are equal",
    samples=lambda make: [*make.pairs(), make.call(make.ints(4), make.ints(4))],
    inplace=False,
)
elementwise(
    "fmin(a, b)",
    "y = min(a, b), the other one where one is NaN;  ∂y/∂a = 1 where y is a, else 0",
    forward=np.fmin,
    vjp={
        "a": lambda xp, incoming, a, b: _if_number(
            xp, b, xp.where(a <= b, incoming, 0.0), incoming
        ),
        "b": lambda xp, incoming, a, b: _if_number(xp, b, xp.where(a <= b, 0.0, incoming), 0.0),
    },
    promote="same",
    refuses=UNORDERED,
    subgradient="all to the first where they are equal",
    samples=lambda make: [*make.pairs(), make.call(make.ints(4), make.ints(4))],
    inplace=False,
)


def _clamp(x: Array, low: Array, high: Array) -> Array:
    if low is None:
        return np.minimum(x, high)
    return np.maximum(x, low) if high is None else np.clip(x, low, high)


def _slope_inside(xp: Any, incoming: Array, x: Array, low: Array, high: Array) -> Array:
    if high is None:
        return xp.where(x >= low, incoming, 0.0)
    if low is None:
        return xp.where(x <= high, incoming, 0.0)
    return xp.where((x >= low) * (x <= high), incoming, 0.0)


def _slope_of_low(xp: Any, incoming: Array, x: Array, low: Array, high: Array) -> Array:
    below = xp.where(x < low, incoming, 0.0)
    return below if high is None else xp.where(low < high, below, 0.0)


def _slope_of_high(xp: Any, incoming: Array, x: Array, low: Array, high: Array) -> Array:
    above = xp.where(x > high, incoming, 0.0)
    return above if low is None else xp.where(low > high, incoming, above)


def _clamp_args(input: Tensor, min: Any = None, max: Any = None) -> tuple[Any, Any, Any]:
    if min is None and max is None:
        raise fail(
            RuntimeError,
            call=f"clamp({describe(input)})",
            cause="At least one of 'min' or 'max' must not be None",
            fix="pass a bound: clamp(input, min=0)",
        )
    return input, _bound(input, min), _bound(input, max)


def _bound(input: Tensor, bound: Any) -> Any:
    """A whole number beside whole numbers must be one that their dtype can hold."""
    beside_integers = isinstance(input, Tensor) and input.dtype.category == dtypes.INTEGER
    return number_for(input, bound, "clamp") if type(bound) is int and beside_integers else bound


elementwise(
    "clamp(x, low, high)",
    "y = min(max(x, low), high);  ∂y/∂x = 1 for low ≤ x ≤ high, else 0; "
    "a bound gets the gradient where it is the value",
    forward=_clamp,
    vjp={"x": _slope_inside, "low": _slope_of_low, "high": _slope_of_high},
    promote="same",
    refuses=UNORDERED,
    subgradient="1 on the bounds themselves, and 0 to the bound there",
    public=_clamp_args,
    samples=lambda make: [
        make.call(make(3, 4), -0.5, 1.0),
        make.call(make(3, 4), min=0.3),
        make.call(make(), max=0.3),
        make.call(make(0, 3), -1, 1),
        make.call(make(3, 4), 1.0, -1.0),
        make.call(make(3, 4), make(4, high=0.0), make(3, 1, low=0.0)),
        make.call(make(3, 4), min=make(4)),
        make.call(make(3), max=make(2, 3)),
        make.call(make.ints(4), 1, 3),
        make.call(make.ints(4), min=1.5),
        make.call(make.bools(4), 0, 1),
    ],
)


def clamp_min(input: Tensor, min: Any) -> Tensor:
    """The larger of ``input`` and a lower bound."""
    result: Tensor = table["clamp"].public(input, min, None)
    return result


def clamp_max(input: Tensor, max: Any) -> Tensor:
    """The smaller of ``input`` and an upper bound."""
    result: Tensor = table["clamp"].public(input, None, max)
    return result


for _function, _formula in (
    (clamp_min, "y = max(x, low);  ∂y/∂x = 1 for x ≥ low, else 0"),
    (clamp_max, "y = min(x, high);  ∂y/∂x = 1 for x ≤ high, else 0"),
):
    composite(
        _function,
        _formula,
        samples=lambda make: [make.call(make(3, 4), 0.3), make.call(make(3, 4), make(4))],
        inplace=True,
    )


def _nan_to_num(x: Array, nan: float, posinf: Any, neginf: Any) -> Array:
    if x.dtype.kind in "iub":
        return np.array(x)
    return np.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf)


def _nan_to_num_args(input: Tensor, nan: Any = None, posinf: Any = None, neginf: Any = None) -> Any:
    if input.dtype.is_floating_point:
        limits = dtypes.finfo(input.dtype)  # the kernel sees float32 in place of half precision
        posinf = limits.max if posinf is None else posinf
        neginf = limits.min if neginf is None else neginf
    return input, 0.0 if nan is None else nan, posinf, neginf


elementwise(
    "nan_to_num(x; nan, posinf, neginf)",
    "y = x with NaN and infinities replaced;  ∂y/∂x = 1 where x is finite, else 0",
    forward=_nan_to_num,
    # only finite numbers have a difference of 0 to themselves
    vjp={"x": lambda xp, incoming, x: xp.where(x - x == 0, incoming, 0.0)},
    promote="same",
    subgradient="0 where a value was replaced",
    public=_nan_to_num_args,
    samples=lambda make: [
        make.call(make(3, 4)),
        make.call(make()),
        make.call(make.constant(np.array([np.nan, np.inf, -np.inf, 1.0]))),
        make.call(make.constant(np.array([np.nan, np.inf, -np.inf, 1.0])), 1.0, 2.0, -3.0),
        make.call(make.ints(3)),
    ],
)
alias("clip", "clamp")
