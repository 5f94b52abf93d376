"""Copies of tensors: ``copy.copy``, ``copy.deepcopy`` and pickle.

Tensors over one memory stay so in a deep copy: the memo that ``deepcopy`` hands around knows the
copy of each storage, and every view of it becomes the same view of the copy.  A pickle has each
tensor for itself, as in PyTorch; ``whygrad.save`` keeps what is shared.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from whygrad.errors import describe, fail
from whygrad.tensor import keys
from whygrad.tensor.graph import lineage
from whygrad.tensor.memory import strided
from whygrad.tensor.storage import DataStorage, Storage, new_storage

if TYPE_CHECKING:
    from whygrad.tensor import Tensor

__all__ = ["deep", "of_class", "reduced", "shallow"]

# Notes about a tensor's place in memory and in the graph; a copy has a place of its own.
_OF_THIS_PLACE = frozenset(("_cut", "_frozen", "_geometry", "_made", "_twin"))


def shallow(tensor: Any) -> Tensor:
    """Another tensor over the same memory, of the same class and with the same attributes."""
    twin = of_class(type(tensor), tensor.detach()).requires_grad_(tensor.requires_grad)
    twin.__dict__.update(_attributes(tensor))
    return lineage.cut(tensor, twin, "copied", "copy")


def deep(tensor: Any, memo: dict[int, Any]) -> Tensor:
    """A tensor over a copy of its memory, which it shares with the copies of other views."""
    if not tensor.is_leaf:
        raise fail(
            RuntimeError,
            call=f"deepcopy of {describe(tensor)} computed by {tensor.grad_fn}",
            cause="Only Tensors created explicitly by the user (graph leaves) support the "
            "deepcopy protocol: a copy would have to copy the graph",
            fix="deepcopy x.detach(), or clone() to stay in the graph",
        )
    if id(tensor) in memo:
        known: Tensor = memo[id(tensor)]
        return known
    twin = of_class(type(tensor), _over_a_copy(tensor, memo)).requires_grad_(tensor.requires_grad)
    lineage.cut(tensor, twin, "copied", "deepcopy")
    memo[id(tensor)] = twin
    if tensor._grad is not None:
        twin._grad = copy.deepcopy(tensor._grad, memo)
    twin.__dict__.update(copy.deepcopy(_attributes(tensor), memo))
    return twin


def reduced(tensor: Any) -> tuple[Any, ...]:
    """What pickle keeps of a tensor: values, class and the user's attributes."""
    from whygrad.tensor import Tensor

    kind = type(tensor)
    if tensor.device.type == "meta":
        geometry = (tuple(tensor.shape), tensor.dtype.name)
        made: tuple[Any, ...] = (_load_meta, (*geometry, tensor.requires_grad))
    else:
        made = (_load, (tensor._array, tensor.requires_grad))
    if kind is not Tensor:
        made = (kind._loaded_by or _load_as, (kind._results_as or kind, *made))
    return *made, _attributes(tensor) or None


def _attributes(tensor: Tensor) -> dict[str, Any]:
    return {name: each for name, each in tensor.__dict__.items() if name not in _OF_THIS_PLACE}


def of_class(kind: type[Tensor], plain: Tensor) -> Tensor:
    """``plain``, a fresh tensor outside the graph, as an instance of a subclass."""
    from whygrad.tensor import Tensor

    if kind is Tensor:
        return plain
    made = Tensor.__new__(kind)
    made._array = plain._array
    made._keys = plain._keys & ~keys.OVERRIDDEN | kind._class_keys
    made._node = None
    made._slot = 0
    made._base = None
    made._storage = plain._storage
    return made


def _over_a_copy(tensor: Any, memo: dict[int, Any]) -> Tensor:
    from whygrad.tensor import wrap

    array = tensor._array
    if type(array) is not np.ndarray:
        plain: Tensor = tensor.detach().clone()
        return plain
    storage = tensor._storage
    if isinstance(storage, DataStorage):
        storage = storage.origin
    twin = memo.get(id(storage))
    if twin is None:
        twin = memo[id(storage)] = new_storage(_block(storage))
        memo.setdefault(id(memo), []).append(storage)  # as copy does, so that no id is used twice
    start = array.__array_interface__["data"][0] - storage.start
    copied = wrap(
        np.ndarray(array.shape, array.dtype, twin.array.view(np.uint8), start, array.strides)
    )
    copied._storage = twin
    return copied


def _block(storage: Storage) -> Any:
    """All the memory of a storage in a new row, gaps included."""
    source = storage.array
    if not source.size:
        return np.empty(0, source.dtype)
    offset = storage.start - source.__array_interface__["data"][0]
    count = storage.nbytes() // source.itemsize
    return strided(source, (count,), (source.itemsize,), offset).copy()


def _load(payload: Any, requires_grad: bool) -> Tensor:
    from whygrad.tensor import wrap

    return wrap(payload).requires_grad_(requires_grad)


def _load_meta(shape: tuple[int, ...], dtype: str, requires_grad: bool) -> Tensor:
    from whygrad.tensor import devices, dtypes, wrap

    return wrap(devices.meta_array(shape, dtypes.of(dtype).numpy)).requires_grad_(requires_grad)


def _load_as(kind: type[Tensor], load: Any, arguments: tuple[Any, ...]) -> Tensor:
    plain = load(*arguments)
    return of_class(kind, plain.detach()).requires_grad_(plain.requires_grad)
