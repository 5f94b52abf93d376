"""The affine map of a layer, as one op."""

from __future__ import annotations

from math import prod
from typing import Any

from whygrad.errors import describe, fail
from whygrad.ops.batching import align
from whygrad.ops.define import define
from whygrad.ops.products.products import NO_BOOL, matmul_of_batch
from whygrad.tensor import Tensor

Array = Any
Shape = tuple[int, ...]


def _linear(x: Array, weight: Array, bias: Array | None) -> Array:
    if x.ndim <= 2:
        out = x @ weight.T
    else:  # one product of two matrices is faster than a stack of small ones
        outputs, inputs = weight.shape
        out = x.reshape(prod(x.shape[:-1]), inputs) @ weight.T
        out = out.reshape(*x.shape[:-1], outputs)
    if bias is not None:
        out += bias
    return out


def _weight_rule(xp: Any, incoming: Array, x: Array, weight_shape: Shape) -> Array:
    outputs, inputs = weight_shape
    rows = prod(x.shape[:-1])
    flat = xp.reshape(incoming, (rows, outputs))
    return xp.matmul(xp.transpose(flat, 0, 1), xp.reshape(x, (rows, inputs)))


def _linear_jvp(
    xp: Any, tangents: Any, x: Array, weight: Array, x_shape: Shape, weight_shape: Shape
) -> Array:
    x_tangent, weight_tangent, bias_tangent = tangents
    parts = []
    if x_tangent is not None:
        parts.append(xp.linear(x_tangent, weight, None))
    if weight_tangent is not None:
        parts.append(xp.linear(x, weight_tangent, None))
    if bias_tangent is not None:
        parts.append(xp.expand(bias_tangent, (*x_shape[:-1], weight_shape[0])))
    return sum(parts[1:], parts[0])


def _linear_args(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Any:
    """input · weightᵀ + bias"""
    if _is_usual(input._array, weight._array, None if bias is None else bias._array):
        return input, weight, bias
    if weight.ndim == 1 and input.ndim and bias is None:
        return input.matmul(weight)
    mistake = _mistake(input, weight, bias)
    if mistake is not None:
        cause, fix = mistake
        raise fail(
            RuntimeError,
            call=f"linear(input: {describe(input)}, weight: {describe(weight)}, "
            f"bias: {describe(bias)})",
            cause=cause,
            fix=fix,
        )
    return input, weight, bias


def _is_usual(x: Array, weight: Array, bias: Array | None) -> bool:
    """The form that layers use, recognised at little cost because layers are called often."""
    shape, dtype = weight.shape, weight.dtype
    return (
        len(shape) == 2
        and x.shape[-1:] == shape[1:]
        and x.dtype == dtype
        and (bias is None or (bias.shape == shape[:1] and bias.dtype == dtype))
    )


def _mistake(input: Tensor, weight: Tensor, bias: Tensor | None) -> tuple[str, str] | None:
    """What is wrong with the arguments, and what to do about it."""
    if not input.ndim or weight.ndim != 2:
        return (
            f"both arguments to linear need to be at least 1D and weight must be a matrix, but "
            f"they are {input.ndim}D and {weight.ndim}D",
            "weight has the shape (features out, features in)",
        )
    if input.shape[-1] != weight.shape[1]:
        rows = prod(input.shape[:-1])
        return (
            f"mat1 and mat2 shapes cannot be multiplied ({rows}x{input.shape[-1]} and "
            f"{weight.shape[1]}x{weight.shape[0]})",
            "the last dimension of input must equal the last dimension of weight",
        )
    tensors = (input, weight) if bias is None else (input, weight, bias)
    if any(each.dtype is not input.dtype for each in tensors):
        names = " and ".join(each.dtype.name for each in tensors)
        return (
            f"expected all arguments to have the same dtype, but got {names}",
            "convert them to one dtype: .to(input.dtype)",
        )
    if bias is not None and not _fits(bias.shape, (*input.shape[:-1], weight.shape[0])):
        return (
            f"bias of shape {bias.shape} cannot be expanded to the output's "
            f"{(*input.shape[:-1], weight.shape[0])}",
            f"pass one number per output: a bias of shape ({weight.shape[0]},)",
        )
    return None


def _fits(small: Shape, whole: Shape) -> bool:
    return len(small) <= len(whole) and all(
        size in (1, full) for size, full in zip(reversed(small), reversed(whole), strict=False)
    )


def _linear_of_batch(
    xp: Any, x: Array, weight: Array, bias: Array | None, batched: tuple[bool, ...]
) -> Array:
    if not batched[1] and not batched[2]:
        return xp.linear(x, weight, bias)
    rank = x.ndim - batched[0]
    if batched[1]:
        flipped = xp.transpose(weight, -2, -1)
        y = matmul_of_batch(xp, x, flipped, batched[:2])
    else:
        y = xp.linear(x, weight, None)
    if bias is None:
        return y
    return y + (align(bias, rank) if batched[2] else bias)


define(
    "linear(x, weight, bias)",
    "y = x·Wᵀ + b;  ∂x = incoming·W,  ∂W = incomingᵀ·x,  ∂b = incoming",
    complex_rule="holomorphic",
    forward=_linear,
    vjp={
        "x": lambda xp, incoming, weight: xp.matmul(incoming, weight),
        "weight": _weight_rule,
        "bias": lambda xp, incoming: incoming,
    },
    jvp=_linear_jvp,
    meta=lambda x, weight, bias: ((*x.shape[:-1], weight.shape[0]), x.dtype),
    batching=_linear_of_batch,
    refuses=NO_BOOL,
    public=_linear_args,
    torch="nn.functional.linear",
    samples=lambda make: [
        make.call(make(4, 3), make(2, 3), make(2)),
        make.call(make(4, 3), make(2, 3)),
        make.call(make(3), make(2, 3), make(2)),
        make.call(make(2, 2, 3), make(2, 3), bias=make(2)),
        make.call(make(4, 3), make(2, 3), make(1)),
        make.call(make(4, 3), make(3)),
        make.call(make(0, 3), make(2, 3), make(2)),
        make.call(make(4, 0), make(2, 0), make(2)),
        make.call(make(4, 3), make.constant(make(2, 3)), make(2)),
    ],
    autocast="lower",
)
