"""What a layer's output tells at one look."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from whygrad.ops import families as ops
from whygrad.ops.spellings import row_of
from whygrad.recording.ranges import rms
from whygrad.recording.record import Layer

__all__ = ["LOOKED_AT", "look"]

LOOKED_AT = ops.ACTIVATIONS | ops.LINEAR | ops.NORMALIZERS | ops.EMBEDDING | ops.SOFTMAX
_FAR_OUT = 5.0  # an input beyond ±5 has a slope below 1 %


def look(op: str, array: np.ndarray[Any, Any]) -> Layer:
    """The statistics of one output."""
    if array.size == 0 or array.dtype.kind != "f":
        return Layer(op, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    array = _fewer_rows(array)
    low, high = float(array.min()), float(array.max())
    size = rms(array)
    zeros = saturated = dead = 0.0
    if op in ops.RECTIFIERS:
        active = array.astype(bool)
        zeros = 1.0 - float(np.count_nonzero(active)) / array.size
        axes = tuple(axis for axis in range(array.ndim) if axis != _unit_axis(array))
        dead = 1.0 - float(active.any(axis=axes).mean()) if array.ndim > 1 else zeros
    elif op in ops.SATURATING:
        least, most = _ends(op)
        saturated = float(np.count_nonzero((array < least) | (array > most))) / array.size
    return Layer(op, size, zeros, saturated, dead, low, high)


@cache
def _ends(op: str) -> tuple[float, float]:
    """The outputs beyond which the input of a saturating activation is far out."""
    row = row_of(op)
    assert row is not None
    least, most = row.forward(np.array([-_FAR_OUT, _FAR_OUT]))
    return float(least), float(most)


def _fewer_rows(array: np.ndarray[Any, Any], most: int = 8192) -> np.ndarray[Any, Any]:
    """Of a large output, samples evenly spread over the first axes, each of them whole."""
    if array.size <= most or array.ndim < 2:
        return array
    if array.ndim == 3:  # samples and times are alike here
        array = array.reshape(-1, array.shape[-1])
    return array[:: max(1, min(array.size // most, array.shape[0] // 16))]


def _unit_axis(array: np.ndarray[Any, Any]) -> int:
    """Channels come second in images, last everywhere else."""
    return 1 if array.ndim == 4 else array.ndim - 1
