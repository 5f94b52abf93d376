"""What a checkpointed function works on, as it was when the function ran first.

Its arguments are kept, without the histories they may get later; and every block of memory that it
reads is remembered with its version.  A second run that would read something else is refused.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from whygrad.autograd.recompute.reports import CheckpointError
from whygrad.autograd.transforms.batching import add_batch
from whygrad.errors import describe, fail
from whygrad.source import Where, caller
from whygrad.tensor import Tensor, alias, keys
from whygrad.tensor.storage import DataStorage, InferenceStorage, Storage

if TYPE_CHECKING:
    from whygrad.ops.define import Op

__all__ = ["Entrusted", "Inputs", "Memory", "Reads", "overwritten"]


class Memory(NamedTuple):
    """An array, the storage it lies in, and the version that is meant."""

    array: Any
    storage: Storage
    version: int | None

    @classmethod
    def of(cls, tensor: Tensor) -> Memory:
        return cls(tensor._array, tensor._storage, version_of(tensor._storage))

    def take(self) -> Memory:
        """Itself; other sources of an input have to make it first."""
        return self

    @property
    def is_current(self) -> bool:
        """Whether nobody has written there since."""
        return version_of(self.storage) == self.version


class Entrusted:
    """The memory of an argument that is in the care of hooks around the checkpoint."""

    __slots__ = ("_box", "_guard")

    def __init__(self, box: Any, tensor: Tensor) -> None:
        self._box = box
        shares = getattr(box, "shares_memory", False)
        self._guard = (tensor._storage, version_of(tensor._storage)) if shares else None

    def take(self) -> Memory:
        array = self._box.open()
        return Memory(array, *(self._guard or (Storage(array), 0)))


class Inputs:
    """The arguments of a call; lists, tuples and dicts as they were, whatever becomes of them.

    ``keep`` says what to hold of each tensor: something whose ``take()`` gives its memory.
    """

    def __init__(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], keep: Callable[[Tensor, str], Any]
    ) -> None:
        count = 0

        def place(tensor: Tensor) -> _Place:
            nonlocal count
            count += 1
            levels = []
            while tensor._keys & keys.BATCHED:
                levels.append(tensor._array.level)
                tensor = tensor._array.tensor
            return _Place(tensor, levels, keep(tensor, f"input {count}"))

        self._structure = _mapped((args, kwargs), Tensor, place)

    def open(self, where: Where) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments for another call of the checkpoint that was called there."""
        args, kwargs = _mapped(self._structure, _Place, lambda place: place.tensor(where))
        return args, kwargs


class _Place:
    """One tensor among the arguments: its place in the graph, and where to get its memory.

    Inside ``vmap`` that is the tensor with all samples; ``levels`` are those it is batched at.
    """

    __slots__ = (
        "_attributes", "_keys", "_leaf", "_levels", "_node", "_slot", "_source", "_tangent", "_type"
    )  # fmt: skip

    def __init__(self, tensor: Tensor, levels: list[int], source: Any) -> None:
        self._source = source
        self._levels = levels
        # A leaf is given again as it is, since others know it by its identity.  It is not held: its
        # .grad may have a graph (create_graph) that leads here.
        self._leaf = weakref.ref(tensor) if tensor.requires_grad and tensor.is_leaf else None
        self._node = tensor._node
        self._slot = tensor._slot
        self._keys = tensor._keys
        self._tangent = _kept_tangents(tensor)
        self._attributes = dict(tensor.__dict__)
        self._type = type(tensor)

    def tensor(self, where: Where) -> Tensor:
        made = self._physical(where)
        for level in reversed(self._levels):
            made = add_batch(made, level)
        return made

    def _physical(self, where: Where) -> Tensor:
        memory = self._source.take()
        if not memory.is_current:
            what = f"an argument of it, {describe(memory.array)}"
            raise overwritten(memory.storage, memory.version, what, where)
        leaf = None if self._leaf is None else self._leaf()
        if leaf is not None and leaf._node is self._node and leaf._array is memory.array:
            return leaf
        made = Tensor.__new__(self._type)
        made._array = memory.array
        made._storage = memory.storage
        made._keys = self._keys
        made._base = None
        made._node = self._node
        made._slot = self._slot
        if self._tangent is not None:
            made._tangent = self._tangent
        made.__dict__.update(self._attributes)
        return made


