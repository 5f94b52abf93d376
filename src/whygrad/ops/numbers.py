"""Python numbers on their way into a tensor of a given dtype."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from whygrad.errors import describe, fail
from whygrad.tensor import Tensor, dtypes

__all__ = ["fitting", "number_for"]


def fitting(value: Any, dtype: dtypes.DType) -> Any:
    """The number as ``dtype`` holds it, or None if it cannot, by PyTorch's rules.

    Fractions are cut off for integers, and a negative integer wraps around in an unsigned dtype.
    """
    if dtype.category == dtypes.COMPLEX:
        return value
    if isinstance(value, complex):
        if value.imag:
            return None
        value = value.real
    if dtype.category == dtypes.BOOL:
        return bool(value)
    if dtype.category == dtypes.INTEGER:
        limits = dtypes.iinfo(dtype)
        wraps = limits.min == 0 and isinstance(value, int)
        if not (-limits.max if wraps else limits.min) <= value <= limits.max:  # nan is outside too
            return None
        return int(value) % (limits.max + 1) if wraps else int(value)
    widest = dtypes.float32 if dtype is dtypes.float32 else dtypes.float64
    infinite = isinstance(value, float) and math.isinf(value)
    return None if abs(value) > dtypes.finfo(widest).max and not infinite else value


def number_for(target: Tensor, value: Any, call: str) -> Any:
    """A Python number as the target holds it; an error if it cannot."""
    if isinstance(value, np.generic):
        value = value.item()
    if not isinstance(value, (bool, int, float, complex)):
        raise fail(
            TypeError,
            call=f"{call} into {describe(target)}",
            cause=f"can't assign a {type(value).__name__} to a tensor",
            fix="convert it with whygrad.tensor(value)",
        )
    number = fitting(value, target.dtype)
    if number is None:
        raise fail(
            RuntimeError,
            call=f"{call} with {describe(value)} into {describe(target)}",
            cause=f"value cannot be converted to type {target.dtype.name} without overflow",
            fix="convert the tensor first, to a dtype that can hold the value",
        )
    return number
