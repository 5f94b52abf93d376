"""The way back: look at every gradient a rule returns.

A gradient that is not finite is noted with its evidence, and the walk goes on: a later ``where``
may drop it.  The verdict comes before any leaf gets its gradient.
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from whygrad.autograd.anomaly_mode import finite, selection, wording
from whygrad.autograd.anomaly_mode.evidence import Evidence, Running, memo_of
from whygrad.autograd.anomaly_mode.examination import found, made
from whygrad.autograd.anomaly_mode.findings import During, Finding, Trail, merged
from whygrad.autograd.anomaly_mode.watch import Watch, given
from whygrad.autograd.engine import Walk
from whygrad.dispatch import quiet
from whygrad.errors import explained
from whygrad.tensor import Tensor, modes, wrap
from whygrad.tensor.graph.node import Node

__all__ = ["WatchfulWalk"]


class WatchfulWalk(Walk):
    """A backward pass in anomaly mode."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.careful = True
        self.watch: Watch = modes.state.watch
        self.trails: dict[Node, Trail] = {}  # of the gradients on their way to each node
        self.reached: Node | None = None
        self.running: Running | None = None
        self.conditions: dict[Node, Any] = {}  # of the ``where`` calls so far

    def begin(self, root: Tensor, gradient: Any) -> None:
        if self.watch.check_nan:
            self._check_root(root)
            seed = finite.numbers(gradient)
            if seed is not None and not quiet.run(finite.all_finite, seed):
                kind = finite.trouble(seed) or "nan"
                seeded = given(wrap(seed), kind, "the gradient passed to backward()")
                self.trails[root._node] = Trail(kind, (seeded,))
        super().begin(root, gradient)

    def _check_root(self, root: Tensor) -> None:
        array = finite.numbers(root)
        if array is None or quiet.run(finite.all_finite, array):
            return
        kind = finite.trouble(array) or "nan"
        trail = self.watch.trail(root, kind)
        on_purpose = array.size > 1 and not made([trail])
        if kind == "nan" or not (on_purpose or self.watch.allow_inf):
            self.watch.blame(trail.culprits, self.where)
            raise wording.reached_the_loss(trail, root, self.where)

    def run(self) -> None:
        try:
            super().run()
        except Exception as error:
            self._add_stack(error)
            if self.trails and not explained(error.__cause__ or error):
                trail = next(iter(self.trails.values()))  # a rule may fail on a NaN it was given
                self.watch.blame(trail.culprits, self.where)
                raise wording.rule_failed(trail, error, self.where) from error
            raise

    def _add_stack(self, error: Exception) -> None:
        """An error of the engine gets the stack of the forward call it is about."""
        memo = None if self.reached is None else memo_of(self.reached)
        told = isinstance(error, wording.AnomalyError) or hasattr(error, "__notes__")
        if memo is not None and len(memo.calls) > 1 and not told:
            error.add_note(wording.stack(memo.calls))

    def _arrived(self, node: Node, incoming: Any) -> Any:
        self.reached = node
        return super()._arrived(node, incoming)

    def run_rules(self, node: Node, incoming: Any, values: tuple[Any, ...]) -> None:
        self.running = Running(node, incoming, values)
        memo = memo_of(node)
        counted = any(storage.version != version for storage, version, _ in node.guards)
        if memo is not None and memo.prints and type(node.values) is tuple and not counted:
            changed = self.watch.contents.changed(node, memo.prints)
            if changed is not None:
                raise wording.changed_memory(node, changed)
        if node.plan.op.name == "where":
            self.conditions[node] = finite.numbers(values[node.plan.saved_names.index("condition")])
        if self.on_arrays:
            super().run_rules(node, incoming, values)
            return
        outer = self.watch.during
        self.watch.during = During(node.name(), node.where, None if memo is None else memo.during)
        try:
            super().run_rules(node, incoming, values)
        finally:
            self.watch.during = outer

    def send(self, node: Node, slot: int, gradient: Any, source: Any) -> None:
        several = node in self.pending
        super().send(node, slot, gradient, source)
        if self.running is None or not self.watch.check_nan:
            return
        sender, incoming, _ = self.running
        if gradient is not incoming or sender in self.trails:
            array = gradient if type(gradient) is np.ndarray else finite.numbers(gradient)
            if array is not None and not self._all_finite(array):
                with np.errstate(all="ignore"):
                    self._note((node, slot), array)
        if several and node not in self.trails:
            total = self.pending[node]
            array = finite.numbers(total[slot] if isinstance(total, list) else total)
            if array is not None and not self._all_finite(array):
                self._note_sum(sender, node, array)

    def _all_finite(self, array: Any) -> bool:
        """The walk on arrays is inside the quiet context already, and cannot enter it twice."""
        if self.on_arrays:
            return finite.all_finite(array)
        return quiet.run(finite.all_finite, array)

    def _note(self, edge: tuple[Node, int], sent: Any) -> None:
        """Who is to blame for a gradient that is not finite."""
        assert self.running is not None
        evidence = Evidence(self.running, edge, sent, self.roots, self.conditions)
        finding = evidence.finding()
        if evidence.fed_by == "incoming":
            arrived = self.trails.get(self.running.node)
            sources = [arrived or Trail(evidence.kind, (evidence.replaced(),))]
        else:
            sources = evidence.trails_of_saved()
        made_before = made(sources)
        if evidence.fed_by == "incoming" and (evidence.kind == sources[0].kind or not made_before):
            trail = merged(sources, evidence.kind)
        elif made_before:
            trail = merged(sources, evidence.kind, turned=finding)
            if finding.selection is not None:
                trail = trail._replace(selection=self._selection(trail.culprits[0]))
        else:
            trail = Trail(evidence.kind, (finding,))
            self.watch.suspect(finding)
        self._add_trail(edge[0], trail)

    def _selection(self, culprit: Finding) -> selection.Selection | None:
        """What threw away a forward value whose NaN came back by way of a saved value."""
        if culprit.node is None:
            return None
        place = culprit.elements[0].index
        return selection.of(culprit.node, place, culprit.shape, self.roots, self.conditions)

    def _note_sum(self, sender: Node, node: Node, total: Any) -> None:
        """Several finite contributions whose sum is not."""
        kind = finite.trouble(total) or "inf"
        finding = found(
            total,
            kind,
            ~np.isfinite(total),
            op=sender.plan.op,
            where=sender.where,
            backward=True,
            summed=True,
            node_reference=weakref.ref(sender),
        )
        self.watch.suspect(finding)
        self._add_trail(node, Trail(kind, (finding,)))

    def _add_trail(self, node: Node, trail: Trail) -> None:
        before = self.trails.get(node)
        if before is not None:
            kind: finite.Trouble = "nan" if "nan" in (before.kind, trail.kind) else "inf"
            chosen = before.selection or trail.selection
            trail = merged([before, trail], kind, before.turned or trail.turned)
            trail = trail._replace(selection=chosen)
        self.trails[node] = trail

    def finish(self) -> None:
        for leaf in self.leaves:
            self._judge(leaf, self.pending[leaf])
        for node, targets in self.targets.items():
            for target in targets:
                if node.plan is not None:
                    self._judge(node, target.gradient)
        super().finish()
        self.watch.clear(self.where)

    def _settle(self, leaf: Any, gradient: Any) -> None:
        self._judge(leaf, gradient)  # a leaf with hooks gets its gradient before the end
        super()._settle(leaf, gradient)

    def _judge(self, node: Node, gradient: Any) -> None:
        trail = self.trails.get(node)
        if trail is None:
            return
        kind = finite.trouble(finite.numbers(gradient))
        if kind == "nan" or (kind == "inf" and not self.watch.allow_inf):
            self.watch.blame(trail.culprits, self.where)
            raise wording.reached_a_gradient(trail, node, self.where)
