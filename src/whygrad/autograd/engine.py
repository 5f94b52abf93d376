"""The reverse walk.

Nodes run youngest first.  An op's inputs exist before the op does, so youngest-first is a reverse
topological order, and when a node's turn comes its whole incoming gradient has arrived.  Nothing
here recurses, so a chain of a million ops is only a longer loop.

Leaves receive their gradients at the very end: if any rule fails, no leaf's ``.grad`` has changed.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from heapq import heappop, heappush
from typing import Any

import numpy as np

from whygrad import keys
from whygrad.autograd import modes
from whygrad.autograd.fitting import match_dtype, sum_to, widen
from whygrad.autograd.node import Freed, Node
from whygrad.autograd.saved import as_tensors
from whygrad.autograd.source import Where, caller
from whygrad.dispatch import quiet
from whygrad.errors import explained, fail
from whygrad.memory import is_dense
from whygrad.ops.namespace import Namespace, raw, recorded
from whygrad.tensor import Tensor, wrap

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
    targets: Sequence[Target] | None = None,
) -> dict[Node, Any]:
    """Walk back from ``roots``; return what arrived at each leaf, as tensors.

    With ``targets``, only the paths that lead to them are walked, and each target's ``gradient``
    is filled in.
    """
    where = caller()
    on_tensors = create_graph or not all(_is_plain(each) for each in (*roots, *gradients))
    walk = chosen.walk(keep_graph, create_graph, where, recorded if on_tensors else raw, targets)
    for root, gradient in zip(roots, gradients, strict=True):
        walk.begin(root, gradient if on_tensors else gradient._array)
    if on_tensors:
        with modes.set_grad_enabled(create_graph):
            walk.run()
            return walk.at_leaves()
    quiet.run(walk.run)
    return walk.at_leaves()


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
            total = pending[node] = _added(pending[node], gradient)
            if type(total) is ndarray:
                self.owned.add(node)

    def _send_to_slot(self, node: Node, slot: int, gradient: Any) -> None:
        waiting = self.pending.get(node)
        if waiting is None:
            waiting = self.pending[node] = [None] * len(node.outputs or ())
            heappush(self.heap, (node.order, node))
        before = waiting[slot]
        waiting[slot] = gradient if before is None else _added(before, gradient)

    def run(self) -> None:
        if self.targets:
            self.useful = _nodes_leading_to(self.targets, [node for _, node in self.heap])
        heap, pending, xp, useful, targets = (
            self.heap, self.pending, self.xp, self.useful, self.targets,
        )  # fmt: skip
        on_arrays = self.on_arrays
        careful = self.careful or useful is not None
        release, freed = not self.keep_graph, Freed(self.where)
        send, own, leaves = self.send, self.owned.add, self.leaves
        while heap:
            node = heappop(heap)[1]
            incoming = pending.pop(node)
            if node._extras is not None or targets:
                self._observe(node, incoming)
                if useful is not None and node not in useful:
                    continue
            values = node.values
            if type(values) is not tuple:
                with self.user_code():
                    values = values.unpack(node)
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
                            self._deliver(node, parent, slot, gradient, incoming)
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

    @contextmanager
    def user_code(self) -> Iterator[None]:
        """The user's hooks see the modes they know: recording only if the walk is recorded."""
        with modes.set_grad_enabled(self.create_graph), quiet.again():
            yield

    def run_rules(self, node: Node, incoming: Any, values: tuple[Any, ...]) -> None:
        """Rules that share their work, or of which only some are wanted."""
        plan, xp, useful = node.plan, self.xp, self.useful
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
            for position, parent, slot in zip(plan.positions, node.parents, node.slots):
                if useful is None or parent in useful or parent in self.targets:
                    self._deliver(node, parent, slot, gradients[position], incoming)
            return
        for (rule, pick), parent, slot in zip(plan.rules, node.parents, node.slots):
            if useful is None or parent in useful or parent in self.targets:
                gradient = rule(xp, incoming, *(values if pick is None else pick(values)))
                self._deliver(node, parent, slot, gradient, incoming)

    def _run_on_tensors(self, node: Node, incoming: Any, values: tuple[Any, ...]) -> None:
        """Rules on data that is no NumPy array go through the dispatcher: it has the kernels."""
        self.xp = recorded
        try:
            with modes.no_grad(), quiet.again():
                self.run_rules(node, _wrapped(incoming), as_tensors(node, values))
        finally:
            self.xp = raw

    def _deliver(self, node: Node, parent: Node, slot: int, gradient: Any, incoming: Any) -> None:
        """Check what a rule returned, undo broadcasting, pass it on."""
        if gradient is None:
            return
        shape, dtype = parent.shape, parent.dtype
        if parent.outputs is not None:
            shape, dtype = parent.outputs[slot]
        if gradient.shape != shape:
            gradient = sum_to(self.xp, gradient, shape, node)
        if self.on_arrays:
            if isinstance(gradient, Tensor):
                gradient = incoming = gradient._array  # may be what came in, under a new wrapper
                if type(gradient) is not ndarray:
                    self.owned.discard(parent)  # it cannot be added in place
            if gradient.dtype != dtype:
                gradient = match_dtype(gradient, dtype, node)
        self.send(parent, slot, gradient, incoming)

    def _observe(self, node: Node, incoming: Any) -> None:
        for target in self.targets.get(node, ()):
            target.gradient = incoming if node.outputs is None else incoming[target.slot]
        if node._extras is not None:
            for hook in node._extras.hooks:
                hook(incoming)

    def at_leaves(self) -> dict[Node, Any]:
        """What arrived at each leaf, as tensors; if kept in ``.grad``, sharing no memory."""
        arrived = {}
        for leaf in self.leaves:
            gradient = self.pending.pop(leaf)
            if self.on_arrays:
                gradient = _laid_out_like(leaf, gradient, leaf in self.owned)
            elif not self.targets and type(gradient._array) is ndarray:
                gradient = gradient.clone()
            arrived[leaf] = gradient
            for target in self.targets.get(leaf, ()):
                target.gradient = gradient
        return arrived


