"""Saved values as the tensors they were, for rules that run on tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from whygrad.tensor import Tensor, keys, wrap
from whygrad.tensor.graph.node import Node

if TYPE_CHECKING:
    from whygrad.tensor.storage import Storage

__all__ = ["as_tensors"]


def as_tensors(node: Node, saved: tuple[Any, ...]) -> tuple[Any, ...]:
    """The values a node saved as tensors that are connected to the graph."""
    plan = node.plan
    values = list(saved)
    inputs = len(plan.op.tensor_names)
    edge = {
        position: (parent, slot)
        for position, parent, slot in zip(plan.positions, node.parents, node.slots, strict=True)
    }
    for index, place in plan.guarded:
        value = values[index]
        # The storages they had: what is recorded now notices later writes to them, too.
        storages = [storage for storage, _, guarded in node.guards if guarded == index]
        if place >= inputs:
            output = place - inputs
            values[index] = _connected(
                value, node, output, _tangents(node, plan.arity + output), storages
            )
        elif plan.op.variadic:
            values[index] = [
                _connected(each, *edge.get(i, (None, 0)), _tangents(node, i), storages[i:])
                for i, each in enumerate(value)
            ]
        elif value is not None and hasattr(value, "shape"):
            tangents = _tangents(node, place) if place < plan.arity else None
            values[index] = _connected(value, *edge.get(place, (None, 0)), tangents, storages)
    return tuple(values)


def _tangents(node: Node, place: int) -> Any:
    extras = node._extras
    return None if extras is None or extras.tangents is None else extras.tangents[place]


def _connected(
    array: Any, node: Node | None, slot: int, tangents: Any, storages: list[Storage]
) -> Tensor:
    """A saved array as the tensor it was: same place in the graph, same memory and tangents."""
    tensor = wrap(array)
    if storages:
        tensor._storage = storages[0]
    if tangents is not None:
        tensor._tangent = tangents
        tensor._keys |= keys.FORWARD
    if node is not None and array.dtype.kind not in "iub":
        tensor._enter_graph(node, slot)
    return tensor
