"""What reductions share: shapes with and without what is reduced, and what they accept."""

from __future__ import annotations

import math
from typing import Any

from whygrad.dispatch.calls import as_operand
from whygrad.errors import describe, fail
from whygrad.tensor import Tensor, dtypes, keys

__all__ = [
    "count",
    "operand",
    "reduced_meta",
    "reduced_shape",
    "require_float",
    "spread",
    "widened",
    "with_kept_dims",
]

Array = Any
Dims = tuple[int, ...]
Shape = tuple[int, ...]

_COUNTED = sum(
    bit for name, bit in keys.DTYPE_BITS.items() if not name.startswith(("float", "bf", "comp"))
)


def spread(xp: Any, reduced: Array, shape: Shape, dim: Dims, keepdim: bool) -> Array:
    """Copy a reduced value back over the dimensions it was reduced from (as a view)."""
    return xp.expand(with_kept_dims(xp, reduced, shape, dim, keepdim), shape)


def with_kept_dims(xp: Any, reduced: Array, shape: Shape, dim: Dims, keepdim: bool) -> Array:
    """A reduced value that broadcasts against what it was reduced from."""
    if keepdim or not reduced.ndim:
        return reduced
    return xp.view(reduced, reduced_shape(shape, dim, True))


def reduced_shape(shape: Shape, dim: Dims, keepdim: bool) -> Shape:
    if keepdim:
        return tuple(1 if axis in dim else size for axis, size in enumerate(shape))
    return tuple(size for axis, size in enumerate(shape) if axis not in dim)


def count(shape: Shape, dim: Dims) -> int:
    """How many elements go into each result."""
    return math.prod(shape[axis] for axis in dim)


def operand(input: Any) -> Tensor:
    """The tensor itself; a NumPy array as a constant."""
    return input if isinstance(input, Tensor) else as_operand(input)


def widened(input: Any, dtype: Any) -> Tensor:
    """The tensor to add or multiply up: in ``dtype`` if given, integers and booleans in int64."""
    input = operand(input)
    if dtype is not None:
        return input.to(dtypes.of(dtype))
    if input._keys & _COUNTED:
        return input.to(dtypes.int64)
    return input


def require_float(name: str, input: Any, dtype: Any, cause: str) -> Tensor:
    """The tensor in ``dtype`` if given; integers are refused, since the result has fractions."""
    input = operand(input)
    if dtype is not None:
        input = input.to(dtypes.of(dtype))
    if input._keys & _COUNTED:
        raise fail(
            RuntimeError,
            call=f"{name}() of {describe(input)}",
            cause=cause,
            fix=f"convert first: x.to(whygrad.float32).{name}()",
        )
    return input


def reduced_meta(x: Array, dim: Dims, keepdim: bool) -> Any:
    """The shape and dtype of a reduced ``x``."""
    return reduced_shape(x.shape, dim, keepdim), x.dtype
