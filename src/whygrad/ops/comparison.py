"""Questions about elements: comparisons, tests for special values, logic on bools and bits.

The answers are bools (integers for bit operations), so no gradient flows through any of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from whygrad.errors import describe, fail
from whygrad.ops.define import alias, composite, define, elementwise, table
from whygrad.tensor import Tensor

__all__ = ["allclose", "equal"]

Array = Any


def _answers(*args: Any) -> Any:
    """Meta: one bool per element of the broadcast arguments."""
    shapes = (arg.shape for arg in args if hasattr(arg, "shape"))
    return np.broadcast_shapes(*shapes), np.bool_


def _pairs(make: Any) -> list[Any]:
    """Samples with ties, broadcasting, mixed dtypes and Python numbers."""
    return [
        make.call(make.ints(3, 4), make.ints(3, 4)),
        make.call(make.ints(3, 4) * 0.5, make.ints(4) * 0.5),
        make.call(make.ints(3, 1), make.ints(1, 4) * 0.5),
        make.call(make.ints(), np.asarray(make.ints() * 1.0)),
        make.call(make.ints(0, 3), make.ints(1, 3)),
        make.call(make.bools(3, 4), make.ints(3, 4, high=2)),
        make.call(np.array([np.nan, np.inf, -np.inf, 0.0]), np.array([np.nan, np.inf, 0.0, -0.0])),
    ]


def _pairs_and_numbers(make: Any) -> list[Any]:
    return [
        *_pairs(make),
        make.call(make.ints(3, 4), 2),
        make.call(make.ints(3, 4), 1.5),
        make.call(make.bools(3), True),
    ]


_UNORDERED = {"complex": ("complex numbers have no order", "compare .abs() or .real")}

for _name, _aliases, _sign, _ufunc in (
    ("eq", (), "=", np.equal),
    ("ne", ("not_equal",), "≠", np.not_equal),
    ("lt", ("less",), "<", np.less),
    ("le", ("less_equal",), "≤", np.less_equal),
    ("gt", ("greater",), ">", np.greater),
    ("ge", ("greater_equal",), "≥", np.greater_equal),
):
    elementwise(
        f"{_name}(a, b)",
        f"y = whether a {_sign} b",
        forward=_ufunc,
        vjp=None,
        promote="same",
        meta=_answers,
        refuses={} if _name in ("eq", "ne") else _UNORDERED,
        samples=_pairs_and_numbers,
    )
    for _alias in _aliases:
        alias(_alias, _name)

_SPECIAL = np.array([np.inf, -np.inf, np.nan, 0.0, -0.0, 1.5, -1.5])


def _specials(make: Any) -> list[Any]:
    return [
        make.call(_SPECIAL.copy()),
        make.call(_SPECIAL.reshape(7, 1).copy()),
        make.call(np.array(np.nan)),
        make.call(make(0, 3)),
        make.call(make.ints(3, low=-2)),
        make.call(make.bools(3)),
    ]


_NO_SIGN = {"complex": ("complex numbers have no sign", "ask about .real or .imag")}

_kernel: Any
for _name, _formula, _kernel in (
    ("isnan", "y = whether x is not a number", np.isnan),
    ("isinf", "y = whether x is +∞ or −∞", np.isinf),
    ("isfinite", "y = whether x is a number other than ±∞", np.isfinite),
    ("isposinf", "y = whether x is +∞", lambda x: x == np.inf),
    ("isneginf", "y = whether x is −∞", lambda x: x == -np.inf),
    ("isreal", "y = whether x has no imaginary part", np.isreal),
    ("signbit", "y = whether x is negative, −0 included", np.signbit),
):
    elementwise(
        f"{_name}(x)",
        _formula,
        forward=_kernel,
        vjp=None,
        promote="none",
        meta=_answers,
        inplace=False,
        refuses=_NO_SIGN if _name in ("isposinf", "isneginf", "signbit") else {},
        samples=_specials,
    )

for _name, _formula, _kernel in (
    ("logical_and", "y = whether a and b are both nonzero", np.logical_and),
    ("logical_or", "y = whether a or b is nonzero", np.logical_or),
    ("logical_xor", "y = whether exactly one of a and b is nonzero", np.logical_xor),
):
    elementwise(
        f"{_name}(a, b)",
        _formula,
        forward=_kernel,
        vjp=None,
        promote="none",
        meta=_answers,
        samples=_pairs,
    )
elementwise(
    "logical_not(x)",
    "y = whether x is zero",
    forward=np.logical_not,
    vjp=None,
    promote="none",
    meta=_answers,
    samples=_specials,
)

_NO_BITS = {
    kind: (f"not implemented for {kind} tensors: bits are those of integers and bools", fix)
    for kind, fix in {
        "float": "use logical_and and its relatives for truth, or convert with .long()",
        "complex": "use logical_and and its relatives for truth",
    }.items()
}


def _bit_patterns(make: Any) -> list[Any]:
    return [
        make.call(make.ints(3, 4, low=-9, high=9), make.ints(3, 4, low=-9, high=9)),
        make.call(make.ints(3, 1), make.ints(1, 4)),
        make.call(make.ints(3, 4), 3),
        make.call(make.bools(3), make.ints(3)),
        make.call(make.ints(), make.ints()),
        make.call(make.ints(0, 3), make.ints(3)),
        make.call(make.ints(4).astype(np.uint8), make.ints(4).astype(np.int8)),
    ]


def _shifts(make: Any) -> list[Any]:
    return [
        make.call(make.ints(3, 4, low=-9, high=9), make.ints(3, 4)),
        make.call(make.ints(3, 1), make.ints(1, 4)),
        make.call(make.ints(3, 4, low=-9), 70),
        make.call(make.ints(3, 4, low=-9), -1),
        make.call(make.ints(0, 3), make.ints(3)),
    ]


for _name, _formula, _kernel in (
    ("bitwise_and", "y = the bits set in both a and b", np.bitwise_and),
    ("bitwise_or", "y = the bits set in a or b", np.bitwise_or),
    ("bitwise_xor", "y = the bits set in exactly one of a and b", np.bitwise_xor),
    ("bitwise_left_shift", "y = a·2ᵇ, bits beyond the width are lost", np.left_shift),
    ("bitwise_right_shift", "y = a / 2ᵇ rounded down", np.right_shift),
):
    elementwise(
        f"{_name}(a, b)",
        _formula,
        forward=_kernel,
        vjp=None,
        promote="same",
        refuses=_NO_BITS,
        samples=_shifts if "shift" in _name else _bit_patterns,
    )
elementwise(
    "bitwise_not(x)",
    "y = every bit of x flipped; for bools, not x",
    forward=np.invert,
    vjp=None,
    promote="none",
    refuses=_NO_BITS,
    samples=lambda make: [
        make.call(make.ints(3, 4, low=-9)),
        make.call(make.bools(3)),
        make.call(make.ints()),
        make.call(make.ints(0, 3).astype(np.uint8)),
    ],
)


def _isclose(a: Array, b: Array, rtol: float, atol: float, equal_nan: bool) -> Array:
    close = a == b
    if equal_nan:
        close = close | ((a != a) & (b != b))
    if a.dtype.kind in "iub":
        a, b = a.astype(np.float64), b.astype(np.float64)
    difference = np.abs(a - b)
    return close | (np.isfinite(difference) & (difference <= atol + np.abs(rtol * b)))


def _isclose_args(
    input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Any:
    """Whether |input − other| ≤ atol + rtol·|other|, per element."""
    _require_tensor(other, "isclose")
    call = f"isclose({describe(input)}, {describe(other)}, rtol={rtol}, atol={atol})"
    if input.dtype is not other.dtype:
        raise fail(
            RuntimeError,
            call=call,
            cause=f"{input.dtype.name} did not match {other.dtype.name}",
            fix="convert one of them: other.to(input.dtype)",
        )
    for name, tolerance in (("rtol", rtol), ("atol", atol)):
        if tolerance < 0:
            raise fail(
                RuntimeError,
                call=call,
                cause=f"{name} must be greater than or equal to zero, but got {tolerance}",
                fix="pass a tolerance of 0 or more",
            )
    return input, other, float(rtol), float(atol), bool(equal_nan)


def _require_tensor(value: Any, name: str) -> None:
    if not isinstance(value, Tensor):
        raise fail(
            TypeError,
            call=f"{name}(…, {describe(value)})",
            cause=f"argument 'other' must be Tensor, not {type(value).__name__}",
            fix="convert it with whygrad.tensor(value)",
        )


def _close_pairs(make: Any) -> list[Any]:
    x = make(3, 4)
    return [
        make.call(x, x + 1e-7),
        make.call(x, x + make(4) * 1e-4, rtol=1e-4),
        make.call(make.ints(3, 4), make.ints(4), 0.5),
        make.call(_SPECIAL.copy(), _SPECIAL.copy()),
        make.call(_SPECIAL.copy(), _SPECIAL.copy(), equal_nan=True),
        make.call(make(), make(), atol=10.0),
        make.call(make(0, 3), make(3)),
    ]


elementwise(
    "isclose(a, b; rtol, atol, equal_nan)",
    "y = whether |a − b| ≤ atol + rtol·|b|",
    forward=_isclose,
    vjp=None,
    promote="none",
    meta=_answers,
    public=_isclose_args,
    samples=_close_pairs,
    inplace=False,
)


def allclose(
    input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> bool:
    """Whether every element of ``isclose`` is true."""
    close = table["isclose"].public(input, other, rtol, atol, equal_nan)
    return bool(close.all().item())


composite(
    allclose,
    "whether |a − b| ≤ atol + rtol·|b| everywhere, as a Python bool",
    samples=_close_pairs,
    differentiable=False,
)


def equal(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same shape and the same elements."""
    _require_tensor(other, "equal")
    if input.shape != other.shape:
        return False
    return bool(table["eq"].public(input, other).all().item())


