"""The reverse walk.

Nodes run youngest first.  An op's inputs exist before the op does, so youngest-first is a reverse
topological order, and when a node's turn comes its whole incoming gradient has arrived.  Nothing
here recurses, so a chain of a million ops is only a longer loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush
from typing import Any

import numpy as np

from whygrad.autograd.arrivals import Arrivals, Target
from whygrad.autograd.fitting import conjugated, fit, widen, wrapped
from whygrad.autograd.hooks.nodes import hooked_leaves
from whygrad.autograd.saving.values import as_tensors
from whygrad.dispatch import quiet
from whygrad.errors import explained, fail
from whygrad.ops.namespace import raw, recorded
from whygrad.ops.ties import tie
from whygrad.source import caller
from whygrad.tensor import Tensor, keys, modes
from whygrad.tensor.graph.node import Freed, Node
from whygrad.tensor.graph.reach import Turns
from whygrad.threads import PerThread, is_deep, on_new_stack

__all__ = ["Walk", "chosen", "run"]

ndarray = np.ndarray


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
    if chosen.depth and is_deep():
        on_new_stack(
            run,
            roots,
            gradients,
            keep_graph=keep_graph,
            create_graph=create_graph,
            accumulate=accumulate,
            targets=targets,
        )
        return
    where = caller()
    on_tensors = create_graph or not all(_is_plain(each) for each in (*roots, *gradients))
    walk = chosen.walk(keep_graph, create_graph, where, recorded if on_tensors else raw, targets)
    walk.accumulates = accumulate
    for root, gradient in zip(roots, gradients, strict=True):
        walk.begin(root, gradient if on_tensors else gradient._array)
    chosen.depth += 1
    try:
        if on_tensors:
            with modes.set_grad_enabled(create_graph), modes.unfollowed():
                walk.run()
                walk.finish()
        else:
            quiet.run(walk.run)
            walk.finish()
    except BaseException:
        walk.forget()
        raise
    finally:
        chosen.depth -= 1
    if walk.filled:
        from whygrad.autograd.cycles import warn_of_cycles

        warn_of_cycles(walk.filled, where)


def _is_plain(tensor: Tensor) -> bool:
    """Whether rules may work on the bare NumPy array."""
    return tensor._keys & (keys.DEVICES | keys.LAYOUTS | keys.FORWARD | keys.BATCHED) == keys.CPU


class Walk(Arrivals):
    """The loop over nodes, and what becomes of each."""

    def run(self) -> None:
        self.roots = [*(node for _, node in self.heap), *self.leaves]
        if self.targets:
            self._narrow_down()
        if self.create_graph:
            self.careful = True
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

    def _unpacked(self, node: Node) -> tuple[Any, ...]:
        """Saved values that the node has not got itself; to fetch them may take a user's code."""
        if node.values.at_hand:
            return node.unpacked()
        with self.user_code():
            return node.unpacked()

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
        if plan.conjugates:  # the rules compute J^T g; conjugated before and after it is J^H g
            incoming = conjugated(xp, incoming)
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
                if plan.conjugates and gradient is not None:
                    gradient = conjugated(xp, gradient)
                gradient, source = self._fitting(node, index, gradient, incoming)
                if plan.ties and self.create_graph and gradient is not None:
                    gradient = source = tie(gradient, node, index)
                if self.outbox is not None:
                    self.outbox[plan.positions[index]] = gradient
                elif gradient is not None:
                    self.send(parent, node.slots[index], gradient, source)

    def _run_on_tensors(self, node: Node, incoming: Any, values: tuple[Any, ...]) -> None:
        """Rules on data that is no NumPy array go through the dispatcher: it has the kernels."""
        self.xp = recorded
        try:
            with modes.no_grad(), modes.unfollowed(), quiet.again():
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
        gradients = found.after_node(self, node, outbox, incoming)
        for position, parent, slot in zip(node.plan.positions, node.parents, node.slots):
            gradient = gradients[position]
            if gradient is not None:
                self.send(parent, slot, gradient, gradient)

    def _fitting(self, node: Node, index: int, gradient: Any, incoming: Any) -> tuple[Any, Any]:
        """What goes along one edge, and what it may share memory with."""
        if gradient is None:
            return None, None
        if type(incoming) is list and any(gradient is each for each in incoming):
            incoming = gradient
        return fit(self, node, node.parents[index], node.slots[index], gradient, incoming)


class _Chosen(PerThread):
    """How this thread walks back; anomaly mode puts a watchful walk here."""

    walk: type[Walk] = Walk
    depth = 0  # backward calls that are under way: hooks and custom functions nest them


chosen = _Chosen()


def _wrong_count(node: Node, count: int) -> RuntimeError:
    return fail(
        RuntimeError,
        call=f"{node.name()} recorded at {node.where}",
        cause=f"its rule returned {count} gradients for {node.plan.arity} tensor arguments",
        fix="return one gradient (or None) per tensor argument",
        where=None,
    )


def _rule_failed(node: Node, error: Exception) -> Exception:
    return fail(
        RuntimeError,
        call=f"{node.name()} recorded at {node.where}",
        cause=f"its rule raised {type(error).__name__}: {error}",
        fix="see the exception above this one",
        where=None,
    )
