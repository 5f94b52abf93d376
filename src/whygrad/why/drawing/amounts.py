"""Sizes of gradients: absent, zero, a number, or broken, and where a number lies on a log scale."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from math import log10
from typing import Any

import numpy as np

__all__ = ["Amount", "Scale", "State", "measure", "number", "oddities"]

LEVELS = 5  # steps of the colour scale
_DECADES = 8  # what is smaller than the largest by more than this shares the lowest step


class State(Enum):
    """What a gradient or a contribution can be."""

    ABSENT = "not computed"
    ZERO = "0"
    NUMBER = "number"
    BROKEN = "NaN or inf"


@dataclass(frozen=True)
class Amount:
    """A gradient as a picture shows it; ``size`` is its absolute value or its 2-norm."""

    state: State
    size: float = 0.0
    text: str = State.ABSENT.value


def number(value: complex, signed: bool = False) -> str:
    """Four digits, with a minus sign that is as wide as the plus."""
    if value == 0:
        return "0"
    text = f"{value:+.4g}" if signed else f"{value:.4g}"
    return text.replace("-", "−").replace("+nan", "NaN").replace("nan", "NaN")


def measure(gradient: Any, signed: bool = False) -> Amount:
    """The size of a gradient; one number keeps its sign in the text, an array has a norm."""
    if gradient is None:
        return Amount(State.ABSENT)
    array = _plain(gradient)
    odd = oddities(array)
    if array.size == 1:
        text = number(array.reshape(()).item(), signed)
    else:
        text = odd or number(_norm(array))
    if odd:
        return Amount(State.BROKEN, text=text)
    if not array.any():
        return Amount(State.ZERO, text="0")
    return Amount(State.NUMBER, _norm(array), text)


def oddities(values: Any) -> str:
    """``"3 of 640 NaN"``, ``"2 of 640 inf"``; empty if every element is finite."""
    array = _plain(values)
    nans = int(np.isnan(array).sum())
    infinities = int(np.isinf(array).sum())
    counts = [f"{count} {kind}" for count, kind in ((nans, "NaN"), (infinities, "inf")) if count]
    if not counts:
        return ""
    counts[0] = counts[0].replace(" ", f" of {array.size} ", 1)
    return ", ".join(counts)


def _plain(values: Any) -> np.ndarray[Any, Any]:
    """In double precision, so that squares of float16 do not overflow."""
    array = np.asarray(values)
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64, copy=False)


def _norm(array: np.ndarray[Any, Any]) -> float:
    """The 2-norm, scaled so that neither 1e200 nor 1e-200 is lost in the squares."""
    sizes = np.abs(array)
    peak = float(sizes.max(initial=0.0))
    if peak == 0:
        return 0.0
    return min(peak * float(np.sqrt(np.square(sizes / peak).sum())), sys.float_info.max)


@dataclass(frozen=True)
class Scale:
    """A log scale from ``low`` to ``high``, in ``LEVELS`` equal steps."""

    low: float
    high: float
    clipped: bool  # something smaller than ``low`` was measured

    @classmethod
    def of(cls, amounts: Iterable[Amount]) -> Scale | None:
        """The scale that holds these amounts; None if none of them is a number but zero."""
        sizes = [amount.size for amount in amounts if amount.state is State.NUMBER]
        if not sizes:
            return None
        high = max(sizes)
        floor = max(high * 10.0**-_DECADES, sys.float_info.min)
        low = max(min(min(sizes), high / 10), floor)  # at least one decade: 4 and 5 look alike
        return cls(low, high, min(sizes) < low)

    def level(self, size: float) -> int:
        """The step a size falls on, from 0."""
        span = log10(self.high) - log10(self.low)
        if span <= 0 or size <= 0:
            return 0
        share = (log10(size) - log10(self.low)) / span
        return min(max(int(share * LEVELS), 0), LEVELS - 1)
