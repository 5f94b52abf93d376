"""A backward pass over tensors as a flow.

There is one box per value.  An op with several outputs of which more than one is used gets a box of
its own between its outputs and its inputs, because what it sends back belongs to all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

import numpy as np

from whygrad.tensor.graph.node import Node
from whygrad.why.contributions import Terms
from whygrad.why.flow import Box, Edge, Flow
from whygrad.why.names import Names
from whygrad.why.sources.recording import Recording, Step, dense, shape_of
from whygrad.why.sources.terms import terms_of

__all__ = ["TensorFlow"]

_KEPT = 4096  # elements up to which a value on the way is kept


class TensorFlow:
    """Turns the steps of a recorded walk into boxes and edges."""

    def __init__(self, recording: Recording, gradient: Any, names: Names) -> None:
        self.recording = recording
        self.names = names
        self._last_steps: list[tuple[Step, Edge]] = []  # that sent something to the target
        self._boxes: dict[tuple[Node, int], Box] = {}
        self._more: list[Box] = []  # constants, and ops with several outputs
        goal, root = recording.goal, recording.root
        target = self._box(goal.node, goal.slot)
        for step in recording.steps:
            self._enter(step, target)
        target.gradient = dense(gradient)
        self._complete_side_inputs()
        self._tell_inner_steps_apart()
        boxes = sorted((*self._boxes.values(), *self._more), key=lambda each: each.order)
        self.flow = Flow("tensor", self._box(root._node, root._slot), boxes, target)

    def terms(self, index: tuple[int, ...]) -> dict[Edge, Terms | None]:
        """What element ``index`` of the target got along each edge, one op deeper."""
        return {edge: terms_of(step, edge.position, index) for step, edge in self._last_steps}

    def _enter(self, step: Step, target: Box) -> None:
        node = step.node
        consumer = self._consumer(step)
        known = dict(_saved_inputs(step))
        for position, parent, slot in zip(node.plan.positions, node.parents, node.slots):
            source = self._box(parent, slot)
            _keep(source, known.get(position))
            edge = Edge(consumer, source, position, _argument(node, position)).link()
            if step.sent[position] is not None:
                edge.contribution = dense(step.sent[position])
                edge.slope = step.slopes.get(position)
                edge.stretched = step.offered[position]
                edge.summed = _summed(edge.stretched, source.shape)
                if not edge.summed:
                    edge.stretched = ()
            if source is target and edge.contribution is not None:
                self._last_steps.append((step, edge))
        for position, value in known.items():
            if position not in node.plan.positions:
                self._enter_constant(consumer, position, _argument(node, position), value)

    def _consumer(self, step: Step) -> Box:
        """The box of what the op made; with several outputs in use, one for them together."""
        node = step.node
        if node.outputs is None:
            box = self._box(node, 0)
            box.gradient = dense(step.incoming)
            _keep(box, _saved_output(step))
            return box
        arrived = {slot: dense(each) for slot, each in enumerate(step.incoming) if each is not None}
        for slot, gradient in arrived.items():
            self._box(node, slot).gradient = gradient
        if len(arrived) == 1:
            return self._box(node, *arrived)
        together = Box(
            self.names.of_op(node),
            node.plan.op.name,
            node.where,
            -2 * node.order,
            (sum(each.size for each in arrived.values()),),
            node.dtype.name,
            gradient=np.concatenate([each.ravel() for each in arrived.values()]),
        )
        self._more.append(together)
        for slot, gradient in arrived.items():
            Edge(self._box(node, slot), together, 0, f"output {slot}", gradient).link()
        return together

    def _box(self, node: Node, slot: int) -> Box:
        found = self._boxes.get((node, slot))
        if found is None:
            found = self._boxes[node, slot] = Box(
                self.names.of_node(node, slot),
                None if node.plan is None else node.plan.op.name,
                node.where,
                1 - 2 * node.order,
                tuple(shape_of(node, slot)),
                (node.dtype if node.outputs is None else node.outputs[slot][1]).name,
            )
            held = self.names.held(node, slot)
            _keep(found, None if held is None else held._array)
        return found

    def _enter_constant(self, consumer: Box, position: int, argument: str, value: Any) -> None:
        """An argument that gets no gradient, where the op has kept it."""
        array = np.asarray(value)
        if array.dtype.kind not in "fiub":
            return
        known = self.names.of_payload(value)
        name = known or (f"{array.item():.4g}" if array.size == 1 else "a constant")
        box = Box(name, None, None, -1, array.shape, array.dtype.name)
        _keep(box, array)
        self._more.append(box)
        Edge(consumer, box, position, argument).link()

    def _complete_side_inputs(self) -> None:
        """The gradient of a side input is known if all who use it have been run."""
        elsewhere = {
            (parent, slot)
            for node in self.recording.reached - self.recording.between
            for parent, slot in zip(node.parents, node.slots)
        }
        for place, box in self._boxes.items():
            if box.gradient is None and place not in elsewhere:
                sent = [edge.contribution for edge in box.consumers]
                sent = [each for each in sent if each is not None]
                box.gradient = sum(sent[1:], sent[0]) if sent else None

    def _tell_inner_steps_apart(self) -> None:
        """A call that consists of several ops made its last value only, not those before it."""
        for (node, _), box in self._boxes.items():
            if node.plan is not None and box.name == self.names.of_op(node):
                users = (edge.consumer for edge in box.consumers)
                if any(user.where == box.where and user.op != box.op for user in users):
                    box.name = f"{box.op} in {box.name}"


def _saved_inputs(step: Step) -> Iterator[tuple[int, Any]]:
    """Arguments that the node kept for its rules, by position."""
    plan = step.node.plan
    for index, place in plan.guarded:
        if place < len(plan.op.tensor_names):
            if plan.op.variadic:
                yield from enumerate(step.values[index])
            elif step.values[index] is not None:
                yield place, step.values[index]


def _saved_output(step: Step) -> Any:
    plan = step.node.plan
    for index, place in plan.guarded:
        if place == len(plan.op.tensor_names):
            return step.values[index]
    return None


def _keep(box: Box, value: Any) -> None:
    """A copy of a small value; what an op saved comes before what a variable holds now."""
    if isinstance(value, np.ndarray) and value.shape == box.shape and prod(value.shape) <= _KEPT:
        box.value = np.array(value)


def _argument(node: Node, position: int) -> str:
    """The name of an argument; empty if there is only one."""
    op = node.plan.op
    if op.variadic:
        return f"{op.tensor_names[0]}[{position}]"
    return op.tensor_names[position] if 1 < len(op.tensor_names) > position else ""


def _summed(offered: tuple[int, ...], shape: tuple[int, ...]) -> tuple[int, ...]:
    """The axes over which a gradient was summed to undo broadcasting."""
    if offered == shape:
        return ()
    extra = len(offered) - len(shape)
    aligned = list(zip(shape, offered[max(extra, 0) :], strict=False))
    if extra < 0 or any(mine not in (1, theirs) for mine, theirs in aligned):
        return ()
    stretched = (extra + axis for axis, (mine, theirs) in enumerate(aligned) if mine != theirs)
    return *range(extra), *stretched
