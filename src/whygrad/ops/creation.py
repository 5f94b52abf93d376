"""Tensors from numbers, arrays and shapes."""

from __future__ import annotations

from typing import Any

import numpy as np

from whygrad import dtypes
from whygrad.ops.define import define
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


# Constants shaped like a tensor, for derivative rules.
define(
    "zeros_like(x)",
    "y = 0, shaped like x",
    forward=lambda x: np.zeros_like(x),
    vjp=None,
    meta=lambda x: (x.shape, x.dtype),
    method=False,
    samples=lambda make: [make.call(make(3, 4)), make.call(make.ints(2)), make.call(make())],
)
define(
    "ones_like(x)",
    "y = 1, shaped like x",
    forward=lambda x: np.ones_like(x),
    vjp=None,
    meta=lambda x: (x.shape, x.dtype),
    method=False,
    samples=lambda make: [make.call(make(3, 4)), make.call(make.ints(2)), make.call(make())],
)
define(
    "new_zeros(x; shape)",
    "y = 0 in the given shape, dtype and device of x",
    forward=lambda x, shape: np.zeros(shape, x.dtype),
    vjp=None,
    meta=lambda x, shape: (shape, x.dtype),
    torch="Tensor.new_zeros",
    samples=lambda make: [make.call(make(3), (2, 3)), make.call(make.ints(2), ())],
)
define(
    "new_full(x; shape, value)",
    "y = value in the given shape, dtype and device of x",
    forward=lambda x, shape, value: np.full(shape, value, x.dtype),
    vjp=None,
    meta=lambda x, shape, value: (shape, x.dtype),
    torch="Tensor.new_full",
    samples=lambda make: [make.call(make(3), (2, 3), 1.5), make.call(make.ints(2), (), 7)],
)
