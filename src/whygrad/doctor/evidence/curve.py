"""A loss over a run in tenths, quarters and thirds; rates in powers of ten."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import Any

import numpy as np

__all__ = ["ending", "quarter", "tenth", "tenths", "third", "thirds"]

Values = Sequence[float] | np.ndarray[Any, Any]


def tenth(values: Values) -> int:
    """How many a tenth of them are, at least one."""
    return max(1, len(values) // 10)


def quarter(values: Values) -> int:
    """How many a quarter of them are, at least one."""
    return max(1, len(values) // 4)


def third(values: Values) -> int:
    """How many a third of them are."""
    return len(values) // 3


def ending(values: Values) -> float:
    """The mean of the last tenth; NaN if there is nothing."""
    return float(np.mean(values[-tenth(values) :])) if len(values) else math.nan


def thirds(losses: Sequence[float]) -> tuple[float, float, float] | None:
    """The medians of the finite ones, third by third."""
    finite = [each for each in losses if math.isfinite(each)]
    size = third(finite)
    if size < 1:
        return None
    parts = finite[:size], finite[size : 2 * size], finite[-size:]
    return statistics.median(parts[0]), statistics.median(parts[1]), statistics.median(parts[2])


def tenths(times: float) -> list[float]:
    """Parts of a rate: a tenth, a hundredth and so on."""
    return [10.0**-power for power in range(1, int(times) + 1)]
