"""Is every number finite, and is the memory what it was?  Both at a few GB/s."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from whygrad.tensor import Tensor, keys

__all__ = ["Trouble", "all_finite", "fingerprint", "numbers", "trouble"]

Trouble = Literal["nan", "inf"]

ndarray, vdot, isfinite, add = np.ndarray, np.vdot, np.isfinite, np.add
inf = float("inf")
_SHORT = 16384  # bytes
_WORD = np.dtype(np.uint64)
_UNSIGNED = {size: np.dtype(f"u{min(size, 8)}") for size in (1, 2, 4, 8, 16)}


def numbers(value: Any) -> Any:
    """The NumPy array behind a gradient, a tensor, a batch or a sparse payload; None if none."""
    while isinstance(value, Tensor):
        value = value._array.tensor if value._keys & keys.BATCHED else value._array
    if type(value) is ndarray or isinstance(value, np.generic):
        return value
    inside = getattr(value, "values", None)
    return inside if type(inside) is ndarray else None


def _without_repeats(array: Any) -> Any:
    """An expanded array shows the same memory many times; once is enough."""
    return array[tuple([slice(1) if step == 0 else slice(None) for step in array.strides])]


def all_finite(array: Any) -> bool:
    """Whether there is neither NaN nor Inf.  To be called where NumPy's warnings are off.

    The sum of squares is finite only if every number is, and BLAS computes it as fast as memory
    can be read.  If it is not, large numbers may be to blame, so then each number is looked at.
    """
    char = array.dtype.char
    if char in "fd":
        flags = array.flags
        if not flags.c_contiguous:
            array = array.T if flags.f_contiguous else _without_repeats(array)
        return bool(vdot(array, array) < inf) or bool(isfinite(array).all())
    return array.dtype.kind in "iub" or bool(isfinite(array).all())


def trouble(array: Any) -> Trouble | None:
    """The worst there is in an array: NaN, Inf, or nothing."""
    if array is None or array.dtype.kind in "iub" or isfinite(array).all():
        return None
    return "nan" if np.isnan(array).any() else "inf"


def fingerprint(array: Any) -> bytes:
    """A digest of the memory, which changes when a number does.

    Short memory is remembered as it is.  Otherwise the bits are added up as integers, which is
    exact and fast; only numbers that change places do not show.
    """
    if array.nbytes <= _SHORT:
        whole: bytes = array.tobytes()
        return whole
    if not array.flags.c_contiguous:
        array = (_without_repeats(array) if 0 in array.strides else array).ravel("K")
    bits = array.view(_WORD if array.shape[-1] % 8 == 0 else _UNSIGNED[array.itemsize])
    digest: bytes = add.reduce(bits, None, bits.dtype).tobytes()
    return digest