def _kept_tangents(tensor: Tensor) -> dict[int, Tensor] | None:
    """Tangents that stay when the level they belong to is closed."""
    if tensor._tangent is None:
        return None
    return {level: _kept(tangent) for level, tangent in tensor._tangent.items()}


def _kept(tensor: Tensor) -> Tensor:
    if tensor._keys & keys.BATCHED:
        return add_batch(_kept(tensor._array.tensor), tensor._array.level)
    kept = alias(tensor, tensor._node, tensor._slot)
    kept._keys = tensor._keys
    kept._tangent = _kept_tangents(tensor)
    return kept


def _mapped(value: Any, kind: type, change: Callable[[Any], Any]) -> Any:
    """``change`` applied to everything of this kind in plain containers, which are made anew."""
    if isinstance(value, kind):
        return change(value)
    if type(value) in (list, tuple):
        return type(value)([_mapped(each, kind, change) for each in value])
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*[_mapped(each, kind, change) for each in value])
    if type(value) is dict:
        return {key: _mapped(each, kind, change) for key, each in value.items()}
    return value


class Reads:
    """The version of each block of memory when a function first read it."""

    def __init__(self) -> None:
        self._seen: dict[int, tuple[weakref.ref[Storage], int | None]] = {}

    def note(self, args: tuple[Any, ...]) -> None:
        """An op is about to read these."""
        seen = self._seen
        for tensor in _tensors(args):
            memory = tensor._storage
            known = seen.get(id(memory))
            if known is None or known[0]() is not memory:
                memory = _origin(memory)
                seen[id(memory)] = (weakref.ref(memory), version_of(memory))

    def forget_temporaries(self) -> None:
        """What is still there after the function has returned came from outside it."""
        self._seen = {key: row for key, row in self._seen.items() if row[0]() is not None}

    def knows(self, storage: Storage) -> bool:
        """Whether this memory was read, and is not the function's own."""
        known = self._seen.get(id(_origin(storage)))
        return known is not None and known[0]() is _origin(storage)

    def check(self, args: tuple[Any, ...], op: Op, where: Where) -> None:
        """Raise if an op is about to read memory that is not what it was the first time."""
        for tensor in _tensors(args):
            memory = _origin(tensor._storage)
            known = self._seen.get(id(memory))
            if known is not None and known[0]() is memory and known[1] != version_of(memory):
                what = f"{describe(tensor)}, which {op.name} reads at {caller()}"
                raise overwritten(memory, known[1], what, where)


def _tensors(args: tuple[Any, ...]) -> list[Tensor]:
    found = [each for each in args if isinstance(each, Tensor)]
    if found or not args or not isinstance(args[0], (list, tuple)):
        return found
    return [each for each in args[0] if isinstance(each, Tensor)]  # a variadic op takes a list


def _origin(storage: Storage) -> Storage:
    return storage.origin if type(storage) is DataStorage else storage


def version_of(storage: Storage) -> int | None:
    """None for memory that does not count its writes."""
    return None if type(storage) is InferenceStorage else storage.version


def overwritten(storage: Storage, version: int | None, what: str, where: Where) -> CheckpointError:
    """A second run would not see what the first one saw."""
    writer, line = storage.last_writer or ("an unknown writer", "an unknown line")
    return fail(
        CheckpointError,
        call=f"backward runs the checkpoint() at {where} again",
        cause="one of the variables needed for gradient computation has been modified by an "
        f"inplace operation: {writer} at {line} wrote to {what} (version {version} in the forward "
        f"pass, now {version_of(storage)})",
        fix=f"use the out-of-place form of {writer} or write to a clone(); or call backward() "
        "before the write",
        where=None,
    )
