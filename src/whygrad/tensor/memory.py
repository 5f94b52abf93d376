"""How elements lie in memory: sizes, strides, and which views of them exist.

Whether a shape change is a view is decided here by PyTorch's rules, not by NumPy's: the two differ
on dimensions of size 1, and a program must not copy in one library and alias in the other.
Strides in this module count bytes, as NumPy's do; ``Tensor.stride()`` counts elements.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

from whygrad.errors import fail

__all__ = [
    "MemoryFormat",
    "Size",
    "channels_last",
    "channels_last_3d",
    "contiguous_format",
    "expanded_strides",
    "is_dense",
    "may_overlap",
    "preserve_format",
    "resolve_shape",
    "row_major",
    "share_partly",
    "strided",
    "view_strides",
]

Shape = tuple[int, ...]


class Size(tuple[int, ...]):
    """The shape of a tensor: a tuple that can count its elements."""

    __slots__ = ()

    def numel(self) -> int:
        """The number of elements of a tensor of this size."""
        return prod(self)

    def __getitem__(self, index: Any) -> Any:
        part = tuple.__getitem__(self, index)
        return Size(part) if isinstance(index, slice) else part

    def __add__(self, other: tuple[Any, ...]) -> Size:
        return Size((*self, *other))

    def __radd__(self, other: tuple[Any, ...]) -> Size:
        return Size((*other, *self))

    def __mul__(self, times: Any) -> Size:
        return Size(tuple.__mul__(self, times))

    __rmul__ = __mul__

    def __repr__(self) -> str:
        return f"whygrad.Size([{', '.join(map(str, self))}])"

    __str__ = __repr__


class MemoryFormat:
    """The order in which a copy lays out its elements.

    ``dims`` are the dimensions from the outermost to the innermost in memory, for tensors of that
    many; None where the number of dimensions does not matter.
    """

    __slots__ = ("dims", "name")

    def __init__(self, name: str, dims: tuple[int, ...] | None = None) -> None:
        self.name = name
        self.dims = dims

    def holds(self, array: Any) -> bool:
        """Whether the array lies so already."""
        if self.dims is None:
            return self is preserve_format or bool(array.flags.c_contiguous)
        if array.ndim < len(self.dims):
            return False
        expected = array.dtype.itemsize
        for dim in reversed(self._order(array.ndim)):
            if array.shape[dim] != 1:
                if array.strides[dim] != expected and prod(array.shape):
                    return False
                expected *= array.shape[dim]
        return True

    def copied(self, array: Any) -> Any:
        """A copy in this order."""
        if self.dims is None:
            keeps_order = self is preserve_format and is_dense(array)
            return array.copy(order="K" if keeps_order else "C")
        order = self._order(array.ndim)
        back = sorted(range(array.ndim), key=order.__getitem__)
        return array.transpose(order).copy(order="C").transpose(back)

    def _order(self, ndim: int) -> tuple[int, ...]:
        """``dims``, behind the dimensions that batching has put in front."""
        assert self.dims is not None
        extra = ndim - len(self.dims)
        return (*range(extra), *(extra + dim for dim in self.dims))

    def __repr__(self) -> str:
        return f"whygrad.{self.name}"

    def __reduce__(self) -> str:
        return self.name  # the constant of this module, which copies stay


preserve_format = MemoryFormat("preserve_format")
contiguous_format = MemoryFormat("contiguous_format")
channels_last = MemoryFormat("channels_last", (0, 2, 3, 1))
channels_last_3d = MemoryFormat("channels_last_3d", (0, 2, 3, 4, 1))


def row_major(shape: Shape, step: int = 1) -> Shape:
    """Strides of a contiguous tensor whose elements are ``step`` apart."""
    strides = []
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


def is_dense(array: Any) -> bool:
    """Whether the elements fill their memory without gaps or overlap, in any order of dims."""
    if array.flags.forc:
        return True
    expected = array.itemsize
    for stride, size in sorted(zip(array.strides, array.shape, strict=True)):
        if size != 1:
            if stride != expected:
                return False
            expected *= size
    return True


def may_overlap(shape: Shape, strides: Shape) -> bool:
    """Whether two elements may share memory; False is certain."""
    reach = 0
    for stride, size in sorted((abs(stride), size) for stride, size in zip(strides, shape)):
        if size > 1:
            if stride <= reach:
                return True
            reach += stride * (size - 1)
    return False


def share_partly(a: Any, b: Any) -> bool:
    """Whether two dense arrays have memory in common without being the same elements."""
    if a is b or not a.size or not b.size or not np.may_share_memory(a, b):
        return False
    if not is_dense(a) or not is_dense(b):
        return False  # their gaps may interlock; PyTorch does not look closer either
    same_start = a.__array_interface__["data"][0] == b.__array_interface__["data"][0]
    return not (same_start and a.nbytes == b.nbytes and a.strides == b.strides)


class _Interface:
    """What NumPy needs to know to build an array over memory that ``owner`` keeps alive."""

    __slots__ = ("__array_interface__", "owner")

    def __init__(self, interface: dict[str, Any], owner: Any) -> None:
        self.__array_interface__ = interface
        self.owner = owner


def strided(array: Any, shape: Shape, strides: Shape, offset: int = 0) -> Any:
    """The same memory with another geometry, starting ``offset`` bytes after the first element.

    Unlike NumPy's methods this keeps the given strides even for dimensions of size 1, and it
    touches no data, so it serves meta tensors as well.
    """
    if not isinstance(array, np.ndarray):
        array = np.asarray(array)  # rules may meet the scalars that NumPy makes of 0-d results
    if array.flags.forc:
        try:
            return type(array)(shape, array.dtype, array, offset, strides)
        except (TypeError, ValueError):
            pass  # leaves the array's own extent, or NumPy sees no buffer behind it
    interface = dict(array.__array_interface__)
    address, read_only = interface["data"]
    interface.update(shape=shape, strides=strides, data=(address + offset, read_only))
    view = np.asarray(_Interface(interface, array))
    if view.dtype != array.dtype:
        view = view.view(array.dtype)  # bfloat16 is an opaque type to the interface
    return view if type(array) is np.ndarray else view.view(type(array))


def reinterpreted(array: Any, dtype: Any) -> Any:
    """All memory between the first and the last element, in one dimension, as another dtype."""
    if not array.size:
        return np.empty(0, dtype).view(type(array))
    low, high = byte_bounds(array)
    count = (high - low) // dtype.itemsize
    interface = dict(array.__array_interface__)
    interface.update(
        shape=(count * dtype.itemsize,), strides=(1,), typestr="|u1", descr=[("", "|u1")],
        data=(low, interface["data"][1]),
    )  # fmt: skip
    return np.asarray(_Interface(interface, array)).view(dtype).view(type(array))


@lru_cache(maxsize=2048)
def resolve_shape(shape: Shape, numel: int) -> Shape:
    """Fill in the one ``-1`` of a target shape, or say why the shape cannot be."""
    for position, size in enumerate(shape):
        if size < -1:
            raise _bad_shape(
                shape, numel, f"invalid shape dimension {size} at index {position} of shape "
                f"{list(shape)}"
            )  # fmt: skip
    known = prod(size for size in shape if size != -1)
    unknown = shape.count(-1)
    if unknown > 1:
        raise _bad_shape(shape, numel, "only one dimension can be inferred")
    if unknown and known == 0 and numel == 0:
        raise _bad_shape(
            shape, numel, f"cannot reshape tensor of 0 elements into shape {list(shape)} because "
            "the unspecified dimension size -1 can be any value and is ambiguous"
        )  # fmt: skip
    if unknown and known and numel % known == 0:
        return tuple(numel // known if size == -1 else size for size in shape)
    if unknown or known != numel:
        raise _bad_shape(
            shape, numel, f"shape '{list(shape)}' is invalid for input of size {numel}"
        )
    return shape


def _bad_shape(shape: Shape, numel: int, cause: str) -> RuntimeError:
    return fail(
        RuntimeError,
        call=f"shape {tuple(shape)} for a tensor with {numel} elements",
        cause=cause,
        fix=f"choose sizes whose product is {numel}; one of them may be -1",
    )


@lru_cache(maxsize=2048)
def view_strides(shape: Shape, strides: Shape, target: Shape, itemsize: int) -> Shape | None:
    """Strides with which ``target`` sees the same memory; None if only a copy can.

    Dimensions that follow one another in memory form a run.  Each run is cut into target
    dimensions from the right; a target dimension that would cross the end of a run has no stride.
    """
    numel = prod(shape)
    if not shape or numel == 0:
        return row_major(target, itemsize)
    found = [0] * len(target)
    place = len(target) - 1
    for length, base in _runs(shape, strides):
        covered = 1
        while place >= 0 and (covered < length or target[place] == 1):
            found[place] = covered * base
            covered *= target[place]
            place -= 1
        if covered != length:
            return None
    return tuple(found)


def _runs(shape: Shape, strides: Shape) -> list[tuple[int, int]]:
    """(number of elements, stride of the last one) per run of mergeable dimensions, last first."""
    runs = []
    length, base = 1, strides[-1]
    for dim in range(len(shape) - 1, -1, -1):
        length *= shape[dim]
        if dim == 0 or (shape[dim - 1] != 1 and strides[dim - 1] != length * base):
            runs.append((length, base))
            length, base = 1, strides[dim - 1]
    return runs


@lru_cache(maxsize=2048)
def expanded_strides(shape: Shape, strides: Shape, target: Shape) -> Shape:
    """Strides of ``shape`` seen as ``target``: 0 along every dimension that is repeated."""
    extra = len(target) - len(shape)
    if extra < 0:
        raise _cannot_expand(
            shape, target, f"the number of sizes provided ({len(target)}) must be greater or equal "
            f"to the number of dimensions in the tensor ({len(shape)})"
        )  # fmt: skip
    found = []
    for dim, wanted in enumerate(target):
        size = shape[dim - extra] if dim >= extra else 1
        if size == wanted and dim >= extra:
            found.append(strides[dim - extra])
        elif size == 1:
            found.append(0)
        else:
            raise _cannot_expand(
                shape, target, f"The expanded size of the tensor ({wanted}) must match the "
                f"existing size ({size}) at non-singleton dimension {dim}"
            )  # fmt: skip
    return _with_leading_ones(found, target, extra) if shape else tuple(found)


def _with_leading_ones(strides: list[int], target: Shape, extra: int) -> Shape:
    """A new dimension of size 1 steps over everything after it, as ``unsqueeze`` would."""
    for dim in reversed(range(extra)):
        if target[dim] == 1:
            strides[dim] = target[dim + 1] * strides[dim + 1]
    return tuple(strides)


def _cannot_expand(shape: Shape, target: Shape, cause: str) -> RuntimeError:
    return fail(
        RuntimeError,
        call=f"expand a tensor of shape {tuple(shape)} to {tuple(target)}",
        cause=f"{cause}.  Target sizes: {list(target)}.  Tensor sizes: {list(shape)}",
        fix="only dimensions of size 1, and new ones in front, can be repeated",
    )
