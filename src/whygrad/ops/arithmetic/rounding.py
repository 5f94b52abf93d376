"""Staircases: rounding, signs, and division with a remainder.

Their slope is 0 wherever it exists, and 0 is also what is used at the steps.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from whygrad.errors import describe_call, fail
from whygrad.ops.arithmetic.arithmetic import wrap_numbers
from whygrad.ops.arithmetic.bounds import UNORDERED
from whygrad.ops.complex_numbers import is_complex, real_product
from whygrad.ops.define import alias, elementwise, table
from whygrad.ops.undefined import DIVISION
from whygrad.tensor import Tensor, dtypes

Array = Any

_WHOLE = (-2.0, -1.0, 0.0, 1.0, 2.0)
_HALVES = (-1.5, -0.5, 0.5, 1.5)
_FLAT = "0 at the steps as well"


def no_slope(xp: Any, incoming: Array) -> Array:
    return xp.zeros_like(incoming)


def _refused_kinds(name: str) -> dict[str, tuple[str, str]]:
    return {
        "bool": (f"{name} is not implemented for 'Bool'", "convert it first: input.int()"),
        **UNORDERED,
    }


for _name, _kernel, _symbol in (
    ("floor", np.floor, "⌊x⌋"),
    ("ceil", np.ceil, "⌈x⌉"),
    ("trunc", np.trunc, "x without its fraction"),
):
    elementwise(
        f"{_name}(x)",
        f"y = {_symbol};  ∂y/∂x = 0",
        forward=_kernel,
        vjp={"x": no_slope},
        promote="same",
        refuses=_refused_kinds(_name),
        kinks={"x": _WHOLE},
        subgradient=_FLAT,
    )


def _round(x: Array, decimals: int) -> Array:
    if decimals == 0:
        return np.rint(x) if x.dtype.kind == "f" else np.array(x)
    scale = 10.0 ** abs(decimals)
    return np.rint(x * scale) / scale if decimals > 0 else np.rint(x / scale) * scale


def _round_args(input: Tensor, *, decimals: int = 0) -> tuple[Tensor, int]:
    decimals = operator.index(decimals)
    if decimals and input.dtype.category <= dtypes.INTEGER:
        raise fail(
            RuntimeError,
            call=describe_call("round", ("input", "decimals"), (input, decimals)),
            cause='"round_cpu" with decimals is not implemented for integers',
            fix="convert it first: input.float()",
        )
    return input, decimals


elementwise(
    "round(x; decimals)",
    "y = x to the nearest multiple of 10^−decimals, halves to even;  ∂y/∂x = 0",
    forward=_round,
    vjp={"x": no_slope},
    promote="same",
    refuses=_refused_kinds("round"),
    kinks={"x": _HALVES},
    subgradient=_FLAT,
    public=_round_args,
    samples=lambda make: [
        make.call(make.distinct(3, 4, gap=0.3)),
        make.call(make()),
        make.call(make(0, 3)),
        make.call(make(3, 4), decimals=2),
        make.call(make(3, 4, low=-300.0, high=300.0), decimals=-2),
    ],
)
elementwise(
    "frac(x)",
    "y = x − trunc x;  ∂y/∂x = 1",
    forward=lambda x: x - np.trunc(x),
    vjp={"x": lambda xp, incoming: incoming},
    promote="same",
    refuses=_refused_kinds("frac"),
    kinks={"x": _WHOLE},
    subgradient="1 at the jumps as well",
)


def _sign(x: Array) -> Array:
    """Unlike NumPy's: NaN has sign 0, and a mask is its own sign."""
    if x.dtype.kind == "b":
        return np.array(x)
    return np.subtract(x > 0, x < 0, dtype=x.dtype)


elementwise(
    "sign(x)",
    "y = −1, 0 or 1;  ∂y/∂x = 0",
    forward=_sign,
    vjp={"x": no_slope},
    promote="same",
    refuses=UNORDERED,
    kinks={"x": (0.0,)},
    subgradient=_FLAT,
)


def _turned(xp: Any, incoming: Array, x: Array, y: Array) -> Array:
    """What of a change goes across x; what goes along it does not change the sign."""
    if not is_complex(x):
        return no_slope(xp, incoming)
    return xp.where(x == 0, 0.0, (incoming - y * real_product(xp, incoming, y)) / xp.abs(x))


