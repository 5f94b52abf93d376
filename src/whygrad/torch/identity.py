"""Which tensor is which, without keeping any of them alive.

A tensor (or a NumPy array that came out of one) gets a :class:`Track` when it is first seen.
Memory gets a number, too, because views, ``detach()``, ``.data`` and ``numpy()`` are different
tensors over the same memory.  Both are known weakly: a number never comes back, an ``id`` or an
address does.
"""

from __future__ import annotations

import weakref
from collections import OrderedDict
from itertools import count
from typing import Any

import numpy as np
import torch
from torch.multiprocessing.reductions import StorageWeakRef

from whygrad.autograd.anomaly_mode.findings import Trail
from whygrad.source import Where

__all__ = ["Track", "identities"]

_NUMBERS_KEPT = 4096  # numbers that left through item() and tolist(), the latest


class Track:
    """What is remembered of a tensor, of a NumPy array, or of a number that left a tensor."""

    __slots__ = (
        "applied",
        "dtype",
        "is_leaf",
        "memory",
        "number",
        "reference",
        "required_at",
        "shape",
        "trail",
    )

    def __init__(self, number: int, thing: Any, memory: int | None) -> None:
        self.number = number  # numbers are times as well: of when it was first seen
        self.memory = memory
        self.applied: Where | None = None  # in the forward of whose F.apply(…) it was made
        self.required_at: tuple[int, Where | None] | None = None  # requires_grad_(): time and line
        self.is_leaf = isinstance(thing, torch.Tensor) and thing.requires_grad and thing.is_leaf
        self.trail: Trail | None = None  # where its numbers that are not finite come from
        number_only = isinstance(thing, float)
        self.shape: tuple[int, ...] = () if number_only else _shape(thing)
        self.dtype = "float" if number_only else str(thing.dtype).removeprefix("torch.")
        self.reference = None if number_only else weakref.ref(thing)

    @property
    def thing(self) -> Any:
        """The tensor or array, while somebody else keeps it alive."""
        return None if self.reference is None else self.reference()


class Identities:
    """The tracks of everything that was seen and still lives."""

    def __init__(self) -> None:
        self._next = count(1)
        self._tracks: dict[int, tuple[weakref.ref[Any], Track]] = {}
        self._memories: dict[int, tuple[StorageWeakRef, int]] = {}
        self._lent: list[tuple[StorageWeakRef, int, int, int]] = []
        self._left: OrderedDict[float, tuple[float, Track]] = OrderedDict()

    def tick(self) -> int:
        """A number that nobody else has; later ones are larger."""
        return next(self._next)

    def known(self, thing: Any) -> Track | None:
        """The track of a tensor or array that has been seen."""
        found = self._tracks.get(id(thing))
        return found[1] if found is not None and found[0]() is thing else None

    def track(self, thing: Any) -> Track:
        """The track of a tensor or array; a new one if it has not been seen."""
        known = self.known(thing)
        if known is not None:
            return known
        memory = self._memory(thing) if isinstance(thing, torch.Tensor) else None
        track = Track(self.tick(), thing, memory)
        key, tracks = id(thing), self._tracks

        def forget(dead: weakref.ref[Any]) -> None:
            if key in tracks and tracks[key][0] is dead:
                del tracks[key]

        tracks[key] = weakref.ref(thing, forget), track
        return track

    def _memory(self, tensor: torch.Tensor) -> int | None:
        """The number of the memory under a tensor; None where there is none to speak of."""
        try:
            storage = tensor.untyped_storage()
        except (NotImplementedError, RuntimeError):  # sparse tensors, wrappers of torch.func
            return None
        address = storage._cdata
        found = self._memories.get(address)
        # The weak reference keeps the address from being given to another storage while it is here.
        if found is None:
            number = self._lent_under(storage) or self.tick()
            found = self._memories[address] = StorageWeakRef(storage), number
            if len(self._memories) % 1024 == 0:
                self._forget_freed()
        return found[1]

    def lend(self, tensor: torch.Tensor) -> None:
        """NumPy gets to see the memory of ``tensor``, and may hand it back behind our back."""
        memory = self._memory(tensor)
        if memory is not None:
            storage = tensor.untyped_storage()
            start = storage.data_ptr()
            self._lent.append((StorageWeakRef(storage), start, start + storage.nbytes(), memory))

    def _lent_under(self, storage: Any) -> int | None:
        """The number of the memory that was lent to NumPy and is that of ``storage``, too."""
        self._lent = [each for each in self._lent if not each[0].expired()]
        if not self._lent:
            return None
        try:
            address = storage.data_ptr()
        except RuntimeError:  # tensors that only describe others
            return None
        return next((each[3] for each in self._lent if each[1] <= address < each[2]), None)

    def leave(self, number: float) -> Track:
        """A number left a tensor; the object itself is kept, so that it can be recognised."""
        track = Track(self.tick(), number, None)
        self._left[number] = number, track
        if len(self._left) > _NUMBERS_KEPT:
            self._left.popitem(last=False)
        return track

    def returning(self, number: float) -> tuple[Track, bool] | None:
        """The track of a number that left earlier, and whether it is certainly that one."""
        found = self._left.get(number)
        return None if found is None else (found[1], found[0] is number)

    def array(self, array: np.ndarray[Any, Any]) -> Track | None:
        """The track of the NumPy array, or of the tensor, whose memory an array looks at."""
        owner: Any = array
        while isinstance(owner, np.ndarray):
            known = self.known(owner)
            if known is not None:
                return known
            owner = owner.base
        return self.known(owner) if isinstance(owner, torch.Tensor) else None

    def _forget_freed(self) -> None:
        memories = list(self._memories.items())  # other threads may record, too
        freed = [key for key, (reference, _) in memories if reference.expired()]
        for key in freed:
            self._memories.pop(key, None)


identities = Identities()


def _shape(thing: Any) -> tuple[int, ...]:
    try:
        return tuple(thing.shape)
    except RuntimeError:  # a nested tensor has none
        return ()
