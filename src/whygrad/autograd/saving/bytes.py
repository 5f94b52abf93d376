"""How many bytes graphs hold, now and at most.

What an op saves for backward is watched from that moment until its memory is gone: each block
once, however many nodes share it and wherever it moved to in the meantime (a checkpoint, a hook).
Weak references tell when a block dies, so watching keeps nothing alive.  Leaves that require grad
are not counted, since they are there with or without a graph.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from whygrad.autograd.saving.blocks import blocks, is_of_leaf, recorded_node
from whygrad.dispatch.interception import intercepting
from whygrad.tensor import Tensor
from whygrad.threads import PerThread

if TYPE_CHECKING:
    from whygrad.dispatch.paths import Entry
    from whygrad.ops.define import Op

__all__ = ["SavedBytes", "note_saved", "saved_bytes_peak"]


class _Block(weakref.ref[Any]):
    """A block that is watched; it takes its bytes off the count when it dies."""

    __slots__ = ("bytes", "counter", "key")

    bytes: int
    counter: weakref.ref[SavedBytes]  # weak: the counter holds its blocks
    key: int


def _gone(block: _Block) -> None:
    counter = block.counter()
    if counter is not None and counter._alive.pop(block.key, None) is not None:
        counter.current -= block.bytes


class SavedBytes:
    """The running count: ``current`` bytes, and the ``peak`` they reached."""

    __slots__ = ("__weakref__", "_alive", "current", "peak")

    def __init__(self) -> None:
        self.current = 0
        self.peak = 0
        self._alive: dict[int, _Block] = {}

    def add(self, value: Any, but: set[int]) -> None:
        """Count the memory of a saved value, except the blocks whose ids are in ``but``."""
        for block, size in blocks(value):
            key = id(block)
            if key in self._alive or key in but:
                continue
            try:
                watched = _Block(block, _gone)
            except TypeError:  # a registered device's memory need not allow weak references
                continue
            watched.bytes, watched.counter, watched.key = size, weakref.ref(self), key
            self._alive[key] = watched
            self.current += size
        self.peak = max(self.peak, self.current)

    def __repr__(self) -> str:
        return f"<saved for backward: {self.current:,} bytes now, {self.peak:,} at most>"


class _Counting(PerThread):
    counters: tuple[SavedBytes, ...] = ()


_counting = _Counting()


def note_saved(value: Any) -> None:
    """Tell the counters of this thread of a tensor that is kept for a node, outside of it."""
    for counter in _counting.counters:
        counter.add(value, set())


@contextmanager
def saved_bytes_peak() -> Iterator[SavedBytes]:
    """Measure how many bytes the graphs recorded inside hold, and the most they ever held.

    ``with saved_bytes_peak() as saved: step()``, then ``saved.peak``.  ``saved.current`` goes on
    falling after the block, as the graphs are released.
    """
    counter = SavedBytes()
    outer = _counting.counters

    def count(op: Op, below: Entry, args: tuple[Any, ...]) -> Any:
        result = below(*args)
        node = recorded_node(result)
        if node is not None and type(node.values) is tuple:  # else who packed it has told us
            counter.add(node.values, _blocks_of_leaves(op, args))
        return result

    _counting.counters = (*outer, counter)
    try:
        with intercepting(count):
            yield counter
    finally:
        _counting.counters = outer


def _blocks_of_leaves(op: Op, args: tuple[Any, ...]) -> set[int]:
    inputs = args[0] if op.variadic else args[: len(op.tensor_names)]
    return {
        id(block)
        for each in inputs
        if isinstance(each, Tensor) and is_of_leaf(each)
        for block, _ in blocks(each)
    }
