"""PyTorch's graph: walks over ``grad_fn`` nodes, and the marks that say where a node was made.

A node's ``metadata`` belongs to whoever holds the graph, so a mark lives exactly as long as the
node.  No walk recurses.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import torch

from whygrad.source import Where

if TYPE_CHECKING:
    from whygrad.torch.calls import Event

__all__ = [
    "claim", "event_of", "is_leaf", "leads_to", "mark", "node_of", "oldest_first", "reachable",
    "unseen_behind", "where_of",
]  # fmt: skip

_KEY = "whygrad"
_ACCUMULATE = type(torch.autograd.graph.get_gradient_edge(torch.ones((), requires_grad=True)).node)


def is_leaf(node: Any) -> bool:
    """Whether a node stands for a leaf, its ``variable``, and adds to its ``.grad``."""
    return type(node) is _ACCUMULATE


def node_of(tensor: torch.Tensor) -> Any:
    """The node whose arriving gradient is the gradient of ``tensor``; None if it has none."""
    if not tensor.requires_grad:
        return None
    return torch.autograd.graph.get_gradient_edge(tensor).node


def event_of(node: Any) -> Event | None:
    """The recorded call that made a node."""
    return node.metadata.get(_KEY)


def where_of(node: Any) -> Where | None:
    """The user's line that made a node, if it was recorded."""
    event = event_of(node)
    return None if event is None else event.call


def claim(nodes: Iterable[Any], event: Event) -> None:
    """Say that ``event`` made these nodes."""
    for node in nodes:
        node.metadata[_KEY] = event


def mark(
    event: Event, made: Sequence[torch.Tensor], written: Sequence[torch.Tensor], sequence: int
) -> None:
    """Mark every node that a call made: those with a later sequence number than before the call.

    A composite such as attention makes many nodes, and all of them belong to the user's one line.
    """
    # To ask a view that was written to for its grad_fn makes PyTorch build one; its base has it.
    bases = [each if each._base is None else each._base for each in written]
    waiting = [each.grad_fn for each in (*made, *bases) if each.grad_fn is not None]
    while waiting:
        node = waiting.pop()
        if is_leaf(node) or node._sequence_nr() < sequence:
            continue
        if event_of(node) is not event:
            event.nodes += 1
            node.metadata[_KEY] = event
            waiting += [parent for parent, _ in node.next_functions if parent is not None]


def unseen_behind(node: Any) -> tuple[list[Any], list[Any]]:
    """The nodes from ``node`` on back that carry no mark, and the leaves and marked nodes met."""
    seen = {node}
    waiting, fresh, met = [node], [], []
    while waiting:
        each = waiting.pop()
        if is_leaf(each) or event_of(each) is not None:
            met.append(each)
            continue
        fresh.append(each)
        for parent, _ in each.next_functions:
            if parent is not None and parent not in seen:
                seen.add(parent)
                waiting.append(parent)
    return fresh, met


def reachable(root: Any) -> list[Any]:
    """``root`` and every node behind it."""
    seen = {root: None}
    waiting = [root]
    while waiting:
        for parent, _ in waiting.pop().next_functions:
            if parent is not None and parent not in seen:
                seen[parent] = None
                waiting.append(parent)
    return list(seen)


def leads_to(root: Any, target: tuple[Any, int]) -> set[Any]:
    """The nodes on the ways from ``root`` to an output of a node, both ends included."""
    node, output = target
    users: dict[Any, list[Any]] = {}
    direct = []
    for user in reachable(root):
        for parent, slot in user.next_functions:
            if parent is node and slot == output:
                direct.append(user)
            elif parent is not None:
                users.setdefault(parent, []).append(user)
    if not direct and root is not node:
        return set()
    found = {node, *direct}
    waiting = list(direct)
    while waiting:
        for user in users.get(waiting.pop(), ()):
            if user not in found:
                found.add(user)
                waiting.append(user)
    return found


def oldest_first(nodes: Collection[Any]) -> list[Any]:
    """Nodes in an order in which what they were computed from comes before them."""
    ordered: dict[Any, None] = {}
    entered: set[Any] = set()
    for start in nodes:
        waiting = [start]
        while waiting:
            node = waiting[-1]
            if node not in entered:
                entered.add(node)
                waiting += [
                    parent
                    for parent, _ in node.next_functions
                    if parent in nodes and parent not in entered
                ]
            else:
                ordered.setdefault(waiting.pop())
    return list(ordered)
