"""``np.where`` without a branch per element, for the form that derivative rules use most.

On a mask with no pattern the processor mispredicts every other branch of ``np.where``.  Zeroing
elements needs no branch: a mask of all-one and all-zero bits, and a bitwise and.  Unlike a product
with the mask, this also turns inf and NaN into 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["choose"]

Array = Any

_BITS = {np.dtype(np.float32): np.int32, np.dtype(np.float64): np.int64}
_WORTH_IT = 4096  # elements from which the mispredictions cost more than the extra passes


def choose(condition: Array, a: Array, b: Array) -> Array:
    """``a`` where the condition holds, ``b`` elsewhere."""
    if type(condition) is np.ndarray and condition.size >= _WORTH_IT:
        if _is_zero(b) and _fits(a, condition):
            return _keep(a, condition)
        if _is_zero(a) and _fits(b, condition):
            return _keep(b, ~condition)
    return np.where(condition, a, b)


def _is_zero(value: Any) -> bool:
    return type(value) is float and repr(value) == "0.0"  # −0.0 has a bit set


def _fits(values: Any, condition: Array) -> bool:
    return (
        type(values) is np.ndarray
        and values.dtype in _BITS
        and condition.dtype == np.bool_
        and values.shape == condition.shape
    )


def _keep(values: Array, condition: Array) -> Array:
    bits = _BITS[values.dtype]
    mask = np.negative(condition.view(np.int8), dtype=bits)
    return np.bitwise_and(values.view(bits), mask, out=mask).view(values.dtype)
