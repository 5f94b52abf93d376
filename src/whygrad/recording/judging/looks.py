"""What is kept of two lists of numbers that a program lays beside each other: a few numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from whygrad.recording.ranges import Array, Range, summarize
from whygrad.source import Calls, Where

__all__ = ["Gone", "Judged", "List", "Pair", "listed", "paired"]

_CLASSES = 256  # different values, at most, of what is laid beside each other as classes


@dataclass(slots=True)
class Gone:
    """The loader that a loop goes through: what its own parts say."""

    sampler: str  # the class that decides on the order; empty if it is no loader
    samples: int  # in one round …
    held: int  # … and in the data that it takes them from
    line: int  # of the loop, in …
    file: str

    @property
    def shuffles(self) -> bool:
        return "Random" in self.sampler


@dataclass(slots=True)
class List:
    """One side, as it is written and as it is."""

    text: str
    range: Range
    whole: float  # the fraction of values that are whole numbers …
    outside: float  # … and of those beyond 0 and 1
    different: int  # how many values there are …
    shares: dict[float, float]  # … and, if those are few, the share of each


@dataclass(slots=True)
class Pair:
    """How two sides of the same size go together."""

    agreed: float  # the fraction that is equal …
    chance: float  # … that would be, in any other order …
    overlap: float  # … and in the best one
    correlation: float
    error: float  # the root of the mean squared difference …
    residual: float  # … and what is left of it behind the best stretch and shift
    auc: float | None = None  # how often a 1 on the first side goes with more on the second


@dataclass(slots=True)
class Judged:
    """One time that a statement judged."""

    kind: str  # as of :class:`.statements.Judging`
    name: str
    where: Where
    callers: Calls  # the lines that led there, innermost first …
    called: Calls  # … and those that led to the model's latest call
    after: int  # how many passes there had been
    sides: tuple[List, ...]
    pair: Pair | None
    gone: Gone | None  # what the model was given last, if a loop went through it
    number: float | None = None  # what one side is compared with; of two numbers, the first …
    other: float | None = None  # … and the second: what divides, what was the best


def listed(text: str, array: Array) -> List:
    values = array.ravel().astype(np.float64)
    whole = float(np.mean(values == np.rint(values)))
    outside = float(np.mean((values < 0) | (values > 1)))
    found, counts = np.unique(values, return_counts=True)
    few = len(found) <= _CLASSES
    shares = dict(zip(found.tolist(), (counts / values.size).tolist())) if few else {}
    return List(text, summarize(array), whole, outside, len(found), shares)


def paired(one: Array, other: Array) -> Pair | None:
    """None unless there are as many on both sides, all finite."""
    first, second = (each.ravel().astype(np.float64) for each in (one, other))
    if first.size != second.size or not np.isfinite(first.sum() + second.sum()):
        return None
    chance, overlap = _by_chance(first, second)
    spread = float(first.std()), float(second.std())
    correlation = 0.0
    if min(spread) > 0:
        products = (first - first.mean()) * (second - second.mean())
        correlation = float(products.mean()) / (spread[0] * spread[1])
    error = math.sqrt(float(np.mean((first - second) ** 2)))
    residual = spread[0] * math.sqrt(max(0.0, 1 - correlation**2))
    agreed = float(np.mean(first == second))
    return Pair(agreed, chance, overlap, correlation, error, residual, _auc(first, second))


def _by_chance(first: Array, second: Array) -> tuple[float, float]:
    """The fraction that is equal on average, and at most, if one side is put into other orders."""
    values = np.unique(np.concatenate([first, second]))
    if len(values) > _CLASSES:
        return 0.0, 0.0
    shares = [
        np.bincount(np.searchsorted(values, each), minlength=len(values)) / each.size
        for each in (first, second)
    ]
    return float(np.sum(shares[0] * shares[1])), float(np.sum(np.minimum(*shares)))


def _auc(labels: Array, scores: Array) -> float | None:
    """The area under the ROC curve; None unless the first side has two values."""
    low, high = labels.min(), labels.max()
    upper = labels == high
    count = int(upper.sum())
    if low == high or np.any((labels != low) & ~upper):
        return None
    _, place, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    ranks = (ends - (counts - 1) / 2)[place]
    rest = labels.size - count
    return float((ranks[upper].sum() - count * (count + 1) / 2) / (count * rest))
