"""From a list of samples to one batch."""

from __future__ import annotations

import copy
from collections.abc import Mapping, MutableMapping, Sequence
from typing import Any

import numpy as np

from whygrad.errors import fail
from whygrad.ops import functions
from whygrad.tensor import Tensor

__all__ = ["default_collate", "default_convert"]


def default_collate(batch: Sequence[Any]) -> Any:
    """Stack tensors, arrays and numbers; go into dicts, tuples and lists; leave strings alone."""
    first = batch[0]
    if isinstance(first, Tensor):
        return functions["stack"](list(batch))
    if isinstance(first, (np.ndarray, np.generic)) and first.dtype.kind not in "SUO":
        return functions["stack"]([functions["as_tensor"](each) for each in batch])
    if isinstance(first, (bool, int, float)):
        dtype = "float64" if isinstance(first, float) else None
        return functions["tensor"](list(batch), dtype=dtype)
    if isinstance(first, (str, bytes)):
        return batch
    if isinstance(first, Mapping):
        columns = {key: default_collate([each[key] for each in batch]) for key in first}
        return _mapping_like(first, columns)
    if isinstance(first, Sequence):
        return _collate_sequences(first, batch)
    raise _unsuitable(first)


def _collate_sequences(first: Sequence[Any], batch: Sequence[Any]) -> Any:
    sizes = sorted({len(each) for each in batch})
    if len(sizes) > 1:
        raise fail(
            RuntimeError,
            call=f"default_collate of {len(batch)} samples",
            cause="each element in list of batch should be of equal size; these have "
            f"{' or '.join(map(str, sizes))} parts",
            fix="return the same number of parts for every sample, or pass a collate_fn",
        )
    columns = [default_collate(column) for column in zip(*batch, strict=True)]
    return type(first)(*columns) if hasattr(first, "_fields") else columns


def _mapping_like(model: Mapping[Any, Any], entries: dict[Any, Any]) -> Any:
    """The same kind of mapping with other values, where the kind allows it."""
    if type(model) is dict:
        return entries
    try:
        if isinstance(model, MutableMapping):
            twin = copy.copy(model)
            twin.update(entries)
            return twin
        return type(model)(entries)  # type: ignore[call-arg]
    except TypeError:
        return entries


def _unsuitable(value: Any) -> TypeError:
    found = value.dtype if isinstance(value, (np.ndarray, np.generic)) else type(value)
    return fail(
        TypeError,
        call=f"default_collate of samples with a {type(value).__name__}",
        cause="default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; "
        f"found {found}",
        fix="return one of these from the dataset, or pass a collate_fn",
    )


def default_convert(data: Any) -> Any:
    """Arrays to tensors, wherever they are; anything else stays what it is."""
    if isinstance(data, (np.ndarray, np.generic)) and data.dtype.kind not in "SUO":
        return functions["as_tensor"](data)
    if isinstance(data, Mapping):
        return _mapping_like(data, {key: default_convert(each) for key, each in data.items()})
    if isinstance(data, (str, bytes)) or not isinstance(data, Sequence):
        return data
    parts = [default_convert(each) for each in data]
    return type(data)(*parts) if hasattr(data, "_fields") else parts