composite(
    equal,
    "whether shapes and elements agree, as a Python bool",
    samples=lambda make: [
        make.call(x := make(3, 4), x.copy()),
        make.call(make(3, 4), make(3, 4)),
        make.call(make(3, 4), make(4)),
        make.call(make.ints(0, 3), make.ints(0, 3)),
    ],
    differentiable=False,
)


def _isin_args(
    elements: Any, test_elements: Any, *, assume_unique: bool = False, invert: bool = False
) -> Any:
    """Whether each element occurs among the test elements."""
    if not isinstance(elements, Tensor) and not isinstance(test_elements, Tensor):
        raise fail(
            TypeError,
            call=f"isin({describe(elements)}, {describe(test_elements)})",
            cause="isin() received an invalid combination of arguments: neither is a tensor",
            fix="convert the elements with whygrad.tensor(value)",
        )
    return elements, test_elements, bool(assume_unique), bool(invert)


define(
    "isin(elements, test_elements; assume_unique, invert)",
    "y = whether each element occurs among the test elements",
    forward=lambda elements, test_elements, assume_unique, invert: np.isin(
        elements, test_elements, assume_unique=assume_unique, invert=invert
    ),
    vjp=None,
    meta=lambda elements, *_: (getattr(elements, "shape", ()), np.bool_),
    refuses={
        "bool": ("Unsupported input type encountered for isin(): bool", "convert with .long()"),
        "complex": ("Unsupported input type encountered for isin(): complex", "use == and any()"),
    },
    public=_isin_args,
    method=False,
    samples=lambda make: [
        make.call(make.ints(3, 4), make.ints(2)),
        make.call(make.ints(3, 4), make.ints(2, 2), invert=True),
        make.call(make.ints(3, 4), 2),
        make.call(2, make.ints(3, 4)),
        make.call(make.ints(0, 3), make.ints(2)),
        make.call(make.ints(3) * 0.5, make.ints(4) * 0.5),
        make.call(make.ints(3), make.ints(0)),
    ],
)
