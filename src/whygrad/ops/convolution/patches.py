"""Windows as columns of a matrix and back: PyTorch's ``unfold`` and ``fold`` of images."""

from __future__ import annotations

import operator
from math import prod
from typing import Any

from whygrad.errors import describe, fail
from whygrad.ops.activation.smooth import ONLY_FLOATS
from whygrad.ops.batching import leading_dims
from whygrad.ops.convolution.windows import (
    Dims,
    Pads,
    covered,
    exact_pads,
    folded,
    padded,
    unfolded,
    window_counts,
)
from whygrad.ops.define import define
from whygrad.tensor import Tensor

__all__: list[str] = []

Array = Any
Shape = tuple[int, ...]

NO_INTEGERS = {"integer": ONLY_FLOATS["integer"]}  # PyTorch takes masks and complex images


def _unfold(x: Array, kernel: Dims, stride: Dims, pads: Pads, dilation: Dims) -> Array:
    counts = window_counts(x.shape, kernel, stride, pads, dilation)
    view = unfolded(padded(x, pads), kernel, stride, dilation, counts)
    return view.reshape(_columns_shape(x.shape, kernel, counts))


def _columns_shape(shape: Shape, kernel: Dims, counts: Dims) -> Shape:
    *leading, channels = shape[: len(shape) - len(kernel)]
    return (*leading, channels * prod(kernel), prod(counts))


