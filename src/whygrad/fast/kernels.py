"""The fused kernels: what they allocate, and which loop fills it.

Below ``LEAST`` elements a whole pass takes a few microseconds, and a program without larger arrays
should not wait for Numba.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import prod
from types import ModuleType
from typing import Any

import numpy as np

from whygrad.fast.choice import SINGLE, faster
from whygrad.fast.threads import blocks, shared
from whygrad.ops.loss.cross_entropy import is_plain, total
from whygrad.ops.totals import add_up

Array = Any
Dims = tuple[int, ...]
Loop = Callable[..., None]

LEAST = 2**14
LONGEST = 2**13  # columns of a row that layer norm may add up in one go


@lru_cache(1)
def loops() -> ModuleType:
    """The compiled loops; loads Numba."""
    from whygrad.fast import loops as compiled

    return compiled


@faster("gelu", LEAST)
def gelu(x: Array, approximate: str) -> Array | None:
    exact = approximate == "none"
    if exact and x.dtype is not SINGLE:
        return None
    y = np.empty_like(x)
    shared(loops().gelu if exact else loops().gelu_tanh, x.size, x.reshape(-1), y.reshape(-1))
    return y


@faster("gelu_backward", LEAST)
def gelu_backward(incoming: Array, x: Array, approximate: str) -> Array | None:
    exact = approximate == "none"
    if (exact and x.dtype is not SINGLE) or not _alike(incoming, x):
        return None
    out = np.empty_like(x)
    loop = loops().gelu_backward if exact else loops().gelu_tanh_backward
    shared(loop, x.size, incoming.reshape(-1), x.reshape(-1), out.reshape(-1))
    return out


@faster("erf", LEAST, (SINGLE,))
def erf(x: Array) -> Array:
    y = np.empty_like(x)
    shared(loops().erf, x.size, x.reshape(-1), y.reshape(-1))
    return y


@faster("layer_norm", LEAST)
def layer_norm(
    x: Array, weight: Array | None, bias: Array | None, rank: int, eps: float
) -> tuple[Array, Array, Array] | None:
    if weight is None or bias is None or not _alike(weight, bias) or weight.dtype is not x.dtype:
        return None
    if weight.size > LONGEST:
        return None
    kept = x.shape[: x.ndim - rank]
    rows = prod(kept)
    y = np.empty_like(x)
    mean, var = np.empty((2, rows), x.dtype)
    matrices = [each.reshape(rows, -1) for each in (x, y)]
    affine = (weight.reshape(-1), bias.reshape(-1), eps)
    shared(loops().layer_norm, x.size, *matrices, mean, var, rest=affine)
    shape = (*kept, *(1,) * rank)
    return y, mean.reshape(shape), var.reshape(shape)


@faster("layer_norm_backward", LEAST)
def layer_norm_backward(
    incoming: Array, x: Array, weight: Array | None, mean: Array, var: Array,
    needs: tuple[bool, ...], rank: int, eps: float,
) -> tuple[Array, ...] | None:  # fmt: skip
    if weight is None or not (all(needs) and _alike(incoming, x) and _alike(mean, var)):
        return None
    if weight.size > LONGEST:
        return None
    rows = mean.size
    out = np.empty_like(x)
    sums = np.zeros((2, blocks(rows), weight.size), x.dtype)
    arrived, matrix, gradient = (each.reshape(rows, -1) for each in (incoming, x, out))
    shared(
        loops().layer_norm_backward,
        x.size,
        *(arrived, matrix, mean.reshape(-1), var.reshape(-1), gradient),
        sums=tuple(sums),
        rest=(weight.reshape(-1), eps),
    )
    of_weight, of_bias = add_up(sums, (1,), False)
    return out, of_weight.reshape(weight.shape), of_bias.reshape(weight.shape)


@faster("softmax", LEAST)
def softmax(x: Array, dim: Dims) -> Array | None:
    return _by_row(loops().softmax, x) if _is_last(dim, x) else None


@faster("log_softmax", LEAST)
def log_softmax(x: Array, dim: Dims) -> Array | None:
    return _by_row(loops().log_softmax, x) if _is_last(dim, x) else None


@faster("softmax_backward", LEAST)
def softmax_backward(incoming: Array, y: Array, dim: Dims) -> Array | None:
    suits = _is_last(dim, y) and _alike(incoming, y)
    return _by_row(loops().softmax_backward, incoming, y) if suits else None


@faster("log_softmax_backward", LEAST)
def log_softmax_backward(incoming: Array, y: Array, dim: Dims) -> Array | None:
    suits = _is_last(dim, y) and _alike(incoming, y)
    return _by_row(loops().log_softmax_backward, incoming, y) if suits else None


def _is_last(dim: Dims, x: Array) -> bool:
    return dim == (x.ndim - 1,)


def _by_row(loop: Loop, *arrays: Array) -> Array:
    """A new array of the same shape, filled row by row from those given."""
    out = np.empty_like(arrays[0])
    columns = out.shape[-1]
    shared(loop, out.size, *[each.reshape(-1, columns) for each in (*arrays, out)])
    return out


@faster("cross_entropy", LEAST)
def cross_entropy(
    x: Array, target: Array, weight: Array | None, ignore_index: int, reduction: str,
    label_smoothing: float,
) -> tuple[Array, Array] | None:  # fmt: skip
    if target.dtype.char != "l" or not target.flags.c_contiguous:
        return None
    if not is_plain(x, target, weight, ignore_index, label_smoothing):
        return None
    p, losses = np.empty_like(x), np.empty(len(x), x.dtype)
    shared(loops().cross_entropy, x.size, x, target, p, losses)
    return (losses if reduction == "none" else total(losses, reduction)), p


def _alike(first: Array, *others: Array) -> bool:
    """Whether all are in C order, and of one shape and dtype."""
    return first.flags.c_contiguous and all(
        each.flags.c_contiguous and each.shape == first.shape and each.dtype is first.dtype
        for each in others
    )
