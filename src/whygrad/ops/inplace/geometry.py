"""Another shape for the same tensor object: ``unsqueeze_``, ``t_``, ``resize_``.

Nothing is written to memory.  The tensor becomes the view that the method without the underscore
would have returned, and its history becomes that view's.  Memory is untouched, so values that
backward has saved stay valid, and the version does not change (PyTorch counts these as writes).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from math import prod
from typing import Any

import numpy as np

from whygrad.errors import describe, fail, too_large
from whygrad.ops.geometry import shape_from
from whygrad.ops.inplace.writing import check_writable
from whygrad.tensor import Tensor, devices, keys, modes
from whygrad.tensor.above import above
from whygrad.tensor.memory import row_major, strided
from whygrad.tensor.storage import InferenceStorage, Storage, new_storage

__all__ = ["install", "resize"]

Shape = tuple[int, ...]

_VIEWS = ("as_strided", "squeeze", "swapaxes", "swapdims", "t", "transpose", "unsqueeze")


def _make_method(name: str) -> Callable[..., Tensor]:
    look = getattr(Tensor, name)

    def method(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        check_writable(self, f"{name}_", uniform=True)
        # Without a record, gradients would arrive in a shape that the history knows nothing of.
        recording = nullcontext() if self.is_leaf else modes.enable_grad()
        with recording:
            seen: Tensor = look(self, *args, **kwargs)
        self._array = seen._array
        if seen._node is not None:
            above.move(self, seen._node, seen._slot)
        elif self._node is not None:
            self._node.shape = seen._array.shape
        if seen._tangent:
            above.set_tangents(self, seen._tangent)
        return self

    method.__name__ = method.__qualname__ = f"{name}_"
    method.__doc__ = f"Become what {name}() returns."
    return method


def resize_(self: Tensor, *sizes: Any, memory_format: Any = None) -> Tensor:
    """Take another size, row by row over the same memory, and more memory if that is too small.

    Elements that were not there before have no defined value.
    """
    shape = shape_from(sizes)
    if any(size < 0 for size in shape):
        cause = f"Trying to resize to a negative size {min(shape)}"
        raise _refuse(self, shape, cause, "pass sizes of 0 or more")
    if shape != tuple(self.shape):
        try:
            resize(self, shape)
        except (MemoryError, ValueError) as error:
            raise _refuse(
                self, shape, too_large(error) or str(error), "pass sizes that memory can have"
            ) from None
    return self


def resize_as_(self: Tensor, the_template: Tensor, *, memory_format: Any = None) -> Tensor:
    """Take the size of another tensor."""
    return resize_(self, tuple(the_template.shape))


def resize(tensor: Tensor, shape: Shape) -> None:
    """Give ``tensor`` this shape; its first elements in memory stay what they are."""
    if tensor.requires_grad:
        raise _refuse(
            tensor,
            shape,
            "cannot resize variables that require grad",
            "use reshape(), or x.detach().clone().resize_(…)",
        )
    if tensor._keys & keys.BATCHED:
        raise _refuse(
            tensor, shape, "vmap does not support resize_: a sample cannot grow", "use reshape()"
        )
    if tensor._keys & keys.META:
        tensor._array = devices.meta_array(shape, tensor._array.dtype)
        return
    storage, itemsize = tensor._storage, tensor._array.itemsize
    start = tensor.storage_offset() * itemsize
    available = storage.nbytes() - start
    if prod(shape) * itemsize <= available:
        tensor._array = _over(tensor, shape, start)
        return
    if tensor._base is not None or storage.live_views():
        raise _refuse(
            tensor,
            shape,
            "its memory is too small, and other tensors look at it: they cannot follow it to "
            "another place",
            "resize before views are made, or write to a new tensor",
        )
    grown = np.empty(shape, tensor._array.dtype)
    count = available // itemsize
    grown.reshape(-1)[:count] = _over(tensor, (count,), start)
    tensor._array = grown
    tensor._storage = _moved(storage, grown)


def _over(tensor: Tensor, shape: Shape, start: int) -> Any:
    """A row-major array over the memory of a tensor, ``start`` bytes after its beginning."""
    storage, seen = tensor._storage, tensor._array
    # a storage may have been made for another dtype than that of a view of it
    source = storage.array if storage.array.dtype == seen.dtype else seen
    offset = storage.start + start - source.__array_interface__["data"][0]
    return strided(source, shape, row_major(shape, seen.itemsize), offset)


def _moved(storage: Storage, array: Any) -> Storage:
    if isinstance(storage, InferenceStorage):
        return InferenceStorage(array)
    moved = new_storage(array)
    moved.version = storage.shown_version
    moved.last_writer = storage.last_writer
    return moved


def _refuse(tensor: Tensor, shape: Shape, cause: str, fix: str) -> RuntimeError:
    return fail(
        RuntimeError,
        call=f"resize_ of {describe(tensor)} to {list(shape)}",
        cause=cause,
        fix=fix,
    )


def install() -> None:
    """Give ``Tensor`` the methods that change its own geometry."""
    for name in _VIEWS:
        setattr(Tensor, f"{name}_", _make_method(name))
    for method in (resize_, resize_as_):
        setattr(Tensor, method.__name__, method)
