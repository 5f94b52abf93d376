"""Which blocks of memory a saved value keeps alive.

A view keeps the whole block it looks at, and two views of one block keep it once.  So bytes are
counted per owner of memory, never per array.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

from whygrad.ops.sparse.pattern import Pattern, SparseArray
from whygrad.tensor import Tensor, keys, payload_keys
from whygrad.tensor.devices import MetaArray

if TYPE_CHECKING:
    from whygrad.tensor.graph.node import Node

__all__ = ["blocks", "is_of_leaf", "owner", "recorded_node"]


def owner(array: Any) -> Any:
    """The array that owns the memory of ``array``."""
    while True:
        base = array.base
        if not isinstance(base, np.ndarray):
            base = getattr(base, "owner", None)  # memory seen through an array interface
            if not isinstance(base, np.ndarray):
                return array
        array = base


def blocks(value: Any) -> Iterator[tuple[Any, int]]:
    """(owner, bytes) of each block that ``value`` keeps alive; numbers and shapes keep none.

    A meta tensor counts with the bytes that a real one would take.
    """
    while isinstance(value, Tensor):
        value = value._array.tensor if value._keys & keys.BATCHED else value._array
    if isinstance(value, MetaArray):
        low, high = byte_bounds(value) if value.size else (0, 0)
        yield owner(value), high - low
    elif isinstance(value, np.ndarray):
        whole = owner(value)
        yield whole, whole.nbytes
    elif isinstance(value, SparseArray):
        yield from blocks([value.values, value.pattern])
    elif isinstance(value, Pattern):
        yield from blocks([each for each in vars(value).values() if isinstance(each, np.ndarray)])
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from blocks(each)
    elif type(value) in payload_keys:  # memory of a registered device
        yield value, prod(value.shape) * value.dtype.itemsize


def is_of_leaf(tensor: Tensor) -> bool:
    """Whether it is a leaf that requires grad, or a view of one: memory that is there anyway."""
    base = tensor if tensor._base is None else tensor._base
    return base.requires_grad and base.is_leaf


def recorded_node(result: Any) -> Node | None:
    """The node that an op call left behind, from what the call returned."""
    if isinstance(result, Tensor):
        node: Node | None = result._node
        return node
    return next((each._node for each in result if each._node is not None), None)
