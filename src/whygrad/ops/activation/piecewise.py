"""Activations made of straight pieces.

The rules choose with ``where`` instead of multiplying by 0 or 1: an infinite gradient that arrives
at a flat piece leaves it as 0, not as NaN.  At the corners the choice is PyTorch's.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from whygrad.errors import fail
from whygrad.ops.activation.smooth import NUMBERS, ONLY_FLOATS
from whygrad.ops.define import composite, elementwise
from whygrad.ops.indexing.masking import choose
from whygrad.tensor import Tensor

__all__ = ["relu6"]

Array = Any


def _relu_args(input: Tensor, inplace: bool = False) -> Any:
    """x where positive, 0 elsewhere."""
    return input.relu_() if inplace else (input,)


elementwise(
    "relu(x)",
    "y = max(x, 0);  ∂y/∂x = 1 if y > 0 else 0",
    forward=lambda x: np.maximum(x, 0),
    vjp={"x": lambda xp, incoming, y: xp.where(y <= 0, 0.0, incoming)},
    flat=("x",),
    kinks={"x": (0.0,)},
    subgradient="0 at 0",
    promote="none",
    refuses=NUMBERS,
    public=_relu_args,
)


def _leaky_relu_args(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Any:
    """x where positive, negative_slope·x elsewhere."""
    return input.leaky_relu_(negative_slope) if inplace else (input, float(negative_slope))


elementwise(
    "leaky_relu(x; negative_slope)",
    "y = x if x > 0 else slope·x;  ∂y/∂x = 1 or slope",
    forward=lambda x, negative_slope: choose(x > 0, x, x * negative_slope),
    vjp={
        "x": lambda xp, incoming, x, negative_slope: xp.where(
            x > 0, incoming, incoming * negative_slope
        )
    },
    flat=("x",),
    kinks={"x": (0.0,)},
    subgradient="negative_slope at 0",
    refuses=ONLY_FLOATS,
    public=_leaky_relu_args,
    torch="nn.functional.leaky_relu",
    inplace=True,
    samples=lambda make: [
        make.call(make(3, 4)),
        make.call(make(), 0.3),
        make.call(make(0, 3)),
        make.call(make(2, 1, 3), negative_slope=-0.5),
    ],
)


def _prelu_args(input: Tensor, weight: Tensor) -> Any:
    """x where positive, weight·x elsewhere; one weight for all, or one per channel (dim 1)."""
    if input.dtype is not weight.dtype:
        raise _prelu_error(
            input,
            weight,
            f"prelu: Type promoting not supported. Got {input.dtype.name} and {weight.dtype.name}",
            "convert one of them: weight.to(input.dtype)",
        )
    if weight.ndim > 1:
        raise _prelu_error(
            input,
            weight,
            f"Expected `weight` to be a scalar or 1D tensor, but got: ndim = {weight.ndim}",
            "pass one number, or one per channel: weight.flatten()",
        )
    if weight.numel() == 1:
        return input, weight.reshape(())
    channels = input.shape[1] if input.ndim > 1 else 1
    if weight.numel() != channels:
        raise _prelu_error(
            input,
            weight,
            "Mismatch of parameter numbers and input channel size. Found parameter numbers = "
            f"{weight.numel()} and channel size = {channels}",
            "channels are dimension 1 of the input: pass one weight, or one per channel",
        )
    return input, weight.reshape((channels, *(1,) * (input.ndim - 2)))


def _prelu_error(input: Tensor, weight: Tensor, cause: str, fix: str) -> RuntimeError:
    call = f"prelu of input {tuple(input.shape)} with weight {tuple(weight.shape)}"
    return fail(RuntimeError, call=call, cause=cause, fix=fix)


elementwise(
    "prelu(x, weight)",
    "y = x if x > 0 else weight·x;  ∂y/∂x = 1 or weight,  ∂y/∂weight = 0 or x",
    forward=lambda x, weight: choose(x > 0, x, weight * x),
    vjp={
        "x": lambda xp, incoming, x, weight: xp.where(x > 0, incoming, incoming * weight),
        "weight": lambda xp, incoming, x: xp.where(x > 0, 0.0, incoming * x),
    },
    flat=("x", "weight"),
    kinks={"x": (0.0,)},
    subgradient="weight at 0",
    promote="none",
    refuses=ONLY_FLOATS,
    public=_prelu_args,
    samples=lambda make: [
        make.call(make(3, 4), make(4)),
        make.call(make(3, 4), make(1)),
        make.call(make(2, 3, 2), make(3)),
        make.call(make(5), make()),
        make.call(make(), make(1)),
        make.call(make(0, 3), make(3)),
    ],
    autocast="lower",
    inplace=False,
)


def _hardtanh_args(
    input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False
) -> Any:
    """x held between min_val and max_val."""
    if min_val > max_val:
        raise fail(
            ValueError,
            call=f"hardtanh(x, min_val={min_val}, max_val={max_val})",
            cause="min_val cannot be greater than max_val",
            fix="swap them",
        )
    if min_val < 0 and input.dtype.name == "uint8":
        raise fail(
            RuntimeError,
            call=f"hardtanh(x, min_val={min_val}) of a uint8 tensor",
            cause="cannot do hardtanh on an unsigned type with negative limits",
            fix="pass min_val=0, or convert the input",
        )
    if inplace:
        return input.hardtanh_(min_val, max_val)
    number = float if input.dtype.is_floating_point else int
    return input, number(min_val), number(max_val)


elementwise(
    "hardtanh(x; min_val, max_val)",
    "y = x held between min and max;  ∂y/∂x = 1 between them, 0 outside",
    forward=lambda x, min_val, max_val: np.clip(x, min_val, max_val),
    vjp={
        "x": lambda xp, incoming, x, min_val, max_val: xp.where(
            (x > min_val) & (x < max_val), incoming, 0.0
        )
    },
    flat=("x",),
    kinks={"x": (-1.0, 1.0)},
    subgradient="0 at both limits",
    promote="none",
    refuses=NUMBERS,
    public=_hardtanh_args,
    torch="nn.functional.hardtanh",
    inplace=True,
    samples=lambda make: [
        make.call(make(3, 4)),
        make.call(make(), -0.5, 0.25),
        make.call(make(0, 3)),
        make.call(make.constant(make.ints(3, 4, low=-4)), -1.5, 2.5),
        make.call(make(5), min_val=-0.3),
    ],
)


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """x held between 0 and 6."""
    from whygrad.ops.define import table

    result: Tensor = table["hardtanh"].public(input, 0.0, 6.0, inplace)
    return result


composite(
    relu6,
    "y = min(max(x, 0), 6)",
    torch="nn.functional.relu6",
    samples=lambda make: [
        make.call(make(3, 4)),
        make.call(make(5, low=3.0, high=9.0)),
        make.call(make()),
        make.call(make(0, 3)),
    ],
)


def _hardsigmoid(x: Array) -> Array:
    out = np.add(x, 3.0, out=np.empty_like(x))
    np.clip(out, 0.0, 6.0, out)
    out /= 6.0
    return out


def _hardswish(x: Array) -> Array:
    out = _hardsigmoid(x)
    out *= x
    return out


elementwise(
    "hardsigmoid(x)",
    "y = x/6 + ½ held between 0 and 1;  ∂y/∂x = 1/6 between them, 0 outside",
    image=(0.0, 1.0),
    forward=_hardsigmoid,
    vjp={"x": lambda xp, incoming, x: xp.where((x > -3) & (x < 3), incoming / 6.0, 0.0)},
    flat=("x",),
    kinks={"x": (-3.0, 3.0)},
    subgradient="0 at ±3",
    refuses=ONLY_FLOATS,
    public=lambda input, inplace=False: input.hardsigmoid_() if inplace else (input,),
    torch="",
    method=False,
    inplace=True,
    notes="PyTorch's backward rounds 1/6 to float32, so float64 gradients differ from it by 3e-8.",
    domain={"x": (-5.0, 5.0)},
)
elementwise(
    "hardswish(x)",
    "y = x·hardsigmoid(x);  ∂y/∂x = 0 up to −3, x/3 + ½ in between, 1 from 3 on",
    forward=_hardswish,
    vjp={
        "x": lambda xp, incoming, x: xp.where(
            x <= -3, 0.0, xp.where(x < 3, incoming * (x / 3.0 + 0.5), incoming)
        )
    },
    kinks={"x": (-3.0, 3.0)},
    subgradient="0 at −3, 1 at 3",
    refuses=ONLY_FLOATS,
    public=lambda input, inplace=False: input.hardswish_() if inplace else (input,),
    torch="nn.functional.hardswish",
    inplace=True,
    domain={"x": (-5.0, 5.0)},
)
elementwise(
    "hardshrink(x; lambd)",
    "y = 0 if −λ ≤ x ≤ λ else x;  ∂y/∂x = 0 or 1",
    forward=lambda x, lambd: choose((x >= -lambd) & (x <= lambd), 0.0, x),
    vjp={"x": lambda xp, incoming, x, lambd: xp.where((x < -lambd) | (x > lambd), incoming, 0.0)},
    flat=("x",),
    kinks={"x": (-0.5, 0.5)},
    subgradient="0 at ±λ",
    refuses=ONLY_FLOATS,
    public=lambda input, lambd=0.5: (input, float(lambd)),
    samples=lambda make: [
        make.call(make(3, 4)),
        make.call(make(), 0.1),
        make.call(make(0, 3)),
        make.call(make(5), lambd=-1.0),
    ],
    inplace=False,
)


def _softshrink_args(input: Tensor, lambd: float = 0.5) -> Any:
    """x moved by lambd towards 0."""
    if not lambd >= 0:
        raise fail(
            RuntimeError,
            call=f"softshrink(x, lambd={lambd})",
            cause=f"lambda must be greater or equal to 0, but found to be {lambd}",
            fix="pass how far to move values towards 0",
        )
    return input, float(lambd)


elementwise(
    "softshrink(x; lambd)",
    "y = x moved by λ towards 0;  ∂y/∂x = 0 if −λ ≤ x ≤ λ else 1",
    forward=lambda x, lambd: x - np.clip(x, -lambd, lambd),
    vjp={"x": lambda xp, incoming, x, lambd: xp.where((x < -lambd) | (x > lambd), incoming, 0.0)},
    flat=("x",),
    kinks={"x": (-0.5, 0.5)},
    subgradient="0 at ±λ",
    refuses=ONLY_FLOATS,
    public=_softshrink_args,
    torch="nn.functional.softshrink",
    samples=lambda make: [
        make.call(make(3, 4)),
        make.call(make(), 0.1),
        make.call(make(0, 3)),
        make.call(make(5), lambd=0),
    ],
)


def _threshold_args(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Any:
    """x where greater than threshold, value elsewhere."""
    if inplace:
        return input.threshold_(threshold, value)
    number = float if input.dtype.is_floating_point else int
    return input, number(threshold), number(value)


elementwise(
    "threshold(x; threshold, value)",
    "y = x if x > threshold else value;  ∂y/∂x = 1 or 0",
    forward=lambda x, threshold, value: choose(x <= threshold, value, x),
    vjp={
        "x": lambda xp, incoming, x, threshold: xp.where(x <= threshold, 0.0, incoming),
    },
    flat=("x",),
    kinks={"x": (0.25,)},
    subgradient="0 at the threshold",
    promote="none",
    refuses=NUMBERS,
    public=_threshold_args,
    inplace=True,
    torch="nn.functional.threshold",
    samples=lambda make: [
        make.call(make(3, 4), 0.25, -7.0),
        make.call(make(), threshold=0.25, value=1),
        make.call(make(0, 3), 0.25, 20.0),
        make.call(make.constant(make.ints(3, 4)), 1.5, 9.5),
    ],
)
