"""Which elements of a dimension an output reads when it is resized, and how much of each.

Every way of resizing is linear and treats one dimension after the other.  Along a dimension, output
i is Σₖ weights[k, i] · x[index[k, i]]: one tap for nearest, two for linear, four for cubic, as many
as the filter covers with antialiasing.  Each row of ``index`` ascends, so that the adjoint can add
up neighbours in one sweep.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import ceil
from typing import Any

import numpy as np

__all__ = ["NEAREST", "SHARPNESS", "Taps", "taps"]

Array = Any
Taps = tuple[Array, Array]  # positions and weights, both (taps, outputs)

NEAREST = ("nearest", "nearest-exact")

# The cubic of PyTorch's plain resizing, and the one of its antialiased resizing, as in Pillow.
SHARPNESS, _SOFT = -0.75, -0.5


@lru_cache(maxsize=256)
def taps(
    size: int, count: int, mode: str, align_corners: bool, scale: float | None, antialias: bool
) -> Taps:
    """From ``size`` elements to ``count``; ``scale`` is their ratio where it was given."""
    if mode in NEAREST:
        return _nearest(size, count, mode, scale)
    step = _step(size, count, align_corners, scale)
    if antialias:
        return _filtered(size, count, step, _triangle if mode == "linear" else _cubic(_SOFT))
    outputs: Array = np.arange(count)
    source: Array = step * outputs if align_corners else step * (outputs + 0.5) - 0.5
    if mode == "linear":
        if size == count:
            source = outputs
        return _linear(size, np.maximum(source, 0.0))
    floor = np.floor(source)
    share = source - floor
    reach = np.arange(-1, 3)[:, None]
    index = np.clip(floor + reach, 0, size - 1).astype(np.int64)
    return index, _cubic(SHARPNESS)(share - reach)


def _step(size: int, count: int, align_corners: bool, scale: float | None) -> float:
    """How far apart in the input two neighbours of the output are."""
    if align_corners:
        return (size - 1) / (count - 1) if count > 1 else 0.0
    return 1.0 / scale if scale is not None and scale > 0 else size / count


def _nearest(size: int, count: int, mode: str, scale: float | None) -> Taps:
    # In float32, as PyTorch does for every dtype: rounding decides which element is nearest.
    given = scale is not None and scale > 0
    step = np.float32(1.0 / scale) if given else np.float32(size) / np.float32(count)  # type: ignore[operator]
    outputs = np.arange(count, dtype=np.float32)
    if mode == "nearest-exact":
        source = (outputs + np.float32(0.5)) * step
    elif count == size:
        source = outputs
    elif count == 2 * size:
        source = outputs * np.float32(0.5)
    else:
        source = outputs * step
    index = np.minimum(np.floor(source).astype(np.int64), size - 1)
    return index[None], np.ones((1, count))


def _linear(size: int, source: Array) -> Taps:
    first = np.minimum(np.floor(source).astype(np.int64), size - 1)
    share = np.clip(source - first, 0.0, 1.0)
    return np.stack([first, np.minimum(first + 1, size - 1)]), np.stack([1.0 - share, share])


def _filtered(size: int, count: int, step: float, shape: Any) -> Taps:
    """All elements under a filter that is as wide as an output is in the input."""
    width = max(step, 1.0)
    support = shape.reach * width
    center = step * (np.arange(count) + 0.5)
    first = np.maximum((center - support + 0.5).astype(np.int64), 0)
    last = np.minimum((center + support + 0.5).astype(np.int64), size)
    reach = np.arange(ceil(support) * 2 + 1)[:, None]
    index = first + reach
    inside = index < last
    weights = np.where(inside, shape((index - center + 0.5) / width), 0.0)
    total = weights.sum(0)
    weights = weights / np.where(total == 0, 1.0, total)
    return np.where(inside, index, last - 1), weights


def _triangle(distance: Array) -> Array:
    return np.maximum(0.0, 1.0 - np.abs(distance))


_triangle.reach = 1  # type: ignore[attr-defined]


def _cubic(sharpness: float) -> Callable[[Array], Array]:
    def weight(distance: Array) -> Array:
        x, a = np.abs(distance), sharpness
        near = ((a + 2) * x - (a + 3)) * x * x + 1
        far = ((x - 5) * x + 8) * x * a - 4 * a
        return np.where(x < 1, near, np.where(x < 2, far, 0.0))

    weight.reach = 2  # type: ignore[attr-defined]
    return weight