def _fold(x: Array, kernel: Dims, stride: Dims, pads: Pads, dilation: Dims, counts: Dims) -> Array:
    *leading, rows, _ = x.shape
    columns = x.reshape(*leading, rows // prod(kernel), *kernel, *counts)
    return folded(columns, kernel, stride, pads, dilation)


def _pair(name: str, value: Any, least: int) -> Dims:
    """One or two integers, for height and width."""
    given = tuple(value) if isinstance(value, (tuple, list)) else (value, value)
    found = tuple(map(operator.index, given))
    if len(found) != 2 or min(found) < least:
        raise fail(
            RuntimeError,
            call=f"{name}={value!r}",
            cause=f"{name} should be "
            + ("greater than zero" if least else "non-negative")
            + f" and of length 1 or 2, but got {list(found)}",
            fix=f"pass {name} as one integer or as (height, width)",
        )
    return found


def _unfold_args(
    input: Tensor, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Any:
    """Every window of an image as a column: (…, channels · kernel, windows)."""
    kernel = _pair("kernel_size", kernel_size, 1)
    apart, steps = _pair("dilation", dilation, 1), _pair("stride", stride, 1)
    borders = _pair("padding", padding, 0)
    pads = tuple((each, each) for each in borders)
    if input.ndim not in (3, 4) or 0 in input.shape[-3:]:
        cause = (
            "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero "
            f"dimensions for input, but got: {list(input.shape)}"
        )
        fix = "pass (samples, channels, height, width), or one sample without the first"
    else:
        counts = window_counts(tuple(input.shape), kernel, steps, pads, apart)
        if min(counts) >= 1:
            pads = exact_pads(tuple(input.shape), kernel, steps, pads, apart)
            return input, kernel, steps, pads, apart
        cause = (
            f"Given input with spatial size {tuple(input.shape[-2:])}, kernel_size={kernel}, "
            f"dilation={apart}, padding={borders}, calculated shape of the array of sliding "
            f"blocks as {counts}, but its components must be at least one."
        )
        fix = "use a smaller kernel, or pad"
    raise fail(
        RuntimeError,
        call=f"unfold(input: {describe(input)}, kernel_size={kernel})",
        cause=cause,
        fix=fix,
    )


def _fold_args(
    input: Tensor,
    output_size: Any,
    kernel_size: Any,
    dilation: Any = 1,
    padding: Any = 0,
    stride: Any = 1,
) -> Any:
    """The adjoint of ``unfold``: an image from columns, added up where windows overlap."""
    size = _pair("output_size", output_size, 1)
    kernel = _pair("kernel_size", kernel_size, 1)
    apart, steps = _pair("dilation", dilation, 1), _pair("stride", stride, 1)
    borders = _pair("padding", padding, 0)
    pads = tuple((each, each) for each in borders)
    counts = window_counts(size, kernel, steps, pads, apart)
    cause = None
    if input.ndim not in (2, 3) or 0 in input.shape[-2:]:
        cause = (
            "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and "
            f"non-zero dimensions for input, but got: {list(input.shape)}"
        )
    elif input.shape[-2] % prod(kernel):
        cause = (
            f"Expected size of input's dimension {input.ndim - 2} to be divisible by the product "
            f"of kernel_size, but got input.size({input.ndim - 2})={input.shape[-2]} and "
            f"kernel_size={kernel}."
        )
    elif min(counts) < 1 or prod(counts) != input.shape[-1]:
        cause = (
            f"Given output_size={size}, kernel_size={kernel}, dilation={apart}, "
            f"padding={borders}, stride={steps}, expected size of input's dimension "
            f"{input.ndim - 1} to match the calculated number of sliding blocks "
            f"{' * '.join(map(str, counts))} = {prod(counts)}, but got "
            f"input.size({input.ndim - 1})={input.shape[-1]}."
        )
    if cause is not None:
        raise fail(
            RuntimeError,
            call=f"fold(input: {describe(input)}, output_size={size}, kernel_size={kernel})",
            cause=cause,
            fix="fold takes what unfold gives: (…, channels · kernel, windows), with the same "
            "kernel_size, dilation, padding and stride",
        )
    return input, kernel, steps, exact_pads(size, kernel, steps, pads, apart), apart, counts


define(
    "im2col(x; kernel, stride, pads, dilation)",
    "y = every window of x as a column;  ∂x = the columns of incoming added where they were",
    forward=_unfold,
    vjp={
        "x": lambda xp, incoming, x_shape, kernel, stride, pads, dilation: xp.col2im(
            incoming, kernel, stride, pads, dilation,
            window_counts(x_shape, kernel, stride, pads, dilation),
        )
    },
    linear=True,
    meta=lambda x, kernel, stride, pads, dilation: (
        _columns_shape(x.shape, kernel, window_counts(x.shape, kernel, stride, pads, dilation)),
        x.dtype,
    ),
    batching=leading_dims,
    refuses=NO_INTEGERS,
    public=_unfold_args,
    torch="nn.functional.unfold",
    samples=lambda make: [
        make.call(make(2, 2, 3, 4), 2),
        make.call(make(2, 5, 4), (2, 3), padding=(1, 0), stride=2),
        make.call(make(1, 1, 5, 5), (2, 1), (2, 1), 1, (1, 3)),
        make.call(make(0, 2, 3, 3), 2),
        make.call(make.bools(1, 2, 3, 3), 2, padding=1),
    ],
)  # fmt: skip
define(
    "col2im(x; kernel, stride, pads, dilation, counts)",
    "y = the columns of x added where their windows lie;  ∂x = the windows of incoming as columns",
    forward=_fold,
    vjp={
        "x": lambda xp, incoming, kernel, stride, pads, dilation: xp.im2col(
            incoming, kernel, stride, pads, dilation
        )
    },
    linear=True,
    meta=lambda x, kernel, stride, pads, dilation, counts: (
        (
            *x.shape[:-2],
            x.shape[-2] // prod(kernel),
            *covered(counts, kernel, stride, pads, dilation),
        ),
        x.dtype,
    ),
    batching=leading_dims,
    refuses=NO_INTEGERS,
    public=_fold_args,
    torch="nn.functional.fold",
    samples=lambda make: [
        make.call(make(2, 8, 6), (3, 4), 2),
        make.call(make(6, 4), (4, 3), (3, 2), padding=(1, 1), stride=(2, 2)),
        make.call(make(1, 2, 9), (5, 5), (2, 1), (2, 1), (0, 0), (1, 2)),
        make.call(make(0, 8, 6), (3, 4), 2),
    ],
)