elementwise(
    "sgn(x)",
    "y = x/|x|, 0 at 0;  ∂y/∂x = 0 for real x, what turns it for complex x",
    forward=lambda x: np.sign(x) if x.dtype.kind == "c" else _sign(x),
    vjp={"x": _turned},
    complex_rule="own",
    promote="same",
    kinks={"x": (0.0,)},
    subgradient=_FLAT,
)
elementwise(
    "heaviside(x, values)",
    "y = 0 for x < 0, values at x = 0, 1 for x > 0;  ∂y/∂x = 0,  ∂y/∂values = 1 at x = 0",
    forward=lambda x, values: np.where(x == 0, values, (x > 0).astype(x.dtype)),
    vjp={
        "x": no_slope,
        "values": lambda xp, incoming, x: xp.where(x == 0, incoming, 0.0),
    },
    promote="same",
    refuses=UNORDERED,
    subgradient=_FLAT,
    public=lambda input, values: (input, values),
    samples=lambda make: [
        make.call(make.constant(make(3, 4)), make.constant(make(4))),
        make.call(make.constant(np.array([-1.0, 0.0, 2.0])), make.constant(make(2, 3))),
        make.call(make.ints(4, low=-1, high=2), make.ints(4)),
    ],
    notes="PyTorch has no derivative for heaviside; here it is the one of the formula",
)


def _check_divisor(name: str, a: Array, b: Array) -> None:
    """Integers have no infinity to return."""
    kind = (b if hasattr(b, "dtype") else a).dtype.kind
    if kind == "b":
        cause, fix = f"{name} is not implemented for 'Bool'", "convert it first: input.int()"
    elif kind in "iu" and not np.all(b):
        cause = "ZeroDivisionError: integer division by zero"
        fix = "mask the zeros of the divisor, or divide floats (which give inf and nan)"
    else:
        return
    call = describe_call(name, ("input", "other"), (a, b))
    raise fail(RuntimeError, call=call, cause=cause, fix=fix)


def _floor_divide(a: Array, b: Array) -> Array:
    _check_divisor("floor_divide", a, b)
    return np.floor_divide(a, b)


def _trunc_divide(a: Array, b: Array) -> Array:
    if (b if hasattr(b, "dtype") else a).dtype.kind == "f":
        return np.trunc(a / b)
    _check_divisor("div", a, b)
    return np.floor_divide(a - np.fmod(a, b), b)


def _remainder(a: Array, b: Array) -> Array:
    _check_divisor("remainder", a, b)
    return np.remainder(a, b)


def _fmod(a: Array, b: Array) -> Array:
    _check_divisor("fmod", a, b)
    return np.fmod(a, b)


def _division_samples(make: Any) -> list[Any]:
    """Quotients that stay away from whole numbers."""
    quotient = make.ints(3, 4, low=-3) + make(3, 4, low=0.2, high=0.8)
    divisor = make(4, low=0.5)
    return [
        make.call(quotient * divisor, divisor),
        make.call(-quotient * divisor, divisor),
        make.call(np.asarray(0.7), np.asarray(0.3)),
        make.call(quotient * 0.7, -0.7),
        make.call(make(0, 3), make(3)),
        make.call(make.ints(5, low=-9, high=9), make.ints(5, low=1)),
        make.call(make.ints(5, low=-9, high=9), -4),
    ]


elementwise(
    "floor_divide(a, b)",
    "y = ⌊a/b⌋;  ∂y/∂a = 0,  ∂y/∂b = 0",
    forward=_floor_divide,
    vjp={"a": no_slope, "b": no_slope},
    promote="same",
    refuses=UNORDERED,
    subgradient=_FLAT,
    samples=lambda make: [
        make.call(*(make.constant(arg) if hasattr(arg, "dtype") else arg for arg in call.args))
        for call in _division_samples(make)
    ],
    notes="PyTorch has no derivative for floor_divide; here it is that of rounding_mode='floor'",
)
elementwise(
    "trunc_divide(a, b)",
    "y = trunc(a/b);  ∂y/∂a = 0,  ∂y/∂b = 0",
    forward=_trunc_divide,
    vjp={"a": no_slope, "b": no_slope},
    promote="same",
    refuses=UNORDERED,
    subgradient=_FLAT,
    internal=True,
    notes="a staircase of its own: the slope of a/b would meet trunc's 0 as inf where b is tiny",
    samples=_division_samples,
)
elementwise(
    "remainder(a, b)",
    "y = a − b·⌊a/b⌋, with the sign of b;  ∂y/∂a = 1,  ∂y/∂b = −⌊a/b⌋",
    undefined=DIVISION,
    forward=_remainder,
    vjp={
        "a": lambda xp, incoming: incoming,
        "b": lambda xp, incoming, a, b: -incoming * xp.floor_divide(a, b),
    },
    promote="same",
    refuses=UNORDERED,
    subgradient="at a jump, the slope of the branch that the value is taken from",
    samples=_division_samples,
)
elementwise(
    "fmod(a, b)",
    "y = a − b·trunc(a/b), with the sign of a;  ∂y/∂a = 1,  ∂y/∂b = −trunc(a/b)",
    undefined=DIVISION,
    forward=_fmod,
    vjp={
        "a": lambda xp, incoming: incoming,
        "b": lambda xp, incoming, a, b: -incoming * xp.trunc_divide(a, b),
    },
    promote="same",
    refuses=UNORDERED,
    subgradient="at a jump, the slope of the branch that the value is taken from",
    samples=_division_samples,
)
for _name in ("floor_divide", "remainder", "fmod"):
    wrap_numbers(table[_name])
alias("fix", "trunc")
