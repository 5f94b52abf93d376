"""What the special functions share: a kernel by its name in SciPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["scipy_kernel"]

Array = Any


def scipy_kernel(name: str) -> Callable[..., Array]:
    """``scipy.special.name``, with numbers in the dtype of the arrays beside them."""

    def kernel(*args: Array) -> Array:
        from scipy import special

        dtype = next(arg.dtype for arg in args if hasattr(arg, "dtype"))
        result = getattr(special, name)(*(np.asarray(arg, dtype) for arg in args))
        return np.asarray(result, dtype)

    return kernel
