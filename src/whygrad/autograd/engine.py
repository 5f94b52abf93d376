"""The reverse walk.

Nodes run youngest first.  An op's inputs exist before the op does, so youngest-first is a reverse
topological order, and when a node's turn comes its whole incoming gradient has arrived.  Nothing
here recurses, so a chain of a million ops is only a longer loop.

Leaves receive their gradients at the very end: if any rule fails, no leaf's ``.grad`` has changed.
Only a leaf with hooks takes its turn as soon as nothing more can arrive for it, because a hook may
want to use the gradient and give its memory back while the walk goes on.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from heapq import heapify, heappop, heappush
from typing import Any

import numpy as np

from whygrad import keys
from whygrad.autograd import modes
from whygrad.autograd.fitting import added, fit, laid_out_like, widen, wrapped
from whygrad.autograd.hooks import hooked_leaves
from whygrad.autograd.leaves import add_to_grad
from whygrad.autograd.node import Freed, Node
from whygrad.autograd.reach import Turns, nodes_leading_to, reachable
from whygrad.autograd.saved import as_tensors
from whygrad.autograd.source import Where, caller
from whygrad.dispatch import quiet
from whygrad.errors import explained, fail
from whygrad.ops.namespace import Namespace, raw, recorded
from whygrad.tensor import Tensor

__all__ = ["Target", "Walk", "chosen", "run"]

ndarray, add = np.ndarray, np.add


class Target:
    """A tensor whose gradient the caller wants back (``autograd.grad``, ``inputs=``)."""

    __slots__ = ("gradient", "node", "slot")

    def __init__(self, tensor: Tensor) -> None:
        self.node: Node = tensor._node
        self.slot = tensor._slot
        self.gradient: Any = None


def run(
    roots: Sequence[Tensor],
    gradients: Sequence[Tensor],
    *,
    keep_graph: bool,
    create_graph: bool,
    accumulate: bool = False,
    targets: Sequence[Target] | None = None,
) -> None:
    """Walk back from ``roots``; with ``accumulate``, add what arrives at leaves to their ``.grad``.

    With ``targets``, only the paths that lead to them are walked, and each target's ``gradient``
    is filled in.
    """
    where = caller()
    on_tensors = create_graph or not all(_is_plain(each) for each in (*roots, *gradients))
    walk = chosen.walk(keep_graph, create_graph, where, recorded if on_tensors else raw, targets)
    walk.accumulates = accumulate
    for root, gradient in zip(roots, gradients, strict=True):
        walk.begin(root, gradient if on_tensors else gradient._array)
    try:
        if on_tensors:
            with modes.set_grad_enabled(create_graph):
                walk.run()
                walk.finish()
        else:
            quiet.run(walk.run)
            walk.finish()
    except BaseException:
        walk.forget()
        raise
    if walk.filled:
        from whygrad.autograd.cycles import warn_of_cycles

        warn_of_cycles(walk.filled, where)


def _is_plain(tensor: Tensor) -> bool:
    """Whether rules may work on the bare NumPy array."""
    return tensor._keys & (keys.DEVICES | keys.LAYOUTS | keys.FORWARD | keys.BATCHED) == keys.CPU


class Walk:
    """State of one backward pass."""

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

    def run(self) -> None:
        self.roots = [*(node for _, node in self.heap), *self.leaves]
        if self.targets:
            self._narrow_down()
        if hooked_leaves:
            self.leaves = Turns(self)
        heap, pending, xp, targets = self.heap, self.pending, self.xp, self.targets
        on_arrays, careful = self.on_arrays, self.careful
        release, freed = not self.keep_graph, Freed(self.where)
        send, own, leaves = self.send, self.owned.add, self.leaves
        while heap:
            node = heappop(heap)[1]
            incoming = pending.pop(node)
            if node._extras is not None or (targets and node in targets):
                incoming = self._arrived(node, incoming)
                if incoming is None:
                    continue
                careful = self.careful
            values = node.values
            if type(values) is not tuple:
                values = self._unpacked(node)
            if node.guards:
                node.check_versions()
            if not on_arrays:
                values = as_tensors(node, values)
            plan = node.plan
            try:
                if careful or not plan.regular:
                    self.run_rules(node, incoming, values)
                else:
                    for (rule, pick), parent, slot in zip(plan.rules, node.parents, node.slots):
                        gradient = (
                            rule(xp, incoming, *values)
                            if pick is None
                            else rule(xp, incoming, *pick(values))
                        )
                        if (
                            parent.outputs is not None
                            or gradient is None
                            or gradient.shape != parent.shape
                            or gradient.dtype is not parent.dtype
                        ):
                            if gradient is not None:
                                send(
                                    parent, slot, *fit(self, node, parent, slot, gradient, incoming)
                                )
                        elif parent in pending:
                            send(parent, slot, gradient, incoming)
                        else:  # send() without the call: most nodes hear from one child only
                            pending[parent] = gradient
                            if (
                                gradient is not incoming
                                and type(gradient) is ndarray
                                and gradient.base is None
                            ):
                                own(parent)
                            if parent.plan is None:
                                leaves.append(parent)
                            else:
                                heappush(heap, (parent.order, parent))
            except Exception as error:
                if explained(error):
                    raise
                raise _rule_failed(node, error) from error
            if release and plan.saves_arrays:  # shapes and other plain parameters may stay
                node.values = freed
                node.guards = ()

    def _narrow_down(self) -> None:
        """Only what leads to the targets will be sent anything."""
        self.useful = nodes_leading_to(self.targets, reachable(self.roots))
        self.heap[:] = [entry for entry in self.heap if self._leads_to_target(entry[1])]
        heapify(self.heap)
        self.leaves[:] = [leaf for leaf in self.leaves if leaf in self.targets]
        self.careful = True

    def _unpacked(self, node: Node) -> tuple[Any, ...]:
        """Saved values that the node has not got itself; to fetch them may take a user's code."""
        if node.values.at_hand:
            return node.unpacked()
        with self.user_code():
            return node.unpacked()

    @contextmanager
    def user_code(self) -> Iterator[None]:
        """The user's hooks see the modes they know: recording only if the walk is recorded."""
        with modes.set_grad_enabled(self.create_graph), quiet.again():
            yield

    def run_rules(self, node: Node, incoming: Any, values: tuple[Any, ...]) -> None:
        """Rules that share their work, of which only some are wanted, or with hooks to follow."""
        plan, xp, useful = node.plan, self.xp, self.useful
        if self.hooked is not None:
            self._run_hooked(node, incoming, values)
            return
        if plan.on_tensors and xp is raw:
            self._run_on_tensors(node, incoming, values)
            return
        if plan.in_float32 and xp is raw:
            values, incoming = widen(values), widen(incoming)
        if plan.joint is not None:
            pick = plan.rules[0][1]
            gradients = plan.joint(xp, incoming, *(values if pick is None else pick(values)))
            if len(gradients) != plan.arity:
                raise _wrong_count(node, len(gradients))
        for index, parent in enumerate(node.parents):
            if useful is None or parent in useful or parent in self.targets:
                if plan.joint is not None:
                    gradient = gradients[plan.positions[index]]
                else:
                    rule, pick = plan.rules[index]
                    gradient = rule(xp, incoming, *(values if pick is None else pick(values)))
                gradient, source = self._fitting(node, index, gradient, incoming)
                if self.outbox is not None:
                    self.outbox[plan.positions[index]] = gradient
                elif gradient is not None:
                    self.send(parent, node.slots[index], gradient, source)

    def _run_on_tensors(self, node: Node, incoming: Any, values: tuple[Any, ...]) -> None:
        """Rules on data that is no NumPy array go through the dispatcher: it has the kernels."""
        self.xp = recorded
        try:
            with modes.no_grad(), quiet.again():
                Walk.run_rules(self, node, wrapped(incoming), as_tensors(node, values))
        finally:
            self.xp = raw

    def _run_hooked(self, node: Node, incoming: Any, values: tuple[Any, ...]) -> None:
        """The node's hooks have the last word on what goes on."""
        found, self.hooked = self.hooked, None
        self.outbox = outbox = [None] * node.plan.arity
        try:
            Walk.run_rules(self, node, incoming, values)
        finally:
            self.outbox = None
        gradients = found.after_node(self, outbox, incoming)
        for position, parent, slot in zip(node.plan.positions, node.parents, node.slots):
            gradient = gradients[position]
            if gradient is not None:
                self.send(parent, slot, gradient, gradient)

    def _leads_to_target(self, parent: Node) -> bool:
        return self.useful is None or parent in self.useful or parent in self.targets

    def _fitting(self, node: Node, index: int, gradient: Any, incoming: Any) -> tuple[Any, Any]:
        """What goes along one edge, and what it may share memory with."""
        if gradient is None:
            return None, None
        if type(incoming) is list and any(gradient is each for each in incoming):
            incoming = gradient
        return fit(self, node, node.parents[index], node.slots[index], gradient, incoming)

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
                found.after_node(self, [None] * node.plan.arity, incoming)
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
                found.after_node(self, (), gradient)
                return
        self.pending[leaf] = gradient
        self.leaves.append(leaf)

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

    def will_reach(self, node: Node) -> bool:
        """Whether this walk computes the gradient of what ``node`` made."""
        if self._reachable is None:
            self._reachable = reachable(self.roots)
        return node in self._reachable and self._leads_to_target(node)


class _Chosen(threading.local):
    """How this thread walks back; anomaly mode puts a watchful walk here."""

    walk: type[Walk] = Walk


chosen = _Chosen()


def _wrong_count(node: Node, count: int) -> RuntimeError:
    return fail(
        RuntimeError,
        call=f"{node.name()} recorded at {node.where}",
        cause=f"its rule returned {count} gradients for {node.plan.arity} tensor arguments",
        fix="return one gradient (or None) per tensor argument",
    )


def _rule_failed(node: Node, error: Exception) -> Exception:
    return fail(
        RuntimeError,
        call=f"{node.name()} recorded at {node.where}",
        cause=f"its rule raised {type(error).__name__}: {error}",
        fix="see the exception above this one",
    )
