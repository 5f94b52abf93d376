"""Tensors of a file that had memory in common, and have it again.

Each tensor is in the file with its own values, so that any program can read it.  Those whose memory
overlaps carry a note besides: which block they lie in, how large that is, and where in it they
are.  Reading puts them back in one block.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

from whygrad.tensor import Tensor, wrap
from whygrad.tensor.storage import Storage

__all__ = ["Blocks", "note_shared"]

# Views with wide gaps would make a block that is much larger than what is in the file; beyond this
# factor they are kept apart, and a file that asks for more is damaged.
_SPARSEST = 64


def note_shared(written: list[tuple[dict[str, Any], Any]]) -> None:
    """Add ``memory`` to the notes of tensors, given with their arrays, that overlap others."""
    known = [(*byte_bounds(array), note, array) for note, array in written if array.size]
    known.sort(key=lambda each: each[:2])
    block: list[Any] = []
    end = number = 0
    for each in [*known, None]:
        if each is None or each[0] >= end:
            number += _noted(number, block)
            block, end = [], 0
        if each is not None:
            block.append(each)
            end = max(end, each[1])


def _noted(number: int, block: list[Any]) -> bool:
    """Whether this is a block of several views, which now say so."""
    places = {(low, array.shape, array.strides, array.dtype) for low, _, _, array in block}
    if len(places) < 2 and len({id(note) for _, _, note, _ in block}) < 2:
        return False
    first, size = block[0][0], max(high for _, high, _, _ in block) - block[0][0]
    if size > _SPARSEST * sum(array.nbytes for _, _, _, array in block):
        return False
    for _, _, note, array in block:
        start = array.__array_interface__["data"][0] - first
        note["memory"] = [number, size, start, list(array.strides)]
    return True


class Blocks:
    """The blocks of a file that is read; ``refuse`` makes the error for notes without sense."""

    def __init__(self, available: int, refuse: Callable[[str], Exception]) -> None:
        self.largest = _SPARSEST * available
        self.refuse = refuse
        self.blocks: dict[int, Storage] = {}

    def tensor(self, array: Any, note: Any) -> Tensor:
        """The values of ``array`` at their place in a block."""
        number, size, start, strides = self._checked(array, note)
        if number not in self.blocks:
            self.blocks[number] = Storage(np.zeros(size, np.uint8))
        storage = self.blocks[number]
        if storage.array.nbytes != size:
            raise self.refuse(f"its block {number} has two sizes")
        view = np.ndarray(array.shape, array.dtype, storage.array, start, strides)
        view[...] = array
        tensor = wrap(view)
        tensor._storage = storage
        return tensor

    def _checked(self, array: Any, note: Any) -> tuple[int, int, int, tuple[int, ...]]:
        shaped = isinstance(note, list) and len(note) == 4 and isinstance(note[3], list)
        numbers = [*note[:3], *note[3]] if shaped else [None]
        if not all(type(each) is int for each in numbers) or len(note[3]) != array.ndim:
            raise self.refuse(f"a tensor says about its memory: {str(note)[:60]}")
        number, size, start = note[:3]
        strides = tuple(note[3])
        steps = [(length - 1) * step for length, step in zip(array.shape, strides)]
        low = start + sum(step for step in steps if step < 0)
        high = start + sum(step for step in steps if step > 0) + array.itemsize
        if not 0 < size <= self.largest or low < 0 or high > size:
            raise self.refuse(f"a tensor lies outside its block of {size} bytes")
        if any(each % array.itemsize for each in (start, *strides)):
            raise self.refuse("a tensor lies across the elements of its block")
        return number, size, start, strides
