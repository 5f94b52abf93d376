"""A backward pass of PyTorch as a :class:`~whygrad.why.flow.Flow`.

As for whygrad's own tensors: one box per value, and for an op of which several outputs are used a
box of its own between its outputs and its inputs, because what it sends back belongs to them all.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import torch

from whygrad.torch import ops
from whygrad.torch.backward import Arrivals, Pass, Place, run
from whygrad.torch.finite import numbers
from whygrad.torch.graph import is_leaf, oldest_first, where_of
from whygrad.torch.names import TorchNames
from whygrad.why.flow import Box, Edge, Flow

__all__ = ["TorchFlow", "dense", "fitted"]

_KEPT = 4096  # elements up to which a value on the way is kept


class TorchFlow:
    """Turns a finished backward pass into boxes and edges."""

    def __init__(self, finished: Pass, names: TorchNames) -> None:
        self.finished = finished
        self.names = names
        self.last_steps: list[tuple[Any, int, Edge]] = []  # that sent something to the target
        self._boxes: dict[Place, Box] = {}
        self._more: list[Box] = []  # ops with several outputs, and constants
        nodes = {*finished.between, *(node for node, _ in finished.sides)}
        self._order = {node: 2 * place + 1 for place, node in enumerate(oldest_first(nodes))}
        target = self._box(finished.target)
        for node, arrivals in finished.steps.items():
            self._enter(node, arrivals, target)
        target.gradient = dense(finished.gradient)
        for place, gradient in finished.sides.items():
            self._box(place).gradient = dense(gradient)
        boxes = sorted((*self._boxes.values(), *self._more), key=lambda each: each.order)
        self.flow = Flow("torch", self._box(finished.root), boxes, target)

    def _enter(self, node: Any, arrivals: Arrivals, target: Box) -> None:
        saved = ops.saved_numbers(node)
        consumer = self._consumer(node, arrivals, saved)
        names = ops.argument_names(node)
        slopes = _slopes(node, arrivals)
        for position, (parent, slot) in enumerate(node.next_functions):
            if parent is None:
                self._enter_constant(consumer, position, names[position], saved)
                continue
            source = self._box((parent, slot))
            _keep(source, saved.get(ops.saved_name(node, position)))
            edge = Edge(consumer, source, position, names[position]).link()
            sent = arrivals.sent[position] if position < len(arrivals.sent) else None
            if sent is None:
                continue
            edge.contribution, edge.summed = fitted(dense(sent), source.shape)
            edge.slope = slopes.get(position)
            if not edge.summed and ops.is_elementwise(node):
                edge.summed = _broadcast_axes(consumer.shape, source.shape)
            edge.stretched = consumer.shape if edge.summed else ()
            if source is target:
                self.last_steps.append((node, position, edge))

    def _consumer(self, node: Any, arrivals: Arrivals, saved: dict[str, Any]) -> Box:
        """The box of what the op made; with several outputs in use, one for them together."""
        arrived = {
            slot: dense(each) for slot, each in enumerate(arrivals.incoming) if each is not None
        }
        for slot, gradient in arrived.items():
            self._box((node, slot)).gradient = gradient
        if len(arrived) == 1:
            box = self._box((node, *arrived))
            _keep(box, saved.get("result"))
            return box
        together = Box(
            self.names.of_op_at(node),
            ops.op_in_call(node),
            where_of(node),
            self._order[node] - 1,
            (sum(each.size for each in arrived.values()),),
            str(next(iter(arrived.values())).dtype),
            gradient=np.concatenate([each.ravel() for each in arrived.values()]),
        )
        self._more.append(together)
        for slot, gradient in arrived.items():
            Edge(self._box((node, slot)), together, 0, f"output {slot}", gradient).link()
        return together

    def _box(self, place: Place) -> Box:
        found = self._boxes.get(place)
        if found is None:
            node, slot = place
            held = self.names.tensor_at(node, slot)
            shape, dtype = _geometry(node, slot, held)
            found = self._boxes[place] = Box(
                self.names.of_place(node, slot),
                None if is_leaf(node) else ops.op_in_call(node),
                where_of(node),
                self._order[node],
                shape,
                dtype,
            )
            if held is not None:
                _keep(found, held)
        return found

    def _enter_constant(
        self, consumer: Box, position: int, argument: str, saved: dict[str, Any]
    ) -> None:
        """An argument that gets no gradient, where the op has kept it."""
        value = saved.get(argument)
        if not isinstance(value, np.ndarray) or value.dtype.kind not in "fiub":
            return
        name = f"{value.item():.4g}" if value.size == 1 else "a constant"
        box = Box(name, None, None, -1, value.shape, value.dtype.name)
        _keep(box, value)
        self._more.append(box)
        Edge(consumer, box, position, argument).link()


def dense(gradient: Any) -> Any:
    """A gradient as a NumPy array of its own; None stays None."""
    if gradient is None:
        return None
    return numbers(gradient.to_dense() if gradient.layout is not torch.strided else gradient)


def _geometry(node: Any, slot: int, held: torch.Tensor | None) -> tuple[tuple[int, ...], str]:
    about = node._input_metadata[slot] if held is None else held
    return tuple(map(int, about.shape)), str(about.dtype).removeprefix("torch.")


def _keep(box: Box, value: Any) -> None:
    """A copy of a small value; what an op saved comes before what a variable holds now."""
    if value is not None and tuple(value.shape) == box.shape and prod(box.shape) <= _KEPT:
        box.value = numbers(value) if isinstance(value, torch.Tensor) else np.array(value)


def fitted(contribution: Any, shape: tuple[int, ...]) -> tuple[Any, tuple[int, ...]]:
    """In the shape of the source: the engine sums what a custom ``backward`` left broadcast."""
    if contribution.shape == shape:
        return contribution, ()
    axes = _broadcast_axes(contribution.shape, shape)
    return contribution.sum(axes).reshape(shape), axes


def _broadcast_axes(wide: tuple[int, ...], shape: tuple[int, ...]) -> tuple[int, ...]:
    """The axes of ``wide`` that broadcasting had added to ``shape`` or stretched."""
    extra = len(wide) - len(shape)
    stretched = (
        extra + axis
        for axis, (mine, theirs) in enumerate(zip(shape, wide[extra:], strict=True))
        if mine != theirs
    )
    return *range(extra), *stretched


def _slopes(node: Any, arrivals: Arrivals) -> dict[int, float]:
    """d output / d input between single numbers: what the node makes of a 1."""
    arrived = [each for each in arrivals.incoming if each is not None]
    alone = [
        position
        for position, each in enumerate(arrivals.sent)
        if each is not None and each.numel() == 1 and not each.is_complex()
    ]
    if not alone or len(arrived) != 1 or arrived[0].numel() != 1 or arrived[0].is_complex():
        return {}
    if ops.is_custom(node):  # somebody's backward, which is not to be run twice
        scale = arrived[0].item()
        return {place: arrivals.sent[place].item() / scale for place in alone} if scale else {}
    ones = [None if each is None else torch.ones_like(each) for each in arrivals.incoming]
    of_one = run(node, ones)
    return {place: of_one[place].item() for place in alone if of_one[place] is not None}
