"""Convolution on NumPy arrays: windows laid side by side, multiplied by BLAS.

A matrix of all windows (im2col) is kernel-size times as large as the input, and copying it costs
about as much as multiplying it.  So only the inner dimensions are unfolded.  Along the first one,
where the stride is 1, the windows of one kernel row differ from those of the next by a shift,
which in memory is an offset: one product per kernel row, on the same columns, summed.  The columns
are made for a few samples at a time, in memory that stays in the cache.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from whygrad.ops.convolution.windows import (
    Dims,
    Pads,
    folded,
    kernel_between,
    padded,
    spans,
    unfolded,
    window_counts,
)

__all__ = ["convolve", "convolve_transposed", "correlate_weight"]

Array = Any

# Elements of the columns made at a time: 2 MB of float32.
_BLOCK = 1 << 19


class _Layout:
    """How one convolution is cut into matrix products.

    Samples have ``groups`` groups of columns; a column holds the inputs of one window that belong
    to one kernel row (``inner`` taps per channel), or to the whole kernel where rows cannot be
    shared.  ``starts`` has the first column of every kernel row.
    """

    def __init__(
        self, kernel: Dims, stride: Dims, dilation: Dims, counts: Dims, groups: int
    ) -> None:
        self.kernel = kernel
        self.stride = stride
        self.dilation = dilation
        self.groups = groups
        self.windows = prod(counts)
        self.inner, self.counts = kernel, counts
        self.starts = range(1)
        if len(kernel) > 1 and stride[0] == 1:
            reach, row = (kernel[0] - 1) * dilation[0], prod(counts[1:])
            self.inner = (1, *kernel[1:])
            self.counts = (counts[0] + reach, *counts[1:])
            self.starts = range(0, reach * row + 1, dilation[0] * row) if row else range(1)

    def columns(self, x: Array) -> Iterator[tuple[slice, Array]]:
        """A few samples at a time, their columns as (samples, groups, column, windows)."""
        view = unfolded(x, self.inner, self.stride, self.dilation, self.counts)
        samples, channels = x.shape[:2]
        shape = (self.groups, channels // self.groups * prod(self.inner), prod(self.counts))
        if view.flags.c_contiguous:
            yield slice(0, samples), view.reshape(samples, *shape)
            return
        at_once = max(1, min(samples, _BLOCK // max(prod(shape), 1)))
        memory = np.empty((at_once, *view.shape[1:]), x.dtype)
        for start in range(0, samples, at_once):
            part = view[start : start + at_once]
            block = memory[: len(part)]
            block[...] = part
            yield slice(start, start + len(part)), block.reshape(len(part), *shape)

    def rows(self, weight: Array) -> Array:
        """The weight as matrices: (kernel rows, groups, outputs per group, column)."""
        outputs, channels = weight.shape[:2]
        count = len(self.starts)
        shape = (self.groups, outputs // self.groups, channels, count, prod(self.inner))
        rows = weight.reshape(shape).transpose(3, 0, 1, 2, 4)
        return np.ascontiguousarray(rows).reshape(count, *shape[:2], channels * shape[-1])

    def weight(self, rows: Array) -> Array:
        """The inverse of ``rows``."""
        count, groups, outputs, column = rows.shape
        inner = prod(self.inner)
        channels = column // inner
        split = rows.reshape(count, groups, outputs, channels, inner)
        return split.transpose(1, 2, 3, 0, 4).reshape(groups * outputs, channels, *self.kernel)


_layout = lru_cache(maxsize=1024)(_Layout)


def convolve(
    x: Array,
    weight: Array,
    bias: Array | None,
    stride: Dims,
    pads: Pads,
    dilation: Dims,
    groups: int,
) -> Array:
    """y[n, o, p] = Σ x[n, c, p·stride + k·dilation − before] · weight[o, c, k] + bias[o]"""
    kernel = weight.shape[2:]
    counts = window_counts(x.shape, kernel, stride, pads, dilation)
    layout = _layout(kernel, stride, dilation, counts, groups)
    first, *others = layout.rows(weight)
    samples, outputs, windows = len(x), len(weight), layout.windows
    y = np.empty((samples, groups, outputs // groups, windows), x.dtype)
    product: Array = None
    for block, columns in layout.columns(padded(x, pads)):
        here = y[block]
        np.matmul(first, columns[..., :windows], out=here)
        if others and product is None:
            product = np.empty_like(here)
        for row, start in zip(others, layout.starts[1:], strict=True):
            part = product[: len(here)]
            np.matmul(row, columns[..., start : start + windows], out=part)
            here += part
    y = y.reshape(samples, outputs, *counts)
    return y if bias is None else _add_bias(y, bias)


def _add_bias(y: Array, bias: Array) -> Array:
    y += bias.reshape(-1, *(1,) * (y.ndim - 2))
    return y


def convolve_transposed(
    y: Array,
    weight: Array,
    bias: Array | None,
    stride: Dims,
    pads: Pads,
    dilation: Dims,
    groups: int,
) -> Array:
    """x[n, c, p·stride + k·dilation − before] += y[n, o, p] · weight[o, c, k], then + bias[c]"""
    if all(step == 1 for step in stride):
        return _by_convolution(y, weight, bias, pads, dilation, groups)
    outputs, channels = weight.shape[0], weight.shape[1] * groups
    kernel, counts = weight.shape[2:], y.shape[2:]
    samples = len(y)
    matrices = weight.reshape(groups, outputs // groups, -1).swapaxes(1, 2)
    source = y.reshape(samples, groups, outputs // groups, prod(counts))
    columns = np.matmul(matrices, source).reshape(samples, channels, *kernel, *counts)
    x = folded(columns, kernel, stride, pads, dilation)
    return x if bias is None else _add_bias(x, bias)


def _by_convolution(
    y: Array, weight: Array, bias: Array | None, pads: Pads, dilation: Dims, groups: int
) -> Array:
    """Without strides the adjoint is a convolution with the kernel turned around."""
    outputs, channels = weight.shape[:2]
    kernel = weight.shape[2:]
    swapped = weight.reshape(groups, outputs // groups, channels, *kernel).swapaxes(1, 2)
    turned = swapped.reshape(groups * channels, outputs // groups, *kernel)
    turned = turned[(..., *(slice(None, None, -1),) * len(kernel))]
    borders = tuple(
        (span - 1 - before, span - 1 - after)
        for span, (before, after) in zip(spans(kernel, dilation), pads, strict=True)
    )
    return convolve(y, turned, bias, (1,) * len(kernel), borders, dilation, groups)


def correlate_weight(
    x: Array, y: Array, stride: Dims, pads: Pads, dilation: Dims, groups: int
) -> Array:
    """weight[o, c, k] = Σ y[n, o, p] · x[n, c, p·stride + k·dilation − before]"""
    counts = y.shape[2:]
    kernel = kernel_between(x.shape, counts, stride, pads, dilation)
    layout = _layout(kernel, stride, dilation, counts, groups)
    samples, outputs = y.shape[:2]
    windows = layout.windows
    y = np.ascontiguousarray(y).reshape(samples, groups, outputs // groups, windows)
    column = x.shape[1] // groups * prod(layout.inner)
    rows = np.zeros((len(layout.starts), groups, outputs // groups, column), x.dtype)
    for block, columns in layout.columns(padded(x, pads)):
        here = y[block]
        for row, start in zip(rows, layout.starts, strict=True):
            row += _summed_products(here, columns[..., start : start + windows])
    return layout.weight(rows)


def _summed_products(y: Array, columns: Array) -> Array:
    """Σ over samples and windows of y · columns: (groups, outputs per group, column)."""
    samples, groups, outputs, windows = y.shape
    column = columns.shape[2]
    # A product per sample is the faster way, unless its result is much larger than its factors.
    if outputs * column > 4 * (outputs + column) * windows:
        y, columns = (
            np.moveaxis(each, 0, 2).reshape(groups, each.shape[2], samples * windows)
            for each in (y, columns)
        )
        return np.matmul(y, columns.swapaxes(1, 2))
    return np.matmul(columns, y.swapaxes(2, 3)).sum(0).swapaxes(1, 2)
