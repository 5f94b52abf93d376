"""Evidence that two runs of a function did the same work.

A checkpoint throws away what its function saved and trusts a second run to make it again.  Of every
saved tensor there remains a note: who saved it and where, its shape and dtype, and a handful of its
elements.  A second run that differs in any of these would give wrong gradients, so it is an error,
and the notes say what was different.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from whygrad.errors import describe
from whygrad.source import Where

__all__ = ["Note", "difference"]

# How many elements to look at along each dimension, by number of dimensions: at most 32 in all.
_ELEMENTS = (1, 16, 4, 3, 2, 2)
# A second run gives the same bits, unless a library adds up in another order: units of rounding.
_TOLERANCE = 100


class Note:
    """What is remembered of one saved tensor."""

    __slots__ = (
        "_code", "_instruction", "dtype", "label", "needs", "op", "sample", "shape", "waiting",
    )  # fmt: skip

    def __init__(self, array: Any, label: str, node: Any, needs: Any) -> None:
        self.shape = array.shape
        self.dtype = array.dtype
        self.label = label
        self.op: str = node.name()  # of the node, or of the checkpoint whose argument it is
        self.needs = needs  # which inputs of the op required grad
        self.sample = sample_of(array)
        self.waiting: Any = None  # a weak reference to whoever will need the tensor
        self._code = node.code
        self._instruction = node.instruction

    @property
    def where(self) -> Where:
        """The user's line that saved it."""
        return Where(self._code, self._instruction)

    @property
    def nbytes(self) -> int:
        """Of the tensor."""
        return prod(self.shape) * int(self.dtype.itemsize)

    def __str__(self) -> str:
        return f"'{self.label}' of {self.op}, {describe(self)} at {self.where}"


def sample_of(array: Any) -> bytes:
    """A few elements that lie far apart; what is no NumPy array is not looked at."""
    return array[_lattice(array.shape)].tobytes() if type(array) is np.ndarray else b""


@lru_cache(maxsize=1024)
def _lattice(shape: tuple[int, ...]) -> tuple[slice, ...]:
    """A slice costs the same for an array of any size."""
    wanted = _ELEMENTS[min(len(shape), len(_ELEMENTS) - 1)]
    return tuple(slice(None, None, max(1, -(-size // wanted))) for size in shape)


def difference(before: Note, now: Note, values: bool) -> str | None:
    """In what a second run differs from the first, or None.

    Without ``values`` only this is asked: can one tensor stand where the other one stood?
    """
    if (before.op, before.label, before.needs) != (now.op, now.label, now.needs):
        return _other_metadata(before, now)
    if not values:
        return None
    if (before.shape, before.dtype) != (now.shape, now.dtype):
        return _other_metadata(before, now)
    unequal = _unequal(before, now)
    if unequal is None:
        return None
    return (
        f"Recomputed values differ from those of the forward pass: {before} has the element "
        f"{unequal[1]} where {unequal[0]} was"
    )


def _other_metadata(before: Note, now: Note) -> str:
    text = (
        "Recomputed values for the following tensors have different metadata than during the "
        f"forward pass: {before}; in recomputation {now}"
    )
    if before.op == now.op and before.needs != now.needs:
        text += f" (inputs of the op that require grad: {before.needs}, now {now.needs})"
    return text


def _unequal(before: Note, now: Note) -> tuple[Any, Any] | None:
    """The first pair of elements that differ by more than rounding."""
    if before.sample == now.sample:
        return None
    then, today = (np.frombuffer(each.sample, before.dtype) for each in (before, now))
    if before.dtype.kind in "fc":
        with np.errstate(all="ignore"):
            rounding = _TOLERANCE * np.finfo(before.dtype).eps
            scale = np.abs(then[np.isfinite(then)]).max(initial=0.0)
            apart = ~np.isclose(then, today, rounding, rounding * scale, equal_nan=True)
    else:
        apart = then != today
    return (then[apart][0], today[apart][0]) if apart.any() else None
