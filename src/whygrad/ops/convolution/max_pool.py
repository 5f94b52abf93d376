"""The largest element of every window.

Which place of its window it has is kept (one byte per window, as a rule), neither the input nor
its position: that is what backward needs, and both may be written over meanwhile.  The gradient
goes to the first of several equal elements.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from whygrad.ops.activation.smooth import NUMBERS
from whygrad.ops.batching import leading_dims
from whygrad.ops.convolution.pools import Pooling
from whygrad.ops.convolution.windows import (
    Dims,
    Pads,
    covered,
    negated,
    padded,
    spans,
    taps_of,
    window_counts,
)
from whygrad.ops.define import composite, define
from whygrad.tensor import Tensor

__all__ = ["max_pool", "window_positions"]

Array = Any
Shape = tuple[int, ...]


def _lowest(dtype: Any) -> Any:
    return -np.inf if dtype.kind == "f" else np.iinfo(dtype).min


def _place_dtype(kernel: Dims) -> Any:
    return np.dtype(np.uint8 if prod(kernel) <= 256 else np.int64)


def _max_pool(
    x: Array, kernel: Dims, stride: Dims, pads: Pads, dilation: Dims
) -> tuple[Array, Array]:
    counts = window_counts(x.shape, kernel, stride, pads, dilation)
    source = padded(x, pads, _lowest(x.dtype))
    views = (view for _, view in taps_of(source, kernel, stride, dilation, counts))
    best = np.array(next(views), order="C")
    places = np.zeros(best.shape, _place_dtype(kernel))
    if any(before > 0 for before, _ in pads):
        places[...] = _first_inside(counts, kernel, stride, pads, dilation)
    for number, view in enumerate(views, 1):
        here = np.ascontiguousarray(view)  # copied once is faster than compared with gaps
        # places only grow: a later one that is better has a larger number
        np.maximum(places, np.multiply(here > best, number, dtype=places.dtype), out=places)
        np.maximum(best, here, out=best)
    if x.dtype.kind == "f" and np.isnan(best).any():
        for number, (_, view) in enumerate(taps_of(source, kernel, stride, dilation, counts)):
            places[np.isnan(view)] = number
    return best, places


def _first_inside(counts: Dims, kernel: Dims, stride: Dims, pads: Pads, dilation: Dims) -> Array:
    """The first place of each window that is not in the border, where −∞ could pass for a find."""
    place: Array = 0
    for dim, (count, taps, step, (before, _), apart) in enumerate(
        zip(counts, kernel, stride, pads, dilation, strict=True)
    ):
        outside = before - np.arange(count) * step
        first = np.clip(-(-outside // apart), 0, taps - 1)
        place = place * taps + first.reshape(-1, *(1,) * (len(counts) - dim - 1))
    return place


def _pick(x: Array, places: Array, kernel: Dims, stride: Dims, pads: Pads, dilation: Dims) -> Array:
    counts = places.shape[places.ndim - len(kernel) :]
    picked = np.zeros(places.shape, x.dtype)
    for number, (_, view) in enumerate(taps_of(padded(x, pads), kernel, stride, dilation, counts)):
        np.copyto(picked, view, where=places == number)
    return picked


def _put(x: Array, places: Array, kernel: Dims, stride: Dims, pads: Pads, dilation: Dims) -> Array:
    counts = places.shape[places.ndim - len(kernel) :]
    nothing = ((0, 0),) * len(kernel)
    whole = covered(counts, kernel, stride, nothing, dilation)
    y = np.zeros((*x.shape[: x.ndim - len(kernel)], *whole), x.dtype)
    apart = all(step >= span for step, span in zip(stride, spans(kernel, dilation), strict=True))
    zero = x.dtype.type(0)
    finite = np.isfinite(x).all()  # if so, a product can hide elements, which is faster
    for number, (_, view) in enumerate(taps_of(y, kernel, stride, dilation, counts)):
        here = places == number
        part = x * here.astype(x.dtype) if finite else np.where(here, x, zero)
        if apart:
            view[...] = part
        else:
            view += part
    return np.ascontiguousarray(padded(y, negated(pads)))


def _positions(places: Array, kernel: Dims, stride: Dims, pads: Pads, dilation: Dims) -> Array:
    counts = places.shape[places.ndim - len(kernel) :]
    sizes = covered(counts, kernel, stride, pads, dilation)
    taps = np.unravel_index(places, kernel)
    position: Array = 0
    for dim, (tap, size) in enumerate(zip(taps, sizes, strict=True)):
        starts = np.arange(counts[dim]) * stride[dim] - pads[dim][0]
        inside = starts.reshape(-1, *(1,) * (len(counts) - dim - 1)) + tap * dilation[dim]
        position = position * size + inside
    return position.astype(np.int64, copy=False)


def _values_rule(
    xp: Any,
    incoming: Any,
    places: Array,
    kernel: Dims,
    stride: Dims,
    pads: Pads,
    dilation: Dims,
) -> Array:
    return xp.put_in_windows(incoming[0], places, kernel, stride, pads, dilation)


def _pooled_shape(x: Array, kernel: Dims, stride: Dims, pads: Pads, dilation: Dims) -> Shape:
    leading = x.shape[: len(x.shape) - len(kernel)]
    return (*leading, *window_counts(x.shape, kernel, stride, pads, dilation))


max_pool = define(
    "max_pool(x; kernel, stride, pads, dilation)",
    "values = the largest element of every window, places = where in the window it is;  "
    "∂x = incoming put there",
    forward=_max_pool,
    vjp={"x": _values_rule},
    flat=("x",),
    jvp=lambda xp, tangents, places, kernel, stride, pads, dilation: (
        xp.pick_from_windows(tangents[0], places, kernel, stride, pads, dilation),
        None,
    ),
    outputs=("values", "places"),
    meta=lambda x, kernel, stride, pads, dilation: [
        (_pooled_shape(x, kernel, stride, pads, dilation), x.dtype),
        (_pooled_shape(x, kernel, stride, pads, dilation), _place_dtype(kernel)),
    ],
    batching=leading_dims,
    subgradient="the first of several largest elements gets it all",
    refuses=NUMBERS,
    internal=True,
    samples=lambda make: [
        make.call(make.distinct(2, 6), (2,), (2,), ((0, 0),), (1,)),
        make.call(make.distinct(2, 4, 5), (2, 3), (1, 2), ((1, 0), (1, 1)), (2, 1)),
    ],
).call
define(
    "pick_from_windows(x, places; kernel, stride, pads, dilation)",
    "y = of every window of x the element at its place;  ∂x = incoming put there",
    forward=_pick,
    vjp={
        "x": lambda xp, incoming, places, kernel, stride, pads, dilation: xp.put_in_windows(
            incoming, places, kernel, stride, pads, dilation
        )
    },
    linear=True,
    meta=lambda x, places, kernel, stride, pads, dilation: (places.shape, x.dtype),
    batching=leading_dims,
    internal=True,
    samples=lambda make: [
        make.call(make(2, 6), make.ints(2, 3, high=2), (2,), (2,), ((0, 0),), (1,)),
        make.call(make(5, 4), make.ints(3, 4, high=6), (3, 2), (2, 1), ((1, 1), (1, 0)), (1, 1)),
    ],
)
define(
    "put_in_windows(x, places; kernel, stride, pads, dilation)",
    "y = every element of x added at its place in its window;  ∂x = incoming picked there",
    forward=_put,
    vjp={
        "x": lambda xp, incoming, places, kernel, stride, pads, dilation: xp.pick_from_windows(
            incoming, places, kernel, stride, pads, dilation
        )
    },
    linear=True,
    meta=lambda x, places, kernel, stride, pads, dilation: (
        (
            *x.shape[: len(x.shape) - len(kernel)],
            *covered(x.shape, kernel, stride, pads, dilation),
        ),
        x.dtype,
    ),
    batching=leading_dims,
    internal=True,
    samples=lambda make: [
        make.call(make(2, 3), make.ints(2, 3, high=2), (2,), (2,), ((0, 0),), (1,)),
        make.call(make(3, 4), make.ints(3, 4, high=6), (3, 2), (2, 1), ((1, 1), (1, 0)), (1, 1)),
    ],
)
window_positions = define(
    "window_positions(places; kernel, stride, pads, dilation)",
    "y = places in windows as positions in the input, counted row by row",
    forward=_positions,
    vjp=None,
    meta=lambda places, *_: (places.shape, np.dtype(np.int64)),
    batching=leading_dims,
    internal=True,
    samples=lambda make: [
        make.call(make.ints(2, 2, high=4), (2, 2), (1, 1), ((0, 0),) * 2, (1, 1))
    ],
).call


def _declare(dims: int, samples: Any) -> None:
    name = f"max_pool{dims}d"

    def pool(
        input: Tensor,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Any:
        windows = Pooling(name, dims, input).windows(
            kernel_size, stride, padding, dilation, ceil_mode
        )
        values, places = max_pool(input, *windows)
        return (values, window_positions(places, *windows)) if return_indices else values

    def with_indices(
        input: Tensor,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Any:
        return pool(input, kernel_size, stride, padding, dilation, ceil_mode, True)

    for function, extra in ((pool, ""), (with_indices, "_with_indices")):
        function.__name__ = function.__qualname__ = name + extra
        function.__doc__ = f"""The largest element of every window of the last {dims} dimensions.

    ``stride`` is ``kernel_size`` unless given; ``ceil_mode`` lets the last window reach beyond the
    border; ``return_indices`` also gives the positions, counted over the pooled dimensions.
    """
        composite(
            function,
            "y = max of every window;  ∂x = incoming at the maximum",
            samples=(lambda make: samples(make)[:1]) if extra else samples,
            torch=f"nn.functional.{name}{extra}",
            autocast="float32" if dims == 3 and not extra else None,
        )


_declare(
    1,
    lambda make: [
        make.call(make.distinct(2, 3, 6), 2),
        make.call(make.distinct(3, 7), 3, 2, 1),
        make.call(make.distinct(1, 2, 7), (3,), stride=1, dilation=2),
        make.call(make.distinct(1, 2, 6), 3, 2, 1, ceil_mode=True, return_indices=True),
        make.call(make(0, 2, 6), 2),
    ],
)
_declare(
    2,
    lambda make: [
        make.call(make.distinct(2, 2, 4, 4), 2),
        make.call(make.distinct(2, 5, 4), (3, 2), 1),
        make.call(make.distinct(1, 2, 5, 6), 3, 2, 1),
        make.call(make.distinct(1, 2, 5, 5), 2, ceil_mode=True, return_indices=True),
        make.call(make.distinct(1, 2, 6, 7), 2, (1, 2), (0, 1), (2, 3), return_indices=True),
        make.call(make.distinct(1, 1, 6, 5), 3, 3, 1, ceil_mode=True, return_indices=True),
        make.call(make.distinct(1, 1, 7, 7), 2, 3),
        make.call(make.ints(1, 2, 4, 4), 2),
        make.call(make(0, 2, 4, 4), 2),
    ],
)
_declare(
    3,
    lambda make: [
        make.call(make.distinct(1, 1, 4, 2, 4), 2),
        make.call(make.distinct(2, 3, 3, 4), (1, 3, 2), 1, (0, 1, 1), return_indices=True),
    ],
)
