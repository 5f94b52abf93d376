"""Methods that replace a tensor's memory or rewrite it with a Python function, and older names."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from whygrad.errors import describe, fail
from whygrad.ops.geometry import shape_from
from whygrad.ops.inplace.geometry import resize
from whygrad.ops.inplace.writing import assign, check_writable
from whygrad.tensor import Tensor, keys, modes, wrap
from whygrad.tensor.copies import of_class
from whygrad.tensor.memory import reinterpreted, row_major, strided
from whygrad.tensor.storage import new_storage
from whygrad.tensor.storage_contents import Contents

__all__ = ["install"]


def _refuse(tensor: Tensor, name: str, cause: str, fix: str) -> RuntimeError:
    return fail(RuntimeError, call=f"{name} on {describe(tensor)}", cause=cause, fix=fix)


def _rewritten(name: str, target: Tensor, others: tuple[Tensor, ...], function: Any) -> Tensor:
    """Each element of ``target`` becomes ``function`` of it and those beside it."""
    if any(each.requires_grad for each in (target, *others)):
        raise _refuse(
            target,
            name,
            f"Can't call {name}() on Variable that requires grad. Use var.detach().{name}() "
            "instead.",
            "a Python function per element has no derivative: write it with ops",
        )
    if target.device != "cpu" or target._keys & (keys.LAYOUTS | keys.BATCHED):
        raise _refuse(
            target, name, f"{name} is only implemented on CPU tensors", "move it with .cpu()"
        )
    for each in others:
        if each.dtype is not target.dtype:
            raise fail(
                TypeError,
                call=f"{name} on {describe(target)} with {describe(each)}",
                cause=f"expected {target.dtype.name}, but got {each.dtype.name}",
                fix=f"convert it first: .to({target.dtype!r})",
            )
    check_writable(target, name)
    columns = [each.expand(target.shape).reshape(-1).tolist() for each in (target, *others)]
    values = [function(*row) for row in zip(*columns, strict=True)]
    made = np.array(values, target.dtype.numpy).reshape(target.shape)
    return assign(target, wrap(made), name)


def apply_(self: Tensor, callable: Callable[[Any], Any]) -> Tensor:
    """Replace each element by what a Python function makes of it.  Slow: use ops where you can."""
    return _rewritten("apply_", self, (), callable)


def map_(self: Tensor, tensor: Tensor, callable: Callable[[Any, Any], Any]) -> Tensor:
    """Replace each element by what a Python function makes of it and that of ``tensor``."""
    return _rewritten("map_", self, (tensor,), callable)


def map2_(self: Tensor, x: Tensor, y: Tensor, callable: Callable[[Any, Any, Any], Any]) -> Tensor:
    """Replace each element by what a Python function makes of it and those of ``x`` and ``y``."""
    return _rewritten("map2_", self, (x, y), callable)


def set_(
    self: Tensor,
    source: Tensor | Contents | None = None,
    storage_offset: int = 0,
    size: Any = None,
    stride: Any = None,
) -> Tensor:
    """Look at the memory of ``source`` from now on; without one, at none."""
    _check_settable(self, source)
    if source is None:
        storage = new_storage(self._array[:0].reshape(-1)[:0].copy())
        self._array, self._storage, self._base = storage.array, storage, None
        return self
    storage = source._storage if isinstance(source, Tensor) else source.untyped()
    if isinstance(source, Tensor) and size is None:
        self._array, self._storage, self._base = source._array, storage, None
        return self
    itemsize = self._array.itemsize
    count = storage.nbytes() // itemsize - storage_offset
    shape = (max(count, 0),) if size is None else shape_from((size,))
    steps = row_major(shape) if stride is None else shape_from((stride,))
    reach = sum((each - 1) * step for each, step in zip(shape, steps, strict=True))
    outside = (storage_offset + reach + 1) * itemsize > storage.nbytes()
    if min((storage_offset, *steps)) < 0 or (0 not in shape and outside):
        raise _refuse(
            self,
            "set_",
            f"sizes {list(shape)}, strides {list(steps)}, storage offset {storage_offset} are "
            f"out of bounds for storage of size {storage.nbytes()}",
            "stay inside the memory of the source",
        )
    whole = reinterpreted(storage.array, self._array.dtype)
    byte_steps = tuple(step * itemsize for step in steps)
    self._array = strided(whole, shape, byte_steps, storage_offset * itemsize)
    self._storage, self._base = storage, None
    return self


def _check_settable(self: Tensor, source: Tensor | Contents | None) -> None:
    """Raise if this would give a history to other memory, or numbers another meaning."""
    tensors = [each for each in (self, source) if isinstance(each, Tensor)]
    if modes.state.recording and any(each.requires_grad for each in tensors):
        raise _refuse(
            self, "set_", "a history would be that of other memory", "detach() both tensors first"
        )
    if any(each._keys & (keys.LAYOUTS | keys.BATCHED) for each in tensors):
        raise _refuse(
            self, "set_", "one of the tensors is not strided", "use dense tensors outside of vmap"
        )
    if source is None:
        return
    if source.device != self.device:
        raise _refuse(
            self,
            "set_",
            f'Attempted to set the storage of a tensor on device "{self.device}" to a storage on '
            f'different device "{source.device}"',
            "the devices must match",
        )
    dtype = getattr(source, "dtype", None)  # bytes have none
    if dtype not in (None, self.dtype):
        raise _refuse(
            self,
            "set_",
            f"Could not set tensor of type {dtype.name} to a tensor of type {self.dtype.name}",
            "convert it first: source.to(x.dtype)",
        )


def share_memory_(self: Tensor) -> Tensor:
    """The tensor itself: threads share all memory, and processes of a loader get copies."""
    return self


def is_shared(self: Tensor) -> bool:
    """Whether the memory is shared between processes: it is not."""
    return False


def is_set_to(self: Tensor, tensor: Tensor) -> bool:
    """Whether both look at the same memory in the same way."""
    return (
        self.untyped_storage() is tensor.untyped_storage()
        and self.shape == tensor.shape
        and self.stride() == tensor.stride()
        and self.storage_offset() == tensor.storage_offset()
    )


def new(self: Tensor, *data: Any, device: Any = None) -> Tensor:
    """PyTorch's first constructor, with dtype and device of this tensor: sizes, or numbers."""
    from whygrad.ops.public.legacy import old_style

    made: Tensor = old_style("new", data, self.dtype)
    return made.to(self.device if device is None else device)