class _Chosen(threading.local):
    """How this thread walks back; anomaly mode puts a watchful walk here."""

    walk: type[Walk] = Walk


chosen = _Chosen()


def fresh(gradient: Any) -> Tensor:
    """A tensor that shares memory with nothing else; only NumPy arrays are ever written to."""
    return wrap(np.array(gradient) if isinstance(gradient, (ndarray, np.generic)) else gradient)


def _laid_out_like(leaf: Any, gradient: Any, owned: bool) -> Tensor:
    """In the memory order of its leaf, so ``p.grad.view(-1)`` works where ``p.view(-1)`` does."""
    model = None if leaf.variable is None else leaf.variable._array
    if (
        type(model) is type(gradient) is ndarray
        and model.strides != gradient.strides
        and model.shape == gradient.shape
        and is_dense(model)
    ):
        laid_out = np.empty_like(model)
        laid_out[...] = gradient
        return wrap(laid_out)
    return wrap(gradient) if owned else fresh(gradient)


def _wrapped(incoming: Any) -> Any:
    if isinstance(incoming, list):
        return [None if each is None else wrap(each) for each in incoming]
    return wrap(incoming)


def _added(before: Any, gradient: Any) -> Any:
    known = (ndarray, np.generic, Tensor)
    if isinstance(before, known) and isinstance(gradient, known):
        return before + gradient  # type: ignore[operator]
    with modes.no_grad(), quiet.again():
        return (wrap(before) + wrap(gradient))._array


def _nodes_leading_to(targets: dict[Node, Any], roots: list[Node]) -> set[Node]:
    """The nodes that have a target among their ancestors: the only ones worth running."""
    useful: set[Node] = set()
    seen: set[Node] = set()
    order: list[Node] = []
    stack = list(roots)
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            order.append(node)
            stack.extend(node.parents)
    for node in sorted(order, key=lambda each: each.order, reverse=True):  # oldest first
        if any(parent in targets or parent in useful for parent in node.parents):
            useful.add(node)
    return useful


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
