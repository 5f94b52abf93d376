"""The mean of every window.

A window's sum is a sum of sums, one dimension at a time; so is what it is divided by: the number
of elements it counts along each dimension.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from whygrad.ops.activation.smooth import ONLY_FLOATS
from whygrad.ops.batching import leading_dims
from whygrad.ops.convolution.pools import Pooling
from whygrad.ops.convolution.windows import (
    Dims,
    Pads,
    covered,
    negated,
    padded,
    window_counts,
)
from whygrad.ops.define import composite, define
from whygrad.tensor import Tensor

__all__ = ["avg_pool", "mean_of_windows"]

Array = Any
# One number for all windows, or per dimension one for every position of the window.
Divisor = int | tuple[Dims, ...]


def _avg_pool(x: Array, kernel: Dims, stride: Dims, pads: Pads, divisor: Divisor) -> Array:
    counts = window_counts(x.shape, kernel, stride, pads, (1,) * len(kernel))
    y = padded(x, pads)
    leading = x.ndim - len(kernel)
    for dim, (taps, step, count) in enumerate(zip(kernel, stride, counts, strict=True), leading):
        first, *others = _along(dim, taps, step, count)
        total = np.array(y[first], order="C")
        for each in others:
            total += y[each]
        y = total
    y /= _divisors(divisor, y.dtype)
    return y


def _avg_pool_backward(x: Array, kernel: Dims, stride: Dims, pads: Pads, divisor: Divisor) -> Array:
    leading = x.ndim - len(kernel)
    y = x / _divisors(divisor, x.dtype)
    for dim, (taps, step) in enumerate(zip(kernel, stride, strict=True), leading):
        count = y.shape[dim]
        size = (count - 1) * step + taps
        whole = np.zeros((*y.shape[:dim], size, *y.shape[dim + 1 :]), y.dtype)
        for each in _along(dim, taps, step, count):
            whole[each] += y
        y = whole
    return np.ascontiguousarray(padded(y, negated(pads)))


def _along(dim: int, taps: int, step: int, count: int) -> list[tuple[slice, ...]]:
    """Per tap, the index of what all windows have there."""
    return [
        (*(slice(None),) * dim, slice(tap, tap + (count - 1) * step + 1, step))
        for tap in range(taps)
    ]


def _divisors(divisor: Divisor, dtype: Any) -> Array:
    if isinstance(divisor, int):
        return dtype.type(divisor)
    product: Array = np.ones((), dtype)
    for numbers in divisor:
        product = product[..., None] * np.array(numbers, dtype)
    return product


def _shape(x: Array, inner: Dims) -> tuple[int, ...]:
    return (*x.shape[: len(x.shape) - len(inner)], *inner)


avg_pool = define(
    "avg_pool(x; kernel, stride, pads, divisor)",
    "y = Σ of every window / divisor;  ∂x = incoming / divisor, added over each window",
    forward=_avg_pool,
    vjp={
        "x": lambda xp, incoming, kernel, stride, pads, divisor: xp.avg_pool_backward(
            incoming, kernel, stride, pads, divisor
        )
    },
    linear=True,
    flat=("x",),
    meta=lambda x, kernel, stride, pads, divisor: (
        _shape(x, window_counts(x.shape, kernel, stride, pads, (1,) * len(kernel))),
        x.dtype,
    ),
    batching=leading_dims,
    refuses=ONLY_FLOATS,
    internal=True,
    samples=lambda make: [
        make.call(make(2, 6), (2,), (2,), ((0, 0),), 2),
        make.call(make(2, 4, 5), (2, 3), (1, 2), ((1, 0), (1, 1)), ((1, 2, 2, 2), (2, 3, 2))),
    ],
).call
define(
    "avg_pool_backward(x; kernel, stride, pads, divisor)",
    "y = every element of x / divisor added over its window;  ∂x = Σ of incoming / divisor",
    forward=_avg_pool_backward,
    vjp={
        "x": lambda xp, incoming, kernel, stride, pads, divisor: xp.avg_pool(
            incoming, kernel, stride, pads, divisor
        )
    },
    linear=True,
    meta=lambda x, kernel, stride, pads, divisor: (
        _shape(x, covered(x.shape, kernel, stride, pads, (1,) * len(kernel))),
        x.dtype,
    ),
    batching=leading_dims,
    internal=True,
    samples=lambda make: [
        make.call(make(2, 3), (2,), (2,), ((0, 0),), 2),
        make.call(make(2, 4, 3), (2, 3), (1, 2), ((1, 0), (1, 1)), ((1, 2, 2, 2), (2, 3, 2))),
    ],
)


def _counted(size: int, taps: int, step: int, pads: tuple[int, int], border: int) -> Dims:
    """How many elements each window counts along a dimension, with so much of the border."""
    before, after = pads
    count = (size + before + after - taps) // step + 1
    starts = (position * step - before for position in range(count))
    return tuple(min(start + taps, size + border) - max(start, -border) for start in starts)


def _pool(
    call: Pooling,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None = None,
) -> Tensor:
    kernel, steps, pads, _ = call.windows(kernel_size, stride, padding, 1, ceil_mode)
    if divisor_override is not None:
        if divisor_override == 0:
            raise call.refused("divisor must be not zero", "leave divisor_override out for a mean")
        return avg_pool(call.input, kernel, steps, pads, operator.index(divisor_override))
    borders = [pad[0] if count_include_pad else 0 for pad in pads]
    counted = tuple(map(_counted, call.sizes, kernel, steps, pads, borders))
    divisor: Divisor = counted
    if all(len(set(each)) == 1 for each in counted):
        divisor = int(np.prod([each[0] for each in counted]))
    return avg_pool(call.input, kernel, steps, pads, divisor)


def mean_of_windows(
    name: str, dims: int, input: Tensor, kernel_size: Any, stride: Any, padding: Any, ceil: bool
) -> Tensor:
    """For poolings that are a function of means; errors carry the name of the pooling."""
    return _pool(Pooling(name, dims, input), kernel_size, stride, padding, ceil, True)


def _declare_pool(dims: int, samples: Any) -> None:
    name = f"avg_pool{dims}d"

    def pool(
        input: Tensor,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Tensor:
        call = Pooling(name, dims, input)
        return _pool(
            call, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
        )

    pool.__name__ = pool.__qualname__ = name
    pool.__doc__ = f"""The mean of every window of the last {dims} dimensions.

    ``stride`` is ``kernel_size`` unless given; ``ceil_mode`` lets the last window reach beyond the
    border; ``count_include_pad`` counts the zeros of the border; ``divisor_override`` replaces the
    count.
    """
    composite(
        pool,
        "y = Σ of every window / its number of elements",
        samples=samples,
        torch=f"nn.functional.{name}",
        autocast="float32" if dims == 3 else None,
    )


def avg_pool1d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """The mean of every window of the last dimension; see :func:`avg_pool2d`."""
    call = Pooling("avg_pool1d", 1, input)
    return _pool(call, kernel_size, stride, padding, ceil_mode, count_include_pad)


composite(
    avg_pool1d,
    "y = Σ of every window / its number of elements",
    samples=lambda make: [
        make.call(make(2, 3, 6), 2),
        make.call(make(3, 7), 3, 2, 1),
        make.call(make(1, 2, 6), (3,), (2,), 1, True, False),
        make.call(make(1, 2, 6), 3, 2, 1, ceil_mode=True),
        make.call(make(0, 2, 6), 2),
    ],
    torch="nn.functional.avg_pool1d",
)
_declare_pool(
    2,
    lambda make: [
        make.call(make(2, 2, 4, 4), 2),
        make.call(make(2, 5, 4), (3, 2), 1),
        make.call(make(1, 2, 5, 6), 3, 2, 1),
        make.call(make(1, 2, 5, 6), 3, 2, 1, count_include_pad=False),
        make.call(make(1, 2, 5, 5), 2, ceil_mode=True),
        make.call(make(1, 1, 6, 5), 3, 3, 1, True),
        make.call(make(1, 1, 6, 5), 3, 2, (1, 0), True, False),
        make.call(make(1, 1, 4, 5), 2, padding=1, divisor_override=3),
        make.call(make(1, 1, 7, 7), 2, 3),
        make.call(make(0, 2, 4, 4), 2),
    ],
)
_declare_pool(
    3,
    lambda make: [
        make.call(make(1, 1, 4, 2, 4), 2),
        make.call(make(2, 3, 3, 4), (1, 3, 2), 1, (0, 1, 1), count_include_pad=False),
    ],
)
