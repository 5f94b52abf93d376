"""A gradient that hangs on a tensor it does not depend on.

The slope of ``relu`` is the same number almost everywhere, so the second derivative is 0.  A
program that takes a gradient penalty asks for that zero: it calls ``backward()`` on something made
of first derivatives, and expects it to run, whatever the network is made of.  So under
``create_graph=True`` the engine ties such a gradient to its input (rows of the table say where, by
``flat`` and ``joined``).  Ordinary backward knows nothing of this and saves nothing for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from whygrad.ops.define import define, elementwise
from whygrad.tensor import Tensor, keys, modes, wrap

if TYPE_CHECKING:
    from whygrad.ops.plan import Plan
    from whygrad.tensor.graph.node import Node

__all__ = ["joined", "straight", "tie"]


_tied = elementwise(
    "tied(x, anchor; zeros)",
    "y = x;  ∂x = incoming,  ∂anchor = 0 (with zeros, else none at all)",
    complex_rule="holomorphic",
    forward=lambda x, anchor, zeros: np.broadcast_arrays(x, anchor)[0].copy(),
    vjp={
        "x": lambda xp, incoming: incoming,
        "anchor": lambda xp, incoming, zeros: xp.zeros_like(incoming) if zeros else None,
    },
    jvp=lambda xp, tangents, y: (
        xp.zeros_like(y) if tangents[0] is None else xp.expand(tangents[0], y.shape)
    ),
    promote="none",
    internal=True,
    samples=lambda make: [make.call(make(3), make(3), True), make.call(make(), make(), True)],
)

straight = define(
    "straight(x)",
    "y = x, same memory;  ∂x = incoming, tied to x: what follows is straight in it",
    forward=lambda x: x.view(),
    vjp={"x": lambda xp, incoming: incoming},
    kind="view",
    linear=True,
    flat=("x",),
    batching=lambda xp, x: xp.straight(x),
    internal=True,
    samples=lambda make: [make.call(make(2, 3)), make.call(make())],
).call
_bound = define(
    "bound(x)",
    "y = x, same memory;  ∂x = incoming, which requires grad whatever it depends on",
    forward=lambda x: x.view(),
    vjp={"x": lambda xp, incoming: incoming},
    kind="view",
    linear=True,
    joined=("x",),
    batching=lambda xp, x: xp.bound(x),
    internal=True,
    samples=lambda make: [make.call(make(2, 3)), make.call(make())],
).call


def joined(*tensors: Tensor | None, by: tuple[Tensor | None, ...]) -> list[Any]:
    """Arguments of a composite op whose gradients one function of PyTorch's computes.

    They are joined if one of ``by`` requires grad, as rows say by ``joined``.
    """
    if not modes.state.grad or not any(each is not None and each.requires_grad for each in by):
        return list(tensors)
    return [each if each is None or each._node is None else _bound(each) for each in tensors]


def tie(gradient: Tensor, node: Node, index: int) -> Tensor:
    """The gradient that ``node`` is about to send to a parent, tied as the table says."""
    plan = node.plan
    if gradient._keys & keys.LAYOUTS:
        return gradient
    if plan.op.tensor_names[plan.positions[index]] in plan.op.flat:
        return _tied_to(gradient, node, index, True)
    if gradient._node is None and _is_joined(plan):
        return _tied_to(gradient, node, index, False)
    return gradient


def _is_joined(plan: Plan) -> bool:
    return any(plan.op.tensor_names[position] in plan.op.joined for position in plan.positions)


def _tied_to(gradient: Tensor, node: Node, index: int, zeros: bool) -> Tensor:
    # The anchor is a place in the graph; what its value is does not matter, only that it fits.
    batched = gradient._keys & keys.BATCHED
    anchor = wrap(
        np.broadcast_to(gradient.dtype.numpy.type(0), gradient.shape)
        if batched
        else gradient._array
    )
    anchor._enter_graph(node.parents[index], node.slots[index])
    tied: Any = _tied.call(gradient, anchor, zeros)
    return tied
