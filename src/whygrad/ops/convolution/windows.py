"""Windows sliding over the last dimensions of an array: the geometry of convolution and pooling.

Along each of these dimensions a window has ``kernel`` elements (taps), ``dilation`` apart, and
moves on in steps of ``stride`` through an input with a border of ``pads`` = (before, after);
negative numbers crop.  The pads here are *exact*: the last window ends with the border.  Whatever
does not divide evenly (rows that no window reaches, output padding, ceil mode) has become part of
``after`` by then, so that of the size of the input, the kernel and the number of windows, two
give the third, and an op and its adjoints share their parameters.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np

from whygrad.tensor.memory import strided

__all__ = [
    "Dims",
    "Pads",
    "covered",
    "exact_pads",
    "folded",
    "kernel_between",
    "negated",
    "padded",
    "spans",
    "taps_of",
    "unfolded",
    "window_counts",
]

Array = Any
Shape = tuple[int, ...]
Dims = tuple[int, ...]  # one number per dimension that the windows slide over
Pads = tuple[tuple[int, int], ...]

# A training loop asks for the same few geometries over and over.
_remembered = lru_cache(maxsize=1024)


@_remembered
def spans(kernel: Dims, dilation: Dims) -> Dims:
    """From the first to the last element of a window."""
    return tuple((taps - 1) * apart + 1 for taps, apart in zip(kernel, dilation, strict=True))


@_remembered
def exact_pads(shape: Shape, kernel: Dims, stride: Dims, pads: Pads, dilation: Dims) -> Pads:
    """The pads without what is left over after the last whole step."""
    sizes = shape[len(shape) - len(kernel) :]
    return tuple(
        (before, after - (size + before + after - span) % step)
        for size, span, step, (before, after) in zip(
            sizes, spans(kernel, dilation), stride, pads, strict=True
        )
    )


@_remembered
def window_counts(shape: Shape, kernel: Dims, stride: Dims, pads: Pads, dilation: Dims) -> Dims:
    """How many windows there are, per dimension."""
    sizes = shape[len(shape) - len(kernel) :]
    return tuple(
        (size + before + after - span) // step + 1
        for size, span, step, (before, after) in zip(
            sizes, spans(kernel, dilation), stride, pads, strict=True
        )
    )


@_remembered
def covered(counts: Shape, kernel: Dims, stride: Dims, pads: Pads, dilation: Dims) -> Dims:
    """The size of the input, given the numbers of windows over it (last dimensions of a shape)."""
    numbers = counts[len(counts) - len(kernel) :]
    return tuple(
        (count - 1) * step + span - before - after
        for count, span, step, (before, after) in zip(
            numbers, spans(kernel, dilation), stride, pads, strict=True
        )
    )


@_remembered
def kernel_between(shape: Shape, counts: Dims, stride: Dims, pads: Pads, dilation: Dims) -> Dims:
    """The kernel of which so many windows fit on an input of this shape."""
    sizes = shape[len(shape) - len(counts) :]
    return tuple(
        (size + before + after - (count - 1) * step - 1) // apart + 1
        for size, count, step, apart, (before, after) in zip(
            sizes, counts, stride, dilation, pads, strict=True
        )
    )


@_remembered
def negated(pads: Pads) -> Pads:
    return tuple((-before, -after) for before, after in pads)


def padded(x: Array, pads: Pads, value: Any = 0) -> Array:
    """``x`` with a border of ``value``; ``x`` itself or a view of it if there is none to add."""
    leading = x.ndim - len(pads)
    kept = (
        slice(max(-before, 0), size - max(-after, 0))
        for size, (before, after) in zip(x.shape[leading:], pads, strict=True)
    )
    inner: Array = x[(..., *kept)]
    border = [(max(before, 0), max(after, 0)) for before, after in pads]
    if not any(map(any, border)):
        return inner
    pairs = list(zip(inner.shape[leading:], border, strict=True))
    sizes = (size + before + after for size, (before, after) in pairs)
    whole: Array = np.full((*x.shape[:leading], *sizes), value, x.dtype)
    whole[(..., *(slice(before, before + size) for size, (before, _) in pairs))] = inner
    return whole


def unfolded(x: Array, kernel: Dims, stride: Dims, dilation: Dims, counts: Dims) -> Array:
    """All windows of a padded array, as a view: (…, *kernel, *counts)."""
    leading = x.ndim - len(kernel)
    steps = x.strides[leading:]
    return strided(
        x,
        (*x.shape[:leading], *kernel, *counts),
        (
            *x.strides[:leading],
            *(apart * step for apart, step in zip(dilation, steps, strict=True)),
            *(jump * step for jump, step in zip(stride, steps, strict=True)),
        ),
    )


def taps_of(
    x: Array, kernel: Dims, stride: Dims, dilation: Dims, counts: Dims
) -> Iterator[tuple[Dims, Array]]:
    """The places in a window, in order, each with the view of what all windows have there."""
    for place in product(*map(range, kernel)):
        index = tuple(
            slice(tap * apart, tap * apart + (count - 1) * step + 1, step)
            for tap, apart, count, step in zip(place, dilation, counts, stride, strict=True)
        )
        yield place, x[(..., *index)]


def folded(columns: Array, kernel: Dims, stride: Dims, pads: Pads, dilation: Dims) -> Array:
    """The adjoint of ``unfolded`` and ``padded``: windows added up where they overlap."""
    leading = columns.ndim - 2 * len(kernel)
    counts = columns.shape[leading + len(kernel) :]
    sizes = covered(counts, kernel, stride, ((0, 0),) * len(kernel), dilation)
    whole: Array = np.zeros((*columns.shape[:leading], *sizes), columns.dtype)
    everything = (slice(None),) * leading
    for place, target in taps_of(whole, kernel, stride, dilation, counts):
        target += columns[(*everything, *place)]
    return np.ascontiguousarray(padded(whole, negated(pads)))