def dim_order(self: Tensor, ambiguity_check: Any = False) -> tuple[int, ...]:
    """The dimensions from the one with the largest stride to the one with the smallest."""
    steps = self.stride()
    return tuple(sorted(range(self.ndim), key=lambda dim: -steps[dim]))


def const_data_ptr(self: Tensor) -> int:
    """The address of the first element, for reading."""
    return self.data_ptr()


def as_subclass(self: Tensor, cls: type[Tensor]) -> Tensor:
    """The same memory and history as an object of another class."""
    from whygrad.dispatch.overriding import disabled

    with disabled():
        dense = not self._keys & keys.LAYOUTS
        same = self.view(self.shape) if dense else self.detach()
    same.__class__ = cls  # it is new, and its base knows it
    same._keys |= cls._class_keys
    return same


def _make_subclass(cls: type[Tensor], data: Tensor, require_grad: bool = False) -> Tensor:
    """The memory of ``data`` as a leaf of another class."""
    return of_class(cls, Tensor.detach(data)).requires_grad_(require_grad)


def record_stream(self: Tensor, stream: Any) -> None:
    """Nothing: there are no streams on a CPU."""


def resize_deprecated(self: Tensor, *sizes: Any) -> Tensor:
    """``resize_`` of another view of the same memory; deprecated in PyTorch."""
    warnings.warn("non-inplace resize is deprecated", UserWarning, stacklevel=2)
    same = self.detach()
    resize(same, shape_from(sizes))
    return same


def resize_as_deprecated(self: Tensor, tensor: Tensor) -> Tensor:
    """``resize`` to the shape of ``tensor``; deprecated in PyTorch."""
    return resize_deprecated(self, tuple(tensor.shape))


_METHODS: tuple[Callable[..., Any], ...] = (
    apply_, as_subclass, const_data_ptr, dim_order, is_set_to, is_shared, map2_, map_, new,
    record_stream, set_, share_memory_,
)  # fmt: skip


def install() -> None:
    """Give ``Tensor`` these methods."""
    for method in _METHODS:
        setattr(Tensor, method.__name__, method)
    Tensor._make_subclass = staticmethod(_make_subclass)  # type: ignore[attr-defined]
    for name, method in (("resize", resize_deprecated), ("resize_as", resize_as_deprecated)):
        setattr(Tensor, name, method)
