"""The fused kernels: what they allocate, and which loop fills it.

Below ``LEAST`` elements a whole pass takes a few microseconds, and a program without larger arrays
should not wait for Numba.
"""

from __future__ import annotations

from functools import lru_cache
from types import ModuleType
from typing import Any

import numpy as np

from whygrad.fast.choice import SINGLE, faster
from whygrad.fast.threads import shared

Array = Any

LEAST = 2**14


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


def _alike(first: Array, *others: Array | None) -> bool:
    """Whether all have the shape, dtype and memory order of the first, which is in C order."""
    return all(
        each is not None
        and each.shape == first.shape
        and each.dtype is first.dtype
        and each.flags.c_contiguous
        for each in others
    )
