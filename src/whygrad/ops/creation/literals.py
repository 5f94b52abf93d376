"""From nested Python lists to an array, with PyTorch's choice of dtype.

NumPy would make float64 of Python floats; PyTorch makes its default dtype of them, but keeps the
dtype of NumPy scalars and of tensors inside the list.  So the types of the elements are looked at
first, and NumPy converts afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from whygrad.errors import describe, fail
from whygrad.tensor import Tensor, dtypes, keys

__all__ = ["array_from"]

_NUMBERS = (bool, int, float, complex)
_MOST_DIMENSIONS = 64  # of an array in NumPy
# What can be indexed and is yet no sequence of elements to PyTorch, or needs no list made of it.
_NOT_SEQUENCES = (str, bytes, dict, type, np.ndarray, np.generic, list, tuple, range)


def array_from(data: Any, dtype: dtypes.DType | None, call: str) -> Any:
    """A new array with the values of ``data``: numbers, nested sequences, arrays or tensors."""
    if isinstance(data, Tensor):
        data = data.detach().numpy() if data._keys & keys.BATCHED else data._array
    if isinstance(data, (np.ndarray, np.generic)):
        chosen = dtypes.by_numpy[data.dtype] if dtype is None else dtype
        with np.errstate(all="ignore"):
            return np.array(data, dtype=chosen.numpy)
    if hasattr(data, "__getitem__"):
        data = _without_tensors(data, call)
    if dtype is None:
        dtype = _common_dtype(data, call)
    try:
        return np.array(data, dtype=dtype.numpy)
    except (OverflowError, TypeError, ValueError) as error:
        wrapped = _wrapped(data) if dtype is dtypes.uint8 else None
        if wrapped is None:
            raise _explain(data, dtype, call, error) from error
        return wrapped


def _wrapped(data: Any) -> Any:
    """Negative bytes count from the end, as in PyTorch: −1 is 255."""
    try:
        wide = np.array(data, np.int64)
    except (OverflowError, TypeError, ValueError):
        return None
    return wide.astype(np.uint8) if (np.abs(wide) < 256).all() else None


def _without_tensors(data: Any, call: str, depth: int = 0) -> Any:
    """Tensors inside a list become NumPy scalars, which keep their dtype."""
    if depth > _MOST_DIMENSIONS:
        raise fail(
            ValueError,
            call=f"{call}({describe(data)})",
            cause=f"too many dimensions '{type(data).__name__}': it is nested more than "
            f"{_MOST_DIMENSIONS} deep, or in itself",
            fix="pass nested lists that end in numbers",
        )
    if isinstance(data, Tensor):
        if data.numel() != 1:
            raise fail(
                ValueError,
                call=f"a list with a tensor {describe(data)} inside",
                cause="only one element tensors can be converted to Python scalars",
                fix="use whygrad.stack(list) to join tensors of equal shape",
            )
        return data._array.reshape(())[()]
    if hasattr(data, "__getitem__") and not isinstance(data, _NOT_SEQUENCES):
        data = list(data)  # a deque, an array.array, a class with __len__ and __getitem__
    if isinstance(data, (list, tuple)) and _may_hold_tensors(data):
        return [_without_tensors(item, call, depth + 1) for item in data]
    return data


def _may_hold_tensors(items: Sequence[Any]) -> bool:
    return not set(map(type, items)).issubset(_NUMBERS)


def _common_dtype(data: Any, call: str) -> dtypes.DType:
    """PyTorch's promotion over all elements; an empty list is the default float."""
    common: dtypes.DType | None = None
    kinds: dict[Any, None] = {}
    stack = [data]
    while stack:
        item = stack.pop()
        if isinstance(item, (list, tuple, range)):
            for kind in set(map(type, item)):
                if kind in _NUMBERS:
                    kinds[kind] = None
                else:
                    stack.extend(each for each in item if type(each) is kind)
        elif isinstance(item, (np.ndarray, np.generic)):
            kinds[item.dtype] = None
        else:
            kinds[type(item)] = None
    for kind in kinds:
        dtype = _dtype_of_kind(kind, data, call)
        common = dtype if common is None else dtypes.promote_types(common, dtype)
    return dtypes.get_default_dtype() if common is None else common


def _dtype_of_kind(kind: Any, data: Any, call: str) -> dtypes.DType:
    if isinstance(kind, np.dtype):
        return dtypes.by_numpy[kind]
    for number in _NUMBERS:
        if issubclass(kind, number):
            return dtypes.result_type(number())
    raise fail(
        TypeError if issubclass(kind, (str, bytes)) else RuntimeError,
        call=f"{call}({describe(data)})",
        cause=f"Could not infer dtype of {kind.__name__}: invalid data type",
        fix="pass numbers, nested lists of numbers, a NumPy array or a tensor",
    )


def _explain(data: Any, dtype: dtypes.DType, call: str, error: Exception) -> Exception:
    restated = f"{call}({describe(data)}, dtype={dtype})"
    ragged = _first_conflict(data)
    if ragged is not None:
        return fail(
            ValueError,
            call=restated,
            cause=ragged,
            fix="give every row the same length; pad the short ones",
        )
    if "complex" in str(error):
        return fail(
            TypeError,
            call=restated,
            cause="must be real number, not complex",
            fix="ask for a complex dtype, or pass the real parts",
        )
    kind = (
        ValueError if dtype is dtypes.int64 and isinstance(error, OverflowError) else RuntimeError
    )
    return fail(
        kind,
        call=restated,
        cause=f"value cannot be converted to type {dtype.name} without overflow: {error}",
        fix="ask for a wider dtype",
    )


def _first_conflict(data: Any, dim: int = 0) -> str | None:
    """Where nested lists stop being a rectangle, in words."""
    if not isinstance(data, (list, tuple)):
        return None
    nested = [isinstance(item, (list, tuple, range)) for item in data]
    if any(nested):
        if not all(nested):
            return f"at dim {dim} some elements are numbers and some are sequences"
        lengths = [len(item) for item in data]
        for length in lengths:
            if length != lengths[0]:
                return f"expected sequence of length {lengths[0]} at dim {dim + 1} (got {length})"
    for item in data:
        found = _first_conflict(item, dim + 1)
        if found is not None:
            return found
    return None
