"""What is known about an op that let no gradient through, and how a verdict on it looks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

__all__ = ["Circumstances", "Row", "Verdict", "number", "share"]


@dataclass(frozen=True)
class Circumstances:
    """What is known about an op that let nothing through."""

    op: str
    argument: str  # which input of the op
    mask: Any  # the elements where its derivative is 0
    saved: Mapping[str, Any] = field(default_factory=dict)  # arrays and parameters, by name
    value: Any = None  # the input itself, if known
    others: Mapping[str, str] = field(default_factory=dict)  # what the user calls the other inputs
    dtype: Any = None  # of what the op sends back

    @property
    def share(self) -> str:
        """``3 of 4 elements``"""
        return share(int(np.count_nonzero(self.mask)), int(np.size(self.mask)))

    def is_there(self, name: str, value: float) -> bool:
        """Whether a saved value is known to be this number wherever nothing passes."""
        there = self._there(name)
        return there is not None and bool(np.all(there == value))

    def span(self, name: str) -> str:
        """The range of a value where nothing passes, ``between −3 and −1``; empty if unknown."""
        there = self._there(name)
        if there is None or not there.size or there.dtype.kind not in "fiu":
            return ""
        low, high = number(there.min()), number(there.max())
        return low if low == high else f"between {low} and {high}"

    def _there(self, name: str) -> Any:
        """A saved value (or the input) at the elements where nothing passes; None if unknown."""
        known = self.value if name == "input" else self.saved.get(name)
        if known is None or not isinstance(known, (np.ndarray, np.generic, float, int)):
            return None
        try:
            return np.broadcast_to(known, np.shape(self.mask))[np.asarray(self.mask)]
        except ValueError:
            return None


class Verdict(NamedTuple):
    """Why, in a word, a sentence, and what to do about it."""

    cause: str
    sentence: str
    fix: str | None


class Row(NamedTuple):
    """One kind of annihilation."""

    cause: str
    words: Callable[[Circumstances], str]
    fix: str | None


def number(value: Any) -> str:
    """A number (or an array of one) in a few characters."""
    return f"{float(np.reshape(value, ())):.4g}".replace("-", "−")


def share(count: int, total: int) -> str:
    """``3 of 4 elements``"""
    return "its only element" if total == 1 else f"{count} of {total} elements"
