"""Tensors from numbers, arrays and shapes."""

from __future__ import annotations

from typing import Any

import numpy as np

from whygrad import dtypes
from whygrad.tensor import Tensor, wrap

__all__ = ["from_numpy", "tensor"]


def tensor(data: Any, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """A new tensor that owns a copy of ``data``."""
    if isinstance(data, Tensor):
        data = data._array
    chosen = None if dtype is None else dtypes.of(dtype).numpy
    array = np.array(data, dtype=chosen)
    if chosen is None and not isinstance(data, (np.ndarray, np.generic)):
        if array.dtype.kind == "f":
            array = array.astype(dtypes.get_default_dtype().numpy)
        elif array.dtype.kind == "c":
            array = array.astype(dtypes.default_complex().numpy)
    made = wrap(array)
    return made.requires_grad_() if requires_grad else made


def from_numpy(array: Any) -> Tensor:
    """A tensor over the array's own memory."""
    return wrap(array)
