"""The tape as the walk sees it: rules that can be asked again, with other gradients.

The rules run on the saved values as they are.  Nothing is freed, no hook is called, no ``.grad``
changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from whygrad.autograd.api import root_gradients
from whygrad.autograd.engine import Walk
from whygrad.autograd.fitting import sum_to
from whygrad.dispatch import quiet
from whygrad.errors import fail
from whygrad.ops.families import PRODUCTS
from whygrad.ops.namespace import raw
from whygrad.ops.spellings import spoken_name
from whygrad.source import Where, caller
from whygrad.tensor import Tensor, keys, wrap
from whygrad.tensor.graph.node import Freed, Node
from whygrad.tensor.graph.reach import nodes_leading_to, reachable
from whygrad.why.names import Names
from whygrad.why.nan.values import Values
from whygrad.why.question import checked_index
from whygrad.why.zero.causes import BlockedEdge, number
from whygrad.why.zero.report import ZeroReport
from whygrad.why.zero.walk import WEAK, Event, Passage, WalkedEdge, ZeroWalk

__all__ = ["freed_at", "report"]


def report(
    x: Tensor,
    loss: Tensor,
    gradient: Tensor | None,
    index: int | tuple[int, ...] | None,
    tolerance: float,
) -> ZeroReport:
    """What is to be said about the gradient of one tensor."""
    names = Names()
    question = f"why_zero({names.of_tensor(x)}, {names.of_tensor(loss)})"
    place = None if index is None else checked_index(question, index, tuple(x.shape))
    speaker = _Speaker(names)
    walk = None
    notes: tuple[str, ...] = ()
    if x._node is not None and loss._node is not None:
        (seed,) = root_gradients("why_zero", [loss], [gradient])
        tape = Tape(loss._node, x._node)
        if loss._node in tape.useful or loss._node is x._node:
            freed = freed_at(tape.useful)
            if freed is not None:
                raise _freed(question, freed)
            speaker.nodes = {*tape.useful, x._node}
            root, target = (loss._node, loss._slot), (x._node, x._slot)
            walk = ZeroWalk(tape, root, _numbers(seed), target)
            notes = tuple(_hooks(speaker.nodes))
    return ZeroReport(
        names.of_tensor(x),
        names.of_tensor(loss),
        walk,
        speaker.blocked,
        tolerance,
        place,
        notes,
    )


def _freed(question: str, where: Where) -> RuntimeError:
    return fail(
        RuntimeError,
        call=question,
        cause=f"the values this graph had saved were freed by the backward() at {where}",
        fix="ask before backward(), or pass retain_graph=True to it",
    )


def _hooks(nodes: Iterable[Node]) -> Iterator[str]:
    for node in nodes:
        hooks = None if node._extras is None else node._extras.hooks
        for hook in [] if hooks is None else hooks.all():
            yield f"the hook {hook.name!r} registered at {hook.where}: it may change the gradient"


class _Speaker:
    """Tells what is known about the ops of a tape."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self.nodes: set[Node] = set()
        self._values: Values | None = None

    def blocked(self, found: Event | Passage) -> BlockedEdge:
        edge = found.edge
        assert isinstance(edge, TensorEdge)
        if self._values is None:
            self._values = Values(self.nodes)
        outputs = edge.source.outputs
        return BlockedEdge(
            edge.op,
            edge.argument,
            found.mask if isinstance(found, Event) else _weak(edge),
            edge.saved(),
            self._values.of(edge.source, edge.slot),
            dict(self._others(edge)),
            edge.source.dtype if outputs is None else outputs[edge.slot][1],
        )

    def _others(self, edge: TensorEdge) -> Iterator[tuple[str, str]]:
        """What the user calls the other arguments of the op."""
        op, saved = edge.node.plan.op, edge.saved()
        if op.variadic or op.kind == "custom":
            return
        edges = edge.node.next_functions
        for position, argument in enumerate(op.tensor_names):
            if position == edge.position:
                continue
            parent, slot = edges[position]
            if parent is not None:
                name = self._names.of_node(parent, slot)
                made = "" if parent.plan is None else f" (made at line {parent.where.line})"
                yield argument, name + made
            elif saved.get(argument) is not None:
                value = saved[argument]
                name = self._names.of_payload(value) or (
                    number(value) if np.size(value) == 1 else f"its argument {argument!r}"
                )
                yield argument, name


def _weak(edge: TensorEdge) -> Any:
    """The elements that an op lets hardly anything through for; all of them if nobody can tell."""
    ones = np.ones(edge.node.shape, edge.node.dtype)
    slopes = edge.pull_opposite(ones)
    return ones > 0 if slopes is None else np.abs(np.broadcast_to(slopes, ones.shape)) < WEAK


def freed_at(nodes: Iterable[Node]) -> Where | None:
    """Where the saved values of one of these nodes were released, if they were."""
    return next((node.values.where for node in nodes if isinstance(node.values, Freed)), None)


