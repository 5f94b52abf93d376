"""Places in the graph, named without the tensor that is there."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from whygrad.errors import describe, fail
from whygrad.tensor import Tensor, wrap
from whygrad.tensor.graph.node import AccumulateGrad, Node

__all__ = ["GradientEdge", "get_gradient_edge", "tensor_at"]


class GradientEdge(NamedTuple):
    """An output of a node: where the gradient of one tensor arrives.

    ``backward`` and ``grad`` take it in place of that tensor, which may be gone by then.
    """

    node: Node
    output_nr: int
    ownership_token: Node | None = None  # as in PyTorch; a node here owns its graph by itself


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """Where the gradient of ``tensor`` will arrive."""
    if tensor._node is None:
        raise fail(
            RuntimeError,
            call=f"get_gradient_edge({describe(tensor)})",
            cause="It is not possible to get the gradient edge for a Tensor that does not require "
            "gradients",
            fix="call requires_grad_() on the inputs it is computed from",
        )
    return GradientEdge(tensor._node, tensor._slot)


def tensor_at(place: Any) -> Any:
    """A tensor in the place of an edge; anything else as it is.

    It is the leaf itself if there is one, otherwise a stand-in of the right shape and dtype that
    takes up no memory.
    """
    if not isinstance(place, GradientEdge):
        return place
    node, slot = place.node, place.output_nr
    known = isinstance(node, Node)
    outputs = (node.outputs or ((node.shape, node.dtype),)) if known else ()
    if slot not in range(len(outputs)):
        raise fail(
            RuntimeError,
            call=f"GradientEdge({node!r}, {slot!r})",
            cause=f"the node has {len(outputs)} output(s), counted from 0"
            if known
            else f"{type(node).__name__} is not a node of the graph",
            fix="use get_gradient_edge(tensor)",
        )
    leaf = node.variable if isinstance(node, AccumulateGrad) else None
    if leaf is not None and leaf._node is node:
        return leaf
    shape, dtype = outputs[slot]
    stand_in = wrap(np.broadcast_to(np.zeros((), dtype), shape))
    stand_in._enter_graph(node, slot)
    return stand_in
