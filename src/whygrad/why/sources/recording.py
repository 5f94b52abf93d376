"""The engine's reverse walk, written down instead of acted on.

It is the walk that ``backward`` takes, with its rules, its sums over broadcast axes and its order
of addition, and it leaves everything as it was: nothing is freed and no ``.grad`` changes.  Hooks
are noted but not called, because they are the user's code and may do anything.  What a graph cannot
be walked without does run: ``backward`` of custom functions, checkpointed regions, and whatever
unpacks saved tensors.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from whygrad.autograd.arrivals import Target
from whygrad.autograd.engine import Walk
from whygrad.autograd.hooks.nodes import Hook
from whygrad.dispatch import quiet
from whygrad.ops.namespace import raw
from whygrad.scalar.numbers import CLOSED
from whygrad.source import caller
from whygrad.tensor import Tensor, modes, wrap
from whygrad.tensor.graph.node import Node
from whygrad.tensor.graph.reach import nodes_leading_to, reachable

__all__ = ["Recording", "Step", "dense", "shape_of"]


@dataclass
class Step:
    """One node of the walk.  Lists and dictionaries go by the position of the argument."""

    node: Node
    incoming: Any  # a list if the op has several outputs
    values: tuple[Any, ...]  # what the node had saved
    sent: list[Any]  # along each edge, as it arrives; None: nothing
    offered: dict[int, tuple[int, ...]]  # the shapes that the rules returned
    slopes: dict[int, float] = field(default_factory=dict)


class Recording(Walk):
    """A walk from one tensor to another."""

    def __init__(self, root: Tensor, target: Tensor) -> None:
        self.root = root
        self.goal = Target(target)
        super().__init__(True, False, caller(), raw, [self.goal])
        self.reached = reachable([root._node])
        self.between = nodes_leading_to({self.goal.node}, self.reached)
        self.steps: list[Step] = []
        self.hooks: list[Hook] = []  # met on the way
        self._offered: dict[int, tuple[int, ...]] = {}

    @property
    def leads_to_target(self) -> bool:
        """Whether there is a way from the root to the target."""
        start = self.root._node
        same = start is self.goal.node and self.root._slot == self.goal.slot
        return start in self.between or same

    def from_seed(self, seed: Any) -> Any:
        """Walk, and return the gradient of the target; None if none arrives."""
        self.begin(self.root, np.array(seed))
        quiet.run(self.run)
        leaf = self.goal.node.plan is None
        return self.pending.get(self.goal.node) if leaf else self.goal.gradient

    def _narrow_down(self) -> None:
        self.useful = self.between
        self.careful = True

    def _arrived(self, node: Node, incoming: Any) -> Any:
        """As for any walk, but for the hooks."""
        found = None if node._extras is None else node._extras.hooks
        if found is not None:
            groups = (*found.of_tensors.values(), found.before, found.after)
            self.hooks += [hook for group in groups for hook in group.values()]
        if node.plan is None:
            self.pending[node] = incoming
            self.leaves.append(node)
            return None
        for target in self.targets.get(node, ()):
            target.gradient = incoming if node.outputs is None else incoming[target.slot]
        return incoming if node in self.between else None

    def run_rules(self, node: Node, incoming: Any, values: tuple[Any, ...]) -> None:
        """Write down what the rules send, and send what leads on to the target."""
        sent = self._results(node, incoming, values)
        step = Step(node, incoming, values, sent, self._offered)
        step.slopes = self._slopes(step)
        self.steps.append(step)
        for position, parent, slot in zip(node.plan.positions, node.parents, node.slots):
            if sent[position] is not None and self._leads_to_target(parent):
                self.send(parent, slot, sent[position], sent[position])

    def _results(self, node: Node, incoming: Any, values: tuple[Any, ...]) -> list[Any]:
        """What all rules of a node return, also for inputs that do not lead to the target."""
        self._offered = {}
        self.outbox = outbox = [None] * node.plan.arity
        useful, self.useful = self.useful, None
        try:
            super().run_rules(node, incoming, values)
        finally:
            self.outbox, self.useful = None, useful
        return outbox

    def _fitting(self, node: Node, index: int, gradient: Any, incoming: Any) -> tuple[Any, Any]:
        if gradient is not None:
            self._offered[node.plan.positions[index]] = tuple(gradient.shape)
        return super()._fitting(node, index, gradient, incoming)

    def _slopes(self, step: Step) -> dict[int, float]:
        """d output / d input between single numbers: what the rules make of a 1."""
        node, incoming = step.node, step.incoming
        arrived = [each for each in _listed(incoming) if each is not None]
        alone = [
            position
            for position, parent, slot in zip(node.plan.positions, node.parents, node.slots)
            if step.sent[position] is not None and _is_real_number(step.sent[position])
        ]
        if not alone or len(arrived) != 1 or not _is_real_number(arrived[0]):
            return {}
        if node.plan.op.kind == "custom":  # somebody's backward, which is not to be run twice
            scale = arrived[0].item()
            return {p: step.sent[p].item() / scale for p in alone} if scale else {}
        one: Any = np.ones_like(arrived[0])
        if node.outputs is not None:
            one = [None if each is None else one for each in incoming]
        of_one = self._results(node, one, step.values)
        slopes = {position: of_one[position].item() for position in alone}
        for position in alone:
            if slopes[position] == 0.0 == step.sent[position].item():
                slopes[position] = CLOSED  # also to an infinite gradient, where 0 * inf is not 0
        return slopes


def shape_of(node: Node, slot: int) -> tuple[int, ...]:
    """Of one output."""
    return node.shape if node.outputs is None else node.outputs[slot][0]


def dense(payload: Any) -> Any:
    """A gradient as a NumPy array that nobody else can write to."""
    if isinstance(payload, (np.ndarray, np.generic)):
        return np.array(payload)
    with modes.no_grad(), quiet.again():
        return np.array(wrap(payload).to_dense()._array)


def _listed(incoming: Any) -> list[Any]:
    return incoming if isinstance(incoming, list) else [incoming]


def _is_real_number(payload: Any) -> bool:
    return (
        isinstance(payload, (np.ndarray, np.generic))
        and payload.size == 1
        and payload.dtype.kind != "c"
    )