class Tape:
    """The part of the graph between a root and the node of the tensor that was asked about."""

    def __init__(self, root: Node, target: Node) -> None:
        self.useful = nodes_leading_to({target}, reachable([root]))
        self._narrow = _Answers(self.useful, target, wide=False)
        self._wide = _Answers(self.useful, target, wide=True)

    def rank(self, node: Node) -> int:
        return node.order

    def outputs(self, node: Node) -> int:
        return 1 if node.outputs is None else len(node.outputs)

    def run(self, node: Node, incoming: list[Any]) -> list[WalkedEdge]:
        node.check_versions()
        opposite, fitted = self.ask(node, incoming)
        return [
            TensorEdge(
                node=node,
                source=node.parents[index],
                slot=node.slots[index],
                op=spoken_name(node.plan.op.name),
                argument=_argument(node, index),
                where=node.where,
                incoming=incoming,
                contribution=gradient,
                tape=self,
                index=index,
                opposite=opposite[index],
            )
            for index, gradient in fitted.items()
        ]

    def ask(
        self,
        node: Node,
        incoming: list[Any],
        values: tuple[Any, ...] | None = None,
        *,
        wide: bool = False,
    ) -> tuple[dict[int, Any], dict[int, Any]]:
        """What the rules of ``node`` return, by edge, and the same as the sources take it."""
        answers = self._wide if wide else self._narrow
        answers.opposite, answers.fitted = {}, {}
        arrived = incoming if node.outputs is not None else incoming[0]
        quiet.run(answers.run_rules, node, arrived, self.saved(node) if values is None else values)
        return answers.opposite, answers.fitted

    def saved(self, node: Node) -> tuple[Any, ...]:
        """What a node kept, wherever it is kept."""
        return self._narrow.unpacked(node)


def _argument(node: Node, index: int) -> str:
    op, position = node.plan.op, node.plan.positions[index]
    if op.variadic:
        return f"{op.tensor_names[0]}[{position}]"
    return op.tensor_names[position] if position < len(op.tensor_names) else f"input {position}"


class _Answers(Walk):
    """Runs the rules of one node and keeps what they return instead of passing it on."""

    def __init__(self, useful: set[Node], target: Node, wide: bool) -> None:
        super().__init__(keep_graph=True, create_graph=False, where=caller(), xp=raw, targets=None)
        self.useful = useful
        self.targets = {target: []}
        self._wide = wide
        self.opposite: dict[int, Any] = {}  # by edge: what the rule returned
        self.fitted: dict[int, Any] = {}  # in the shape of the source; in its dtype unless wide

    def unpacked(self, node: Node) -> tuple[Any, ...]:
        return node.values if type(node.values) is tuple else self._unpacked(node)

    def _fitting(self, node: Node, index: int, gradient: Any, incoming: Any) -> tuple[Any, Any]:
        if gradient is None:
            return None, None
        self.opposite[index] = gradient
        if self._wide:
            parent, slot = node.parents[index], node.slots[index]
            shape = parent.shape if parent.outputs is None else parent.outputs[slot][0]
            if gradient.shape != shape:
                gradient = sum_to(self.xp, gradient, shape, node)
        else:
            gradient, _ = super()._fitting(node, index, gradient, incoming)
        self.fitted[index] = _numbers(gradient)
        return None, None  # nothing is sent on


def _numbers(gradient: Any) -> Any:
    """A gradient as one array, whatever it is kept in."""
    if isinstance(gradient, (np.ndarray, np.generic)):
        return np.asarray(gradient)
    tensor = gradient if isinstance(gradient, Tensor) else wrap(gradient)
    return (tensor.to_dense() if tensor._keys & keys.LAYOUTS else tensor)._array


class TensorEdge(WalkedEdge):
    """One edge of the tape."""

    def __init__(self, *, tape: Tape, index: int, opposite: Any, **facts: Any) -> None:
        super().__init__(**facts)
        self._tape = tape
        self._opposite = opposite  # what the rule made of ``incoming``
        self.index = index

    @property
    def position(self) -> int:
        place: int = self.node.plan.positions[self.index]
        return place

    def pull(self, probes: list[Any]) -> Any:
        if self.node.plan.op.kind == "custom":  # a user's own backward runs once
            return None
        return self._tape.ask(self.node, probes)[1][self.index]

    def pull_opposite(self, probe: Any) -> Any:
        if self.node.plan.op.kind != "elementwise":
            return None
        if self.incoming and probe is self.incoming[0]:
            return self._opposite
        return self._tape.ask(self.node, [probe])[0][self.index]

    def forget(self) -> None:
        super().forget()
        self._opposite = None

    def reach(self, probes: list[Any]) -> Any:
        if self.node.plan.op.name not in PRODUCTS:
            return None
        values = tuple(_ones(each) for each in self._tape.saved(self.node))
        return self._tape.ask(self.node, probes, values)[1][self.index]

    def wide(self) -> Any:
        if self.node.plan.on_tensors:
            return None
        values = tuple(_widened(each) for each in self._tape.saved(self.node))
        incoming = [_widened(each) for each in self.incoming]
        return self._tape.ask(self.node, incoming, values, wide=True)[1][self.index]

    def saved(self) -> dict[str, Any]:
        return dict(zip(self.node.plan.saved_names, self._tape.saved(self.node), strict=True))


def _ones(value: Any) -> Any:
    if isinstance(value, np.ndarray) and value.dtype.kind not in "iub":
        return np.ones_like(value)
    return 1.0 if type(value) is float else value


def _widened(value: Any) -> Any:
    """A saved value as it would be in double precision, its dtype if it is one."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.astype(np.float64) if _is_narrow(value.dtype) else value
    if isinstance(value, np.dtype):
        return np.dtype(np.float64) if _is_narrow(value) else value
    return value


def _is_narrow(dtype: Any) -> bool:
    return dtype.name in ("bfloat16", "float16", "float32")
