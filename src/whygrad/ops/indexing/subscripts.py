"""Reading what stands between the brackets of ``x[...]``.

An index is read once, left to right, into two parts.  The *basic* part (integers, slices, None,
Ellipsis) is a view.  What remains (integer arrays, masks, True and False) picks cells of that
view and becomes one array of positions, see :mod:`whygrad.ops.indexing.positions`.  As in
PyTorch, and unlike NumPy, an integer next to an array is basic: ``x[0, :, [1, 2]]`` is
``x[0][:, [1, 2]]``.

Everything is checked while reading, so a bad index changes nothing.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from whygrad.errors import describe, fail
from whygrad.ops.batching import all_numbers
from whygrad.ops.indexing.positions import check_bounds, picked_shape, within
from whygrad.tensor import Tensor, devices, dtypes, keys, wrap

__all__ = ["Selection", "read", "read_plain"]

Array = Any
Shape = tuple[int, ...]

_WHOLE = slice(None)


class Selection(NamedTuple):
    """An index, read against a shape."""

    basic: tuple[Any, ...]  # one entry per dimension that is kept, dropped or added
    view_shape: Shape  # the shape of x[basic]
    dims: tuple[int, ...]  # the dimensions of that view which ``position`` counts over
    position: Tensor | None  # None: the index is basic throughout
    masks_only: bool  # whether the positions come from boolean masks alone
    chosen_by: tuple[Tensor, ...] = ()  # indices that come from a graph, see autograd.lineage

    @property
    def whole(self) -> bool:
        """Whether the basic part keeps everything as it is."""
        return all(entry is _WHOLE for entry in self.basic)

    @property
    def shape(self) -> Shape:
        if self.position is None:
            return self.view_shape
        return picked_shape(self.view_shape, self.position.shape, self.dims)


class _Places(NamedTuple):
    """Integer positions counted over neighbouring dimensions of the view."""

    dims: tuple[int, ...]
    cells: int
    array: Array  # ndarray, or the user's own tensor if it needs no change


class _Reader:
    """Reads one index against one tensor."""

    def __init__(self, tensor: Tensor, index: Any) -> None:
        self.tensor = tensor
        self.shape: Shape = tensor._array.shape
        self.index = index
        self.items = _items(index)
        self.dim = 0  # next dimension of the tensor to be indexed
        self.basic: list[Any] = []
        self.view_shape: list[int] = []
        self.places: list[_Places] = []
        self.masks_only = True

    def read(self) -> Selection:
        ndim = len(self.shape)
        items = [item if _is_basic(item) else self._array(item) for item in self.items]
        used = sum(_dims_used(item) for item in items)
        if used > ndim:
            raise self._too_many(used)
        free = ndim - used
        for item in items:
            if item is Ellipsis:
                self._keep(free)
                free = 0
            elif item is None:
                self._add_dim()
            elif isinstance(item, slice):
                self._slice(item)
            elif isinstance(item, bool):
                self._add_dim()
                self._place(1, np.zeros(int(item), np.intp))
            elif isinstance(item, int):
                self._integer(item)
            elif _is_mask(item):
                self._mask(item)
            else:
                self.masks_only = False
                self._keep(1)
                self._place(1, self._checked(item))
        self._keep(ndim - self.dim)
        dims = tuple(dim for place in self.places for dim in place.dims)
        position = self._position() if self.places else None
        return Selection(
            tuple(self.basic),
            tuple(self.view_shape),
            dims,
            position,
            self.masks_only,
            tuple(filter(_comes_from_graph, self.items)),
        )

    def _too_many(self, used: int) -> Exception:
        if len(self.shape) == 0 and isinstance(self.items[0], int):
            return self._fail(
                IndexError,
                "invalid index of a 0-dim tensor: it has no dimension to index",
                "use item() to get its number, or x[None] to add a dimension",
            )
        return self._fail(
            IndexError,
            f"too many indices for tensor of dimension {len(self.shape)}: {used} were given",
            "remove indices, or add dimensions with None",
        )

    def _keep(self, count: int) -> None:
        self.basic += [_WHOLE] * count
        self.view_shape.extend(self.shape[self.dim : self.dim + count])
        self.dim += count

    def _add_dim(self) -> None:
        self.basic.append(None)
        self.view_shape.append(1)

    def _place(self, count: int, array: Array) -> None:
        """Note that positions are counted over the last ``count`` dimensions of the view."""
        end = len(self.view_shape)
        cells = prod(self.view_shape[end - count :])
        self.places.append(_Places(tuple(range(end - count, end)), cells, array))

    def _slice(self, item: slice) -> None:
        try:
            start, stop, step = item.indices(self.shape[self.dim])
        except TypeError as error:
            raise self._fail(TypeError, str(error), "use integers in the slice") from None
        except ValueError as error:
            raise self._fail(ValueError, str(error), "use a step of 1 or more") from None
        if step < 0:
            raise self._fail(
                ValueError,
                f"step must be greater than zero, not {step}",
                "use flip(dim) to reverse a dimension",
            )
        length = len(range(start, stop, step))
        full = step == 1 and length == self.shape[self.dim]
        self.basic.append(_WHOLE if full else slice(start, stop, step))
        self.view_shape.append(length)
        self.dim += 1

    def _integer(self, item: int) -> None:
        size = self.shape[self.dim]
        if not -size <= item < size:
            raise self._fail(
                IndexError,
                f"index {item} is out of bounds for dimension {self.dim} with size {size}",
                f"indices must lie between {-size} and {size - 1}"
                if size
                else "the dimension is empty: there is nothing to index",
            )
        self.basic.append(item % size)
        self.dim += 1

    def _mask(self, mask: Array) -> None:
        if _is_batched(mask):
            raise self._fail(
                RuntimeError,
                "vmap does not support operators that can output dynamic shape: a mask may pick "
                "more elements of one sample than of another",
                "use whygrad.where(mask, x, 0), or x.masked_fill(mask, value) to write",
            )
        mask = _payload(mask)
        self._refuse_meta(mask)
        end = self.dim + mask.ndim
        covered = self.shape[self.dim : end]
        if mask.shape != covered:
            axis = next(i for i in range(mask.ndim) if mask.shape[i] != covered[i])
            raise self._fail(
                IndexError,
                f"The shape of the mask {list(mask.shape)} at index {axis} does not match the "
                f"shape of the indexed tensor {list(self.shape)} at index {self.dim + axis}",
                "a mask needs exactly the sizes of the dimensions it covers",
            )
        self._keep(mask.ndim)
        self._place(mask.ndim, np.flatnonzero(mask))

    def _checked(self, item: Array) -> Array:
        """The same integers, all of them non-negative."""
        array, dim = _payload(item), self.dim - 1
        if isinstance(array, devices.MetaArray):
            return item
        size = self.shape[dim]
        if _is_batched(item):
            array = all_numbers(item)
        if within(array, size):
            return item
        check_bounds(array, size, call=self._call(), dim=dim, wraps=True)
        if _is_batched(item):
            return item + (item < 0) * size
        return np.where(array < 0, array + size, array)

    def _array(self, item: Any) -> Any:
        """An index that is neither a number nor a slice: a tensor, a NumPy array or a list."""
        if isinstance(item, str) or not isinstance(item, (Tensor, np.ndarray, Sequence)):
            raise self._fail(
                TypeError if isinstance(item, str) else IndexError,
                "only integers, slices (`:`), ellipsis (`...`), None and integer or boolean "
                f"tensors are valid indices (got {type(item).__name__})",
                "convert to an integer with int(), or to an integer tensor",
            )
        if not isinstance(item, (Tensor, np.ndarray)):
            item = _from_list(item)
        kind = _payload(item).dtype
        single = item.ndim == 0 and not _is_batched(item)
        if kind == np.uint8:  # PyTorch's masks from before it had bool
            item = _payload(item).astype(np.bool_)
        elif kind not in (np.bool_, np.int32, np.int64) and not (single and kind.kind == "i"):
            raise self._fail(
                IndexError,
                f"tensors used as indices must be long, int, byte or bool tensors, not {kind}",
                "convert with .to(whygrad.int64), or compare to get a mask",
            )
        if single:
            self._refuse_meta(_payload(item))
            return item.item()
        return item

    def _position(self) -> Tensor:
        """All places as one array, numbering the cells of the indexed dimensions row by row."""
        first = self.places[0].array
        if len(self.places) == 1 and isinstance(first, Tensor):
            return self._beside(first)
        arrays = [_payload(place.array) for place in self.places]
        try:
            shape = np.broadcast_shapes(*(array.shape for array in arrays))
        except ValueError:
            shapes = ", ".join(str(list(array.shape)) for array in arrays)
            raise self._fail(
                IndexError,
                "shape mismatch: indexing tensors could not be broadcast together with shapes "
                f"{shapes}",
                "give them equal lengths, or insert None for an outer grid: x[i[:, None], j]",
            ) from None
        if any(isinstance(array, devices.MetaArray) for array in arrays):
            return wrap(devices.meta_array(shape, np.int64))
        if any(_is_batched(place.array) for place in self.places):
            arrays = [_as_tensor(place.array).to(dtypes.int64) for place in self.places]
        else:
            arrays[0] = arrays[0].astype(np.int64, copy=False)
        position = arrays[0]
        for place, array in zip(self.places[1:], arrays[1:], strict=True):
            position = position * place.cells + array
        return self._beside(_as_tensor(position))

    def _beside(self, position: Tensor) -> Tensor:
        """On the device of the indexed tensor: a meta tensor only wants the shape."""
        if self.tensor._keys & keys.META and not position._keys & keys.META:
            return wrap(devices.meta_array(position.shape, position._array.dtype))
        return position

    def _refuse_meta(self, array: Array) -> None:
        if isinstance(array, devices.MetaArray):
            raise self._fail(
                RuntimeError,
                "the shape of the result depends on the data, and a meta tensor has none",
                "index with a tensor on cpu",
            )

    def _call(self) -> str:
        return f"{describe(self.tensor)}[{_show(self.index)}]"

    def _fail(self, kind: type[Exception], cause: str, fix: str) -> Exception:
        return fail(kind, call=self._call(), cause=cause, fix=fix)


def read(tensor: Tensor, index: Any) -> Selection:
    """Read and check an index; nothing is computed yet."""
    return _Reader(tensor, index).read()


def read_plain(shape: Shape, index: Any) -> tuple[Any, ...] | None:
    """The everyday index, faster: integers and slices, all of them right; None if it is not."""
    items = index if type(index) is tuple else (index,)
    if len(items) > len(shape):
        return None
    for item, size in zip(items, shape, strict=False):
        if type(item) is int:
            if not -size <= item < size:
                return None
        elif type(item) is not slice or not _is_plain_slice(item):
            return None
    return items


def _is_plain_slice(item: slice) -> bool:
    start, stop, step = item.start, item.stop, item.step
    return (
        (start is None or type(start) is int)
        and (stop is None or type(stop) is int)
        and (step is None or (type(step) is int and step > 0))
    )


def _items(index: Any) -> list[Any]:
    """The index as a list, one entry per ``,`` between the brackets, integers as ``int``."""
    if not isinstance(index, tuple) and not _is_tuple_in_disguise(index):
        index = (index,)
    return [_as_int(item) for item in index]


def _is_tuple_in_disguise(index: Any) -> bool:
    """PyTorch reads a short list that holds more than numbers as a tuple: ``x[[0, slice(2)]]``."""
    if isinstance(index, str) or not isinstance(index, Sequence) or len(index) >= 32:
        return False
    return any(
        item is None or item is Ellipsis or isinstance(item, (Tensor, np.ndarray, Sequence, slice))
        for item in index
    )


def _as_int(item: Any) -> Any:
    if isinstance(item, (Tensor, np.ndarray)):
        return item
    if isinstance(item, (bool, np.bool_)):
        return bool(item)
    try:
        return operator.index(item)
    except TypeError:
        return item


def _is_basic(item: Any) -> bool:
    return item is None or item is Ellipsis or isinstance(item, (int, slice))


def _dims_used(item: Any) -> int:
    if item is None or item is Ellipsis or isinstance(item, bool):
        return 0
    return int(item.ndim) if _is_mask(item) else 1


def _is_mask(item: Any) -> bool:
    return not isinstance(item, (int, slice)) and bool(_payload(item).dtype == np.bool_)


def _from_list(values: Sequence[Any]) -> Array:
    plain = [each._array if isinstance(each, Tensor) else each for each in values]
    return np.asarray(plain) if len(plain) else np.zeros(0, np.int64)


def _comes_from_graph(item: Any) -> bool:
    return isinstance(item, Tensor) and bool(item._keys & keys.CUT)


def _is_batched(item: Any) -> bool:
    return isinstance(item, Tensor) and bool(item._keys & keys.BATCHED)


def _as_tensor(value: Any) -> Tensor:
    return value if isinstance(value, Tensor) else wrap(value)


def _payload(value: Any) -> Array:
    return value._array if isinstance(value, Tensor) else value


def _show(index: Any) -> str:
    if isinstance(index, tuple):
        return ", ".join(map(_show, index))
    if isinstance(index, slice):
        parts = ["" if part is None else describe(part) for part in (index.start, index.stop)]
        return ":".join(parts if index.step is None else [*parts, describe(index.step)])
    return "..." if index is Ellipsis else describe(index)
