"""Gradients on their way: what waits where, and who gets it once it is complete.

When a node's turn comes, hooks and targets see its gradient first.  Leaves receive theirs at the
very end: if any rule fails, no leaf's ``.grad`` has changed.  Only a leaf with hooks takes its turn
as soon as nothing more can arrive for it, because a hook may want to use the gradient and give its
memory back while the walk goes on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from heapq import heapify, heappush
from typing import TYPE_CHECKING, Any

import numpy as np

from whygrad.autograd.fitting import added, laid_out_like
from whygrad.autograd.leaves import add_to_grad
from whygrad.dispatch import quiet
from whygrad.ops.namespace import raw
from whygrad.tensor import modes
from whygrad.tensor.graph.reach import nodes_leading_to, reachable

if TYPE_CHECKING:
    from whygrad.ops.namespace import Namespace
    from whygrad.source import Where
    from whygrad.tensor import Tensor
    from whygrad.tensor.graph.node import Node

__all__ = ["Arrivals", "Target"]

ndarray, add = np.ndarray, np.add


class Target:
    """A tensor whose gradient the caller wants back (``autograd.grad``, ``inputs=``)."""

    __slots__ = ("gradient", "node", "slot")

    def __init__(self, tensor: Tensor) -> None:
        self.node: Node = tensor._node
        self.slot = tensor._slot
        self.gradient: Any = None


class Arrivals:
    """State of one backward pass: the gradients under way, and who waits for them."""

    def __init__(
        self,
        keep_graph: bool,
        create_graph: bool,
        where: Where,
        xp: Namespace,
        targets: Sequence[Target] | None,
    ) -> None:
        self.keep_graph = keep_graph
        self.create_graph = create_graph
        self.where = where
        self.xp = xp
        self.on_arrays = xp is raw  # what travels: payloads, or tensors that can be recorded
        self.pending: dict[Node, Any] = {}  # gradient so far, by node (a list if several outputs)
        self.owned: set[Node] = set()  # nodes whose pending array nobody else can see
        self.heap: list[tuple[int, Node]] = []
        self.leaves: list[Node] = []
        self.targets: dict[Node, list[Target]] = {}
        self.useful: set[Node] | None = None
        self.careful = False  # send every gradient through run_rules, where it can be watched
        self.hooked: Any = None  # hooks of the node that runs, which follow it
        self.outbox: list[Any] | None = None  # holds back what it sends until then
        self.accumulates = False
        self.roots: list[Node] = []
        self._reachable: set[Node] | None = None
        self.kept: list[tuple[Tensor, Tensor | None]] = []  # retained, and the .grad before
        self.filled: list[Tensor] = []  # leaves whose .grad has a graph
        self.gathered: dict[Any, Any] = {}  # by hook on several tensors: what it waits for
        for target in targets or ():
            self.targets.setdefault(target.node, []).append(target)

    def begin(self, root: Tensor, gradient: Any) -> None:
        """Start from ``root``, whose gradient is given."""
        self.send(root._node, root._slot, gradient, gradient)

    def send(self, node: Node, slot: int, gradient: Any, source: Any) -> None:
        """Add a contribution to what is waiting at ``node``."""
        if node.outputs is not None:
            self._send_to_slot(node, slot, gradient)
            return
        pending = self.pending
        if node not in pending:
            pending[node] = gradient
            if gradient is not source and type(gradient) is ndarray and gradient.base is None:
                self.owned.add(node)
            if node.plan is None:
                self.leaves.append(node)
            else:
                heappush(self.heap, (node.order, node))
        elif node in self.owned:
            before = pending[node]
            add(before, gradient, before)
        else:
            total = pending[node] = added(pending[node], gradient)
            if type(total) is ndarray:
                self.owned.add(node)

    def _send_to_slot(self, node: Node, slot: int, gradient: Any) -> None:
        waiting = self.pending.get(node)
        if waiting is None:
            waiting = self.pending[node] = [None] * len(node.outputs or ())
            heappush(self.heap, (node.order, node))
        before = waiting[slot]
        waiting[slot] = gradient if before is None else added(before, gradient)

    def _arrived(self, node: Node, incoming: Any) -> Any:
        """Let hooks and targets have a complete gradient; None if the node is not to run."""
        found = None if node._extras is None else node._extras.hooks
        if found is not None:
            incoming = found.arrived(self, node, incoming)
        if node.plan is None:
            self._take_turn(node, incoming)
            return None
        for target in self.targets.get(node, ()):
            target.gradient = incoming if node.outputs is None else incoming[target.slot]
        runs = self.useful is None or node in self.useful
        if found and (runs or self.accumulates):
            incoming = found.before_node(self, node, incoming)
            if found.after and runs and incoming is not None:
                self.careful, self.hooked = True, found
            elif found.after:
                found.after_node(self, node, [None] * node.plan.arity, incoming)
        return incoming if runs else None

    def _take_turn(self, leaf: Any, gradient: Any) -> None:
        """A leaf with hooks, in the middle of the walk: nothing more can arrive for it."""
        found = leaf.extras.hooks
        if self.accumulates:
            gradient = found.before_node(self, leaf, gradient)
            if gradient is None:
                return
            if found.accumulated or found.after:
                with self.user_code():
                    self._settle(leaf, gradient)
                if leaf.variable is not None and leaf.variable.requires_grad:
                    found.after_accumulation(self, leaf.variable)
                found.after_node(self, leaf, (), gradient)
                return
        self.pending[leaf] = gradient
        self.leaves.append(leaf)

    @contextmanager
    def user_code(self) -> Iterator[None]:
        """The user's hooks see the modes they know: recording only if the walk is recorded."""
        with modes.set_grad_enabled(self.create_graph), quiet.again():
            yield

    def finish(self) -> None:
        """The walk has succeeded: leaves get what arrived."""
        for group in list(self.gathered):
            group.finish(self)
        with modes.set_grad_enabled(self.create_graph):
            for leaf in self.leaves:
                self._settle(leaf, self.pending.pop(leaf))

    def forget(self) -> None:
        """The walk has failed: what was retained goes back to what it was."""
        for tensor, before in reversed(self.kept):
            tensor._grad = before

    def _settle(self, leaf: Any, gradient: Any) -> None:
        """Hand over a leaf's gradient; if kept in ``.grad``, it shares no memory."""
        variable = leaf.variable
        if self.on_arrays:
            gradient = laid_out_like(variable, gradient, leaf in self.owned)
        elif self.accumulates and type(gradient._array) is ndarray:
            gradient = gradient.clone()
        if self.targets:
            for target in self.targets.get(leaf, ()):
                target.gradient = gradient
        if self.accumulates and variable is not None and variable.requires_grad:
            add_to_grad(variable, gradient, self.create_graph, self.where)
            if self.create_graph:
                self.filled.append(variable)

    def _narrow_down(self) -> None:
        """Only what leads to the targets will be sent anything."""
        self.useful = nodes_leading_to(self.targets, reachable(self.roots))
        self.heap[:] = [entry for entry in self.heap if self._leads_to_target(entry[1])]
        heapify(self.heap)
        self.leaves[:] = [leaf for leaf in self.leaves if leaf in self.targets]
        self.careful = True

    def _leads_to_target(self, parent: Node) -> bool:
        return self.useful is None or parent in self.useful or parent in self.targets

    def will_reach(self, node: Node) -> bool:
        """Whether this walk computes the gradient of what ``node`` made."""
        if self._reachable is None:
            self._reachable = reachable(self.roots)
        return node in self._reachable and self._leads_to_target(node)
