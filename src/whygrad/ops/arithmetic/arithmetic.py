"""Sums, products and their relatives.

``add``, ``sub``, ``mul`` and ``div`` are the hottest ops there are: two operands, no parameters,
a bare ufunc as kernel.  What PyTorch's functions offer beyond that (``alpha``, ``rounding_mode``)
is worked out before the primitive is called, so the operators never pay for it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from whygrad.dispatch import register
from whygrad.errors import describe, describe_call, fail
from whygrad.ops.complex_numbers import real_product
from whygrad.ops.define import Op, alias, composite, elementwise, table
from whygrad.ops.undefined import DIVISION
from whygrad.tensor import Tensor, dtypes, keys

__all__ = ["wrap_numbers"]

Array = Any
_NUMBERS = keys.SCALAR_BITS


def _scaled(name: str, input: Any, other: Any, alpha: Any) -> Any:
    """``alpha`` times ``other``, in the dtype that the sum will have."""
    if type(alpha) is int and alpha == 1:
        return other
    if isinstance(alpha, Tensor):
        alpha = alpha.item()
    common = dtypes.result_type(input, other)
    category = dtypes.CATEGORY_OF_PYTHON[type(alpha)]
    if category > max(common.category, dtypes.INTEGER):
        kind, what = ("integral", "floating point") if category == dtypes.FLOAT else (
            "non-complex", "complex",
        )  # fmt: skip
        raise fail(
            RuntimeError,
            call=f"{name}({describe(input)}, {describe(other)}, alpha={alpha})",
            cause=f"For {kind} input tensors, argument alpha must not be a {what} number",
            fix=f"convert a tensor first: input.to(whygrad.{dtypes.result_type(alpha).name})",
        )
    if category == dtypes.BOOL and common is not dtypes.bool_:
        raise fail(
            RuntimeError,
            call=f"{name}({describe(input)}, {describe(other)}, alpha={alpha})",
            cause="Boolean alpha only supported for Boolean results",
            fix=f"pass alpha={int(alpha)}",
        )
    if common is dtypes.bool_:
        alpha = bool(alpha)
    if isinstance(other, Tensor):
        other = other.to(common)
    return other * alpha


def _add_args(input: Any, other: Any, *, alpha: Any = 1) -> tuple[Any, Any]:
    return input, _scaled("add", input, other, alpha)


def _sub_args(input: Any, other: Any, *, alpha: Any = 1) -> tuple[Any, Any]:
    return input, _scaled("sub", input, other, alpha)


def _scaled_samples(make: Any) -> list[Any]:
    return [
        *make.pairs(),
        make.call(make(2, 3), 1.5),
        make.call(make(2, 3), make(3), alpha=2.5),
        make.call(make(2, 3), 3, alpha=2),
        make.call(make.ints(3), make.ints(3), alpha=-2),
        make.call(make.ints(3), 2),
    ]


elementwise(
    "add(a, b)",
    "y = a + b;  ∂y/∂a = 1,  ∂y/∂b = 1",
    complex_rule="holomorphic",
    forward=np.add,
    vjp={"a": lambda xp, incoming: incoming, "b": lambda xp, incoming: incoming},
    promote="same",
    public=_add_args,
    samples=_scaled_samples,
)
elementwise(
    "sub(a, b)",
    "y = a − b;  ∂y/∂a = 1,  ∂y/∂b = −1",
    complex_rule="holomorphic",
    forward=np.subtract,
    vjp={"a": lambda xp, incoming: incoming, "b": lambda xp, incoming: -incoming},
    promote="same",
    refuses={
        "bool": (
            "Subtraction, the `-` operator, with a bool tensor is not supported",
            "invert a mask with `~` or logical_not(), compare two with `^`; to count, use .int()",
        )
    },
    public=_sub_args,
    samples=_scaled_samples,
)
elementwise(
    "mul(a, b)",
    "y = a·b;  ∂y/∂a = b,  ∂y/∂b = a",
    complex_rule="holomorphic",
    forward=np.multiply,
    vjp={
        "a": lambda xp, incoming, b: incoming * b,
        "b": lambda xp, incoming, a: incoming * a,
    },
    promote="same",
)


def _div_args(input: Any, other: Any, *, rounding_mode: str | None = None) -> Any:
    if rounding_mode is None:
        return input, other
    if rounding_mode == "floor":
        return table["floor_divide"].call(input, other)
    if rounding_mode == "trunc":
        return table["trunc_divide"].call(input, other)
    raise fail(
        RuntimeError,
        call=f"div({describe(input)}, {describe(other)}, rounding_mode={rounding_mode!r})",
        cause="div expected rounding_mode to be one of None, 'trunc', or 'floor'",
        fix="None divides exactly, 'trunc' rounds towards zero, 'floor' downwards",
    )


elementwise(
    "div(a, b)",
    "y = a / b;  ∂y/∂a = 1/b,  ∂y/∂b = −a/b²",
    complex_rule="holomorphic",
    undefined=DIVISION,
    forward=np.true_divide,
    vjp={
        "a": lambda xp, incoming, b: incoming / b,
        "b": lambda xp, incoming, a, b: -incoming * (a / b / b),
    },
    subgradient="with a rounding mode the result is a staircase: slope 0, at the steps too",
    public=_div_args,
    samples=lambda make: [
        *make.pairs(low=0.5, high=2.0),
        make.call(make(2, 3), 1.5),
        make.call(make.ints(3), make.ints(3, low=1)),
        make.call(make(2, 3), make(3, low=0.3, high=0.6), rounding_mode="floor"),
        make.call(make(2, 3), 0.37, rounding_mode="trunc"),
        make.call(make.ints(4, low=-9, high=9), make.ints(4, low=1), rounding_mode="trunc"),
        make.call(make.ints(4, low=-9, high=9), -4, rounding_mode="floor"),
    ],
)


def _div_or_zero(a: Array, b: Array) -> Array:
    zero = b == 0
    if not np.count_nonzero(zero):
        return a / b
    return np.where(zero, 0.0, a / np.where(zero, 1.0, b)).astype(a.dtype, copy=False)


elementwise(
    "div_or_zero(a, b)",
    "y = a / b, and 0 with slope 0 where b = 0;  ∂y/∂a = 1/b,  ∂y/∂b = −y/b",
    complex_rule="holomorphic",
    forward=_div_or_zero,
    vjp={
        "a": lambda xp, incoming, b: xp.div_or_zero(incoming, b),
        "b": lambda xp, incoming, b, y: -xp.div_or_zero(incoming * y, b),
    },
    internal=True,
    notes="for slopes of roots, where a plain 0/0 would come back as NaN at the next order",
    samples=lambda make: [
        *make.pairs(low=0.5, high=2.0),
        make.call(make(2, 3), make.constant(np.array([0.0, 2.0, -0.5]))),
    ],
)


elementwise(
    "neg(x)",
    "y = −x;  ∂y/∂x = −1",
    complex_rule="holomorphic",
    forward=np.negative,
    vjp={"x": lambda xp, incoming: -incoming},
    promote="same",
    refuses={
        "bool": (
            "Negation, the `-` operator, on a bool tensor is not supported",
            "use `~` or logical_not() to invert a mask",
        )
    },
)


def positive(input: Tensor) -> Tensor:
    """The tensor itself; what ``+x`` means."""
    if input.dtype is dtypes.bool_:
        raise fail(
            RuntimeError,
            call=f"positive({describe(input)})",
            cause="The `+` operator, on a bool tensor is not supported",
            fix="convert it first: input.int()",
        )
    return input


composite(
    positive,
    "y = x",
    samples=lambda make: [make.call(make(3, 4)), make.call(make.ints(3))],
)
elementwise(
    "abs(x)",
    "y = |x|;  ∂y/∂x = sgn x",
    forward=np.abs,
    vjp={"x": lambda xp, incoming, x: incoming * xp.sgn(x)},
    jvp=lambda xp, tangents, x: real_product(xp, tangents[0], xp.sgn(x)),
    complex_rule="own",
    promote="same",
    meta=lambda x: (x.shape, np.empty(0, x.dtype).real.dtype),
    refuses={
        "bool": ("\"abs_cpu\" not implemented for 'Bool'", "a mask is its own absolute value")
    },
    kinks={"x": (0.0,)},
    subgradient="0 at x = 0",
)


def _lerp(x: Array, end: Array, weight: Array) -> Array:
    """Start from the nearer end, so that weight 1 gives ``end`` exactly."""
    step = end - x
    if type(weight) in _NUMBERS:
        return x + weight * step if abs(weight) < 0.5 else end - step * (1 - weight)
    return np.where(np.abs(weight) < 0.5, x + weight * step, end - step * (1 - weight))


elementwise(
    "lerp(x, end, weight)",
    "y = x + w·(end − x);  ∂y/∂x = 1 − w,  ∂y/∂end = w,  ∂y/∂w = end − x",
    complex_rule="holomorphic",
    forward=_lerp,
    vjp={
        "x": lambda xp, incoming, weight: incoming * (1 - weight),
        "end": lambda xp, incoming, weight: incoming * weight,
        "weight": lambda xp, incoming, x, end: incoming * (end - x),
    },
    promote="same",
    public=lambda input, end, weight: (input, end, weight),
    samples=lambda make: [
        make.call(make(3, 4), make(3, 4), 0.3),
        make.call(make(3, 4), make(4), 0.8),
        make.call(make(3, 1), make(1, 4), make(3, 4, low=0.0, high=1.0)),
        make.call(make(), make(), make(low=0.0, high=1.0)),
        make.call(make(0, 3), make(3), 2.0),
    ],
)


def _fused_args(input: Tensor, tensor1: Tensor, tensor2: Tensor, value: Any) -> tuple[Any, ...]:
    common = dtypes.result_type(input, tensor1, tensor2)
    if common is dtypes.bool_:
        raise fail(
            NotImplementedError,
            call=describe_call(
                "addcmul", ("input", "tensor1", "tensor2"), (input, tensor1, tensor2)
            ),
            cause="addcmul is not implemented for bools alone",
            fix="convert one of them: input.int()",
        )
    if common.category <= dtypes.INTEGER:
        value = int(value)  # PyTorch converts the factor to the dtype of the result
    return input, tensor1, tensor2, value


def _addcdiv_args(
    input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Any = 1
) -> tuple[Any, ...]:
    if dtypes.integer_or_bool((tensor1.dtype, tensor2.dtype)):
        raise fail(
            RuntimeError,
            call=describe_call(
                "addcdiv", ("input", "tensor1", "tensor2"), (input, tensor1, tensor2)
            ),
            cause="Integer division with addcdiv is no longer supported",
            fix="convert tensor1 with .float(), or write input + value * (tensor1 // tensor2)",
        )
    return _fused_args(input, tensor1, tensor2, value)


def _triples(make: Any) -> list[Any]:
    return [
        make.call(make(3, 4), make(3, 4), make(3, 4, low=0.5)),
        make.call(make(3, 1), make(4), make(3, 4, low=0.5), value=-0.7),
        make.call(make(), make(), make(low=0.5), value=2),
        make.call(make(2, 3), make(3), make(low=0.5), value=0.5),
        make.call(make(0, 3), make(3), make(low=0.5)),
    ]


elementwise(
    "addcmul(x, a, b; value)",
    "y = x + value·a·b;  ∂y/∂x = 1,  ∂y/∂a = value·b,  ∂y/∂b = value·a",
    complex_rule="holomorphic",
    forward=lambda x, a, b, value: x + (a * b if value == 1 else value * a * b),
    vjp={
        "x": lambda xp, incoming: incoming,
        "a": lambda xp, incoming, b, value: incoming * (value * b),
        "b": lambda xp, incoming, a, value: incoming * (value * a),
    },
    promote="same",
    public=lambda input, tensor1, tensor2, *, value=1: _fused_args(input, tensor1, tensor2, value),
    samples=lambda make: [
        *_triples(make),
        make.call(make.ints(3), make.ints(3), make.ints(3), value=3),
    ],
)
elementwise(
    "addcdiv(x, a, b; value)",
    "y = x + value·a/b;  ∂y/∂x = 1,  ∂y/∂a = value/b,  ∂y/∂b = −value·a/b²",
    complex_rule="holomorphic",
    undefined=DIVISION[1:],
    forward=lambda x, a, b, value: x + (a / b if value == 1 else value * a / b),
    vjp={
        "x": lambda xp, incoming: incoming,
        "a": lambda xp, incoming, b, value: incoming * (value / b),
        "b": lambda xp, incoming, a, b, value: -incoming * (value * a / (b * b)),
    },
    promote="same",
    public=_addcdiv_args,
    samples=_triples,
)


def wrap_numbers(op: Op) -> None:
    """Let Python ints wrap around in the narrow integer dtypes, as PyTorch does.

    NumPy refuses ``uint8 + (−1)`` because −1 is no uint8.
    """

    def kernel(*args: Any) -> Array:
        dtype = next(arg.dtype for arg in args if isinstance(arg, np.ndarray))
        return op.forward(
            *(np.int64(arg).astype(dtype) if type(arg) is int else arg for arg in args)
        )

    for name in ("uint8", "int8", "int16", "int32"):
        register(op, keys.DTYPE_BITS[name] | keys.SCALAR_BITS[int] | keys.CPU, kernel)


for _name in ("add", "sub", "mul"):
    wrap_numbers(table[_name])
for _name, _original in {
    "absolute": "abs",
    "divide": "div",
    "multiply": "mul",
    "negative": "neg",
    "subtract": "sub",
    "true_divide": "div",
}.items():
    alias(_name, _original)
