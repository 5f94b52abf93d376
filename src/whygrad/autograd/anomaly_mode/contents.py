"""Writes that no version counts: NumPy writing to memory that a tensor shares.

A saved value leaves a fingerprint when it is saved, which is compared when backward is about to use
it.  Memory that an op allocated and that was never handed out cannot be written from outside, so
it needs none until somebody calls ``numpy()``; most activations of a network stay that cheap.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

import numpy as np

from whygrad.autograd.anomaly_mode.finite import fingerprint
from whygrad.tensor import Tensor

if TYPE_CHECKING:
    from whygrad.tensor.graph.node import Node

__all__ = ["Contents", "Prints", "owner"]

Prints = tuple[bytes | None, ...]  # one per saved array; None where nobody outside can write


def owner(array: Any) -> Any:
    """The array that holds the memory."""
    return array.base if type(array.base) is np.ndarray else array


class Contents:
    """What a watch knows about the memory of saved values."""

    def __init__(self) -> None:
        self._inside: dict[int, weakref.ref[Any]] = {}  # allocated by ops, never handed out
        self._lent: dict[int, tuple[weakref.ref[Any], bytes]] = {}  # as it was when handed out

    def allocated(self, array: Any, args: tuple[Any, ...]) -> None:
        """An op returned ``array``."""
        if array.base is not None:
            return
        for arg in args:
            if type(arg) is list or (type(arg) is Tensor and arg._array is array):
                return  # it may be memory that came in
        key, inside = id(array), self._inside
        inside[key] = weakref.ref(array, lambda _: inside.pop(key, None))

    def lend(self, array: Any) -> None:
        """Somebody outside gets to see the memory of ``array``."""
        memory = owner(array)
        key, lent = id(memory), self._lent
        if self._inside.pop(key, None) is not None:
            reference = weakref.ref(memory, lambda _: lent.pop(key, None))
            lent[key] = reference, fingerprint(memory)

    def prints(self, node: Node) -> Prints:
        """Fingerprints of what ``node`` has just saved."""
        if type(node.values) is not tuple:
            return ()
        inside = self._inside
        return tuple(
            [
                None
                if type(array) is not np.ndarray or id(owner(array)) in inside
                else fingerprint(array)
                for _, array in _saved_arrays(node)
            ]
        )

    def changed(self, node: Node, before: Prints) -> str | None:
        """The name of a saved value that is no longer what it was."""
        for (index, array), print_before in zip(_saved_arrays(node), before, strict=True):
            if print_before is not None:
                same = fingerprint(array) == print_before
            else:
                same = not self._lent or self._as_lent(array)
            if not same:
                return node.plan.saved_names[index]
        return None

    def _as_lent(self, array: Any) -> bool:
        """Whether memory that was handed out after it was saved still is what it was then."""
        if type(array) is not np.ndarray:
            return True
        memory = owner(array)
        _, print_then = self._lent.get(id(memory), (None, None))
        return print_then is None or fingerprint(memory) == print_then


def _saved_arrays(node: Node) -> list[tuple[int, Any]]:
    """The arrays that a node guards against writes, with their index among the saved values."""
    values = node.values
    guarded = [(index, values[index]) for _, _, index in node.guards]
    if node.plan.op.variadic:  # a list of arrays, with a guard for each
        return [(index, each) for index, several in dict(guarded).items() for each in several]
    return guarded
