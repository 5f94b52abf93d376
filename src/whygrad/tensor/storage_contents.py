"""What programs may do with a storage: look at its elements, write them, copy them.

One class for memory counted in bytes (:class:`whygrad.tensor.storage.Storage`) and in elements of
a dtype (:class:`whygrad.ops.public.storages.TypedStorage`).  The work is done by a tensor over all
of the memory.  A write shows in every tensor over it; as in PyTorch it does not count in
``_version``, but what backward has saved is known to be overwritten.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from whygrad.errors import fail
from whygrad.tensor.above import above

if TYPE_CHECKING:
    from whygrad.tensor import Tensor
    from whygrad.tensor.devices import Device
    from whygrad.tensor.dtypes import DType
    from whygrad.tensor.storage import Storage

__all__ = ["Contents"]


class Contents:
    """Elements one after the other, without a shape."""

    __slots__ = ()

    is_cuda = is_hpu = is_sparse = is_sparse_csr = False

    def _memory(self) -> tuple[Storage, DType]:
        """The memory, and what its elements are."""
        raise NotImplementedError

    def _of(self, storage: Storage) -> Any:
        """Other memory, seen in the same way."""
        raise NotImplementedError

    def _tensor(self) -> Tensor:
        from whygrad.tensor.modes import no_grad

        storage, dtype = self._memory()
        with no_grad():
            empty: Tensor = above.functions["empty"](0, dtype=dtype, device=self.device)
            return empty.set_(storage)

    def _write(self, change: Callable[[Tensor], Any]) -> None:
        """One write by ``change`` to a tensor over the memory."""
        from whygrad.tensor.modes import no_grad

        storage, _ = self._memory()
        with no_grad():
            change(self._tensor())
        storage.hide_write()

    def __len__(self) -> int:
        storage, dtype = self._memory()
        return storage.nbytes() // dtype.itemsize

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def _position(self, index: Any) -> int:
        if isinstance(index, slice):
            raise fail(
                RuntimeError,
                call="storage[a:b]",
                cause="slices are not supported: a part of this memory would not know who writes "
                "to the whole",
                fix="use a tensor: x.flatten()[a:b]",
            )
        number, count = operator.index(index), len(self)
        if not -count <= number < count:
            raise fail(
                IndexError,
                call=f"storage[{number}]",
                cause=f"index {number} out of range for storage of size {count}",
                fix=f"count from 0 to {count - 1}" if count else "it is empty",
            )
        return number

    def __getitem__(self, index: Any) -> Any:
        position = self._position(index)
        return self._tensor()[position].item()

    def __setitem__(self, index: Any, value: Any) -> None:
        if index != slice(None):  # all of it is no part
            index = self._position(index)
        self._write(lambda tensor: tensor.__setitem__(index, value))

    def tolist(self) -> list[Any]:
        """Every element as a Python number."""
        return self._tensor().tolist()

    def fill_(self, value: Any) -> Any:
        """Make every element ``value``."""
        self._write(lambda tensor: tensor.fill_(value))
        return self

    def copy_(self, source: Contents, non_blocking: bool | None = None) -> Any:
        """Take over the bytes of ``source``, whatever they mean there."""
        self.untyped()._write(lambda tensor: tensor.copy_(source.untyped()._tensor()))
        return self

    def clone(self) -> Any:
        """A copy with memory of its own."""
        return self._of(self._tensor().clone()._storage)

    def cpu(self) -> Any:
        """The storage itself: it is on the CPU."""
        return self

    def element_size(self) -> int:
        """Bytes per element."""
        return self._memory()[1].itemsize

    @property
    def device(self) -> Device:
        from whygrad.tensor.devices import MetaArray, of

        return of("meta" if isinstance(self._memory()[0].array, MetaArray) else "cpu")

    def get_device(self) -> int:
        """The number of the GPU: -1, for none."""
        return -1

    def untyped(self) -> Storage:
        """The memory, counted in bytes."""
        return self._memory()[0]

    def is_shared(self) -> bool:
        """Whether the memory is shared between processes: it is not."""
        return False

    def share_memory_(self) -> Any:
        """The storage itself: threads share all memory."""
        return self

    def is_pinned(self, device: Any = None) -> bool:
        """Whether a GPU could read it directly: there is none."""
        return False

    def resizable(self) -> bool:
        """Whether ``resize_`` works: it does not, since tensors look at the memory directly."""
        return False
