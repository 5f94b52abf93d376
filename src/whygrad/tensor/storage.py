"""Memory with a history: who wrote last, and how often.

Tensors over the same memory share one Storage.  A saved value remembers the version it saw; if
the storage has moved on by the time backward needs the value, that is an error which can name
the op that wrote and its source line, never a silently wrong gradient.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from numpy.lib.array_utils import byte_bounds

from whygrad.errors import fail
from whygrad.tensor import modes
from whygrad.tensor.storage_contents import Contents

if TYPE_CHECKING:
    from whygrad.source import Where
    from whygrad.tensor import Tensor
    from whygrad.tensor.dtypes import DType

__all__ = ["CutStorage", "DataStorage", "InferenceStorage", "Storage", "new_storage", "readers"]

# Saved values that must get a copy before their memory is written, see autograd.mutation.
readers: weakref.WeakKeyDictionary[Storage, Any] = weakref.WeakKeyDictionary()


class Storage(Contents):
    """One block of memory, its version counter and its last writer."""

    __slots__ = (
        "__weakref__", "_views", "array", "hidden", "last_writer", "made_in", "restricted",
        "version",
    )  # fmt: skip

    made_in: int  # begin of the transformed function's run that made it, empty outside of one

    def __init__(self, array: Any) -> None:
        self.array = array
        self.version = 0  # of the memory: every write counts
        self.hidden = 0  # how many of those came through .data, which PyTorch does not count
        self.last_writer: tuple[str, Where] | None = None
        self.restricted = False  # whether some view must not be written to, see autograd.views
        self._views: list[weakref.ref[Tensor]] = []

    @property
    def shown_version(self) -> int:
        """What ``Tensor._version`` says."""
        return self.version - self.hidden

    def prepare_write(self, op_name: str, where: Where) -> None:
        """Raise if a write here and now is not allowed; copy what saved values still need."""
        if readers:
            for reader in list(readers.pop(self, {}).values()):
                reader.before_write()

    def bump(self, op_name: str, where: Where) -> None:
        """Record a write."""
        self.version += 1
        self.last_writer = (op_name, where)

    def hide_write(self) -> None:
        """Do not show the last write in ``Tensor._version``."""
        self.hidden += 1

    def add_view(self, view: Tensor) -> None:
        """Remember that ``view`` looks at this memory, for as long as it lives."""
        views = self._views
        views.append(weakref.ref(view))
        if len(views) & (len(views) - 1) == 0:  # at powers of two, so the cost is amortised
            self._views = [each for each in views if each() is not None]

    def live_views(self) -> list[Tensor]:
        return [view for each in self._views if (view := each()) is not None]

    def seen_as(self) -> list[Tensor]:
        """The tensor whose ``.data`` this is the memory of."""
        return []

    @property
    def start(self) -> int:
        """The lowest address of an element."""
        return byte_bounds(self.array)[0]

    def data_ptr(self) -> int:
        """The lowest address of an element, as PyTorch names it."""
        return self.start

    def nbytes(self) -> int:
        """Bytes from the first element in memory to the end of the last."""
        if not self.array.size:
            return 0
        low, high = byte_bounds(self.array)
        return high - low

    size = nbytes  # of an untyped storage, as PyTorch counts

    def _memory(self) -> tuple[Storage, DType]:
        from whygrad.tensor.dtypes import uint8

        return self, uint8

    def _of(self, storage: Storage) -> Storage:
        return storage


def new_storage(array: Any) -> Storage:
    """For memory that was made here and now; a transformed function may write to its own."""
    storage = Storage(array)
    if modes.state.run is not None:
        storage.made_in = modes.state.run.begin
    return storage


class DataStorage(Storage):
    """The memory behind ``x.data``.

    As in PyTorch it has a version of its own to show, and a write here does not show in the
    version of ``x``.  But the memory is one, so what was saved from it is known to be overwritten.
    """

    __slots__ = ("_seen", "_shown", "origin")

    def __init__(self, tensor: Tensor) -> None:
        source = tensor._storage
        self._seen = weakref.ref(tensor)
        self.origin: Storage = source.origin if isinstance(source, DataStorage) else source
        self.array = source.array
        self.restricted = False
        self._views = []
        self._shown = 0

    @property
    def version(self) -> int:
        return self.origin.version

    @version.setter
    def version(self, value: int) -> None:
        self.origin.version = value

    @property
    def shown_version(self) -> int:
        return self._shown

    @property
    def last_writer(self) -> tuple[str, Where] | None:  # type: ignore[override]
        return self.origin.last_writer

    def prepare_write(self, op_name: str, where: Where) -> None:
        self.origin.prepare_write(op_name, where)

    def seen_as(self) -> list[Tensor]:
        tensor = self._seen()
        return [] if tensor is None else [tensor, *tensor._storage.seen_as()]

    def bump(self, op_name: str, where: Where) -> None:
        self._shown += 1
        self.origin.hidden += 1
        self.origin.bump(f".data.{op_name}", where)

    def hide_write(self) -> None:
        self._shown -= 1


class CutStorage(Storage):
    """Memory whose tensor was cut off by ``detach_()`` while views kept their history.

    With the first write those views show values that their history did not compute, so they are
    cut off, too.  Then this is ordinary memory again.
    """

    __slots__ = ()

    def bump(self, op_name: str, where: Where) -> None:
        for view in self.live_views():
            if view._base is not None and view._base._node is None and not view.is_leaf:
                view._leave_graph()
        super().bump(op_name, where)
        self.__class__ = Storage  # type: ignore[assignment]


class InferenceStorage(Storage):
    """Memory made inside ``inference_mode``: it has no version, so nothing can rely on one."""

    __slots__ = ()

    def __init__(self, array: Any) -> None:
        self.array = array
        self.hidden = 0
        self.last_writer = None
        self.restricted = False
        self._views = []

    @property
    def version(self) -> int:  # type: ignore[override]
        raise fail(
            RuntimeError,
            call="a tensor made inside inference_mode is needed as a saved value",
            cause="Inference tensors do not track version counter, so "
            "Inference tensors cannot be saved for backward",
            fix="clone() it outside inference_mode, or make it under no_grad() instead",
        )

    def prepare_write(self, op_name: str, where: Where) -> None:
        if not modes.state.inference:
            raise fail(
                RuntimeError,
                call=f"{op_name} on a tensor made inside inference_mode at {where}",
                cause="Inplace update to inference tensor outside InferenceMode is not allowed",
                fix="clone() it first",
                where=None,
            )

    def bump(self, op_name: str, where: Where) -> None:
        self.last_writer = (op_name, where)
