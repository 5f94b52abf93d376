"""How numbers are written: signs, exponents, neighbours, common divisors."""

from __future__ import annotations

from typing import Any

import numpy as np

from whygrad.errors import describe, fail
from whygrad.ops.arithmetic.bounds import UNORDERED
from whygrad.ops.arithmetic.rounding import no_slope
from whygrad.ops.batching import leading_dims
from whygrad.ops.define import composite, define, elementwise, table
from whygrad.ops.namespace import recorded
from whygrad.ops.public import return_types
from whygrad.tensor import Tensor, dtypes

Array = Any


def _slope_of_size(xp: Any, incoming: Array, a: Array, y: Array) -> Array:
    return xp.where(a == 0, 0.0, incoming * (y / xp.where(a == 0, 1.0, a)))


elementwise(
    "copysign(a, b)",
    "y = |a| with the sign of b;  ∂y/∂a = ±1 (0 at a = 0),  ∂y/∂b = 0",
    forward=np.copysign,
    vjp={"a": _slope_of_size, "b": no_slope},
    refuses=UNORDERED,
    subgradient="0 at a = 0",
    samples=lambda make: [
        make.call(make(3, 4), make(3, 4)),
        make.call(make(3, 1), make(1, 4)),
        make.call(make(2, 3), -1.5),
        make.call(make.ints(4, low=-3), make.ints(4, low=-3)),
        make.call(make(0, 3), make(3)),
    ],
)
elementwise(
    "nextafter(a, b)",
    "y = the next number after a in the direction of b;  ∂y/∂a = 1 (0 at a = b),  ∂y/∂b = 0",
    forward=np.nextafter,
    vjp={
        "a": lambda xp, incoming, a, b: xp.where(a == b, 0.0, incoming),
        "b": no_slope,
    },
    promote="same",
    refuses=UNORDERED,
    subgradient="0 at a = b",
    samples=lambda make: [
        make.call(make(3, 4), make(4)),
        make.call(make(0, 3), make(3)),
    ],
)

_WHOLE_ONLY = {
    "float": (
        "only whole numbers have common divisors and multiples",
        "round and convert: .long()",
    ),
    **UNORDERED,
}
for _name, _kernel, _symbol in (
    ("gcd", np.gcd, "the greatest common divisor of |a| and |b|"),
    ("lcm", np.lcm, "the least common multiple of |a| and |b|"),
):
    elementwise(
        f"{_name}(a, b)",
        f"y = {_symbol}",
        forward=_kernel,
        vjp=None,
        promote="same",
        refuses=_WHOLE_ONLY,
        samples=lambda make: [
            make.call(make.ints(3, 4, low=-12, high=12), make.ints(4, low=-12, high=12)),
            make.call(make.ints(low=2, high=9), make.ints(low=2, high=9)),
        ],
    )


define(
    "binary_exponent(x)",
    "y = the exponent e with |x| = m·2ᵉ and ½ ≤ m < 1",
    forward=lambda x: np.frexp(x)[1],
    vjp=None,
    meta=lambda x: (x.shape, np.dtype(np.int32)),
    batching=leading_dims,
    internal=True,
    samples=lambda make: [make.call(make(3, 4)), make.call(make(0, 2))],
)
define(
    "shift_exponent(x, exponent)",
    "y = x·2^exponent, exact even where 2^exponent is too large;  ∂y/∂x = 2^exponent",
    forward=lambda x, exponent: np.ldexp(x, exponent),
    vjp={"x": lambda xp, incoming, exponent: xp.shift_exponent(incoming, exponent)},
    jvp=lambda xp, tangents, exponent: xp.shift_exponent(tangents[0], exponent),
    meta=lambda x, exponent: (x.shape, x.dtype),
    batching=leading_dims,
    internal=True,
    samples=lambda make: [make.call(make(3, 4), make.ints(3, 4).astype(np.int32))],
)


def frexp(input: Tensor) -> Any:
    """The mantissa, between ½ and 1 in size, and the power of two that was taken out."""
    if not input.dtype.is_floating_point:
        raise fail(
            RuntimeError,
            call=f"frexp({describe(input)})",
            cause=f"frexp() only supports floating-point dtypes, not {input.dtype.name}",
            fix="convert it first: input.float()",
        )
    exponent = recorded.binary_exponent(input)
    return return_types.frexp(recorded.shift_exponent(input, -exponent), exponent)


composite(
    frexp,
    "x = mantissa·2^exponent with ½ ≤ |mantissa| < 1;  ∂mantissa/∂x = 2^−exponent",
    samples=lambda make: [make.call(make(3, 4)), make.call(make()), make.call(make(0, 2))],
)


def ldexp(input: Tensor, other: Tensor) -> Tensor:
    """``input`` times two to the power of ``other``."""
    product = input * table["pow"].public(2.0, other)
    exact = input.dtype.is_floating_point and not other.dtype.is_floating_point
    return product.to(input.dtype) if exact and not other.dtype.is_complex else product


def float_power(input: Any, exponent: Any) -> Tensor:
    """``pow`` in double precision, whatever the dtypes are."""
    wide = dtypes.result_type(input, exponent)
    target = dtypes.complex128 if wide.is_complex else dtypes.float64
    base, power = (
        each.to(target) if isinstance(each, Tensor) else each for each in (input, exponent)
    )
    if not isinstance(power, Tensor) and isinstance(power, int):
        power = float(power)
    return table["pow"].public(base, power)


def rsub(input: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
    """``other − alpha·input``."""
    return table["sub"].public(other, input, alpha=alpha)


composite(
    ldexp,
    "y = a·2ᵇ",
    inplace=True,
    samples=lambda make: [
        make.call(make(3, 4), make.ints(4)),
        make.call(make.ints(3), make.ints(3)),
        make.call(make(3, 1), make(4)),
    ],
)
composite(
    float_power,
    "y = aᵇ in float64",
    inplace=True,
    samples=lambda make: [
        make.call(make(3, 4, low=0.3), make(4)),
        make.call(make.ints(3, low=1), 2),
        make.call(2, make.ints(3)),
        make.call(make.ints(3, low=1), make.ints(3, low=-2)),
    ],
)
composite(
    rsub,
    "y = b − alpha·a",
    method=False,
    samples=lambda make: [
        make.call(make(3, 4), make(4)),
        make.call(make(3), 2.5),
        make.call(make(3), make(3), alpha=0.5),
        make.call(make.ints(3), 2, alpha=3),
    ],
)
