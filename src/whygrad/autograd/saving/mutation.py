"""In-place writes to memory that backward still needs.

Nodes recorded inside ``allow_mutation_on_saved_tensors`` register what they saved with its
storage.  Just before a write the storage asks them to take a copy, so a value is copied only if it
is both needed and written.
"""

from __future__ import annotations

from contextlib import ContextDecorator
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

import numpy as np

from whygrad.autograd.saving.blocks import is_of_leaf
from whygrad.autograd.saving.bytes import note_saved
from whygrad.autograd.saving.hooks import Keeper, innermost_keeper
from whygrad.errors import fail
from whygrad.tensor.graph.node import Packed
from whygrad.tensor.storage import DataStorage, Storage, readers

if TYPE_CHECKING:
    from whygrad.tensor import Tensor
    from whygrad.tensor.graph.node import Node

__all__ = ["allow_mutation_on_saved_tensors"]


class _Reader:
    """One saved array, in the memory it shares with the program until somebody writes there."""

    __slots__ = ("__weakref__", "array", "storage", "version")

    def __init__(self, tensor: Tensor) -> None:
        self.array = tensor._array
        self.storage = tensor._storage
        self.version = self.storage.version

    def open(self) -> Any:
        return self.array

    def held(self) -> list[Any]:
        return [self.array]

    def before_write(self) -> None:
        """Leave the shared memory."""
        if type(self.array) is np.ndarray:
            self.array = self.array.copy(order="K")
            note_saved(self.array)
        self.storage = Storage(self.array)
        self.version = 0


class _Readers(Packed):
    """The values of a node, guarded by the memory in which each of them is now."""

    __slots__ = ()

    def unpack(self, node: Node) -> tuple[Any, ...]:
        node.guards = tuple(
            (reader.storage, reader.version, index)
            for index, value in enumerate(self.values)
            for reader in (value if isinstance(value, list) else [value])
            if isinstance(reader, _Reader)
        )
        return super().unpack(node)


class allow_mutation_on_saved_tensors(Keeper, ContextDecorator):
    """Inside, tensors that backward needs may be written to: it uses the values they had.

    As in PyTorch, but backward need not run inside the block: a graph keeps its right to the old
    values for as long as it lives.
    """

    def __enter__(self) -> None:
        if isinstance(innermost_keeper(), allow_mutation_on_saved_tensors):
            raise fail(
                RuntimeError,
                call="allow_mutation_on_saved_tensors()",
                cause="allow_mutation_on_saved_tensors contexts cannot be nested",
                fix="the outer block covers what is recorded inside; remove this one",
            )
        super().__enter__()

    def box(self, tensor: Tensor, node: Node, name: str, is_output: bool) -> _Reader:
        """The one that reads this array already, or a new one."""
        storage = tensor._storage
        origin = storage.origin if isinstance(storage, DataStorage) else storage
        here: WeakValueDictionary[int, _Reader]
        here = readers.setdefault(origin, WeakValueDictionary())
        reader = here.get(id(tensor._array))
        if reader is None or reader.version != storage.version:
            reader = here[id(tensor._array)] = _Reader(tensor)
            if not is_of_leaf(tensor):
                note_saved(tensor)
        return reader

    def put(self, node: Node, values: tuple[Any, ...]) -> None:
        node.values = _Readers(values)
        node.guards = ()
