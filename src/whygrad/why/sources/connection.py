"""What the tape and the lineage tell about two tensors of whygrad's, for ``why_none``."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from whygrad.autograd.crossings import Crossing, crossings, is_forgetful
from whygrad.errors import describe, fail
from whygrad.source import Where
from whygrad.tensor import Tensor
from whygrad.tensor.graph.lineage import step_of, trips
from whygrad.tensor.graph.node import AccumulateGrad, Freed
from whygrad.tensor.graph.reach import nodes_leading_to, reachable
from whygrad.tensor.graph.steps import Source, Step, Trip, sources_of
from whygrad.why.connection import (
    TO_LEAVE,
    Connection,
    Cut,
    Departure,
    Point,
    Subject,
)
from whygrad.why.dataflow import statement_at, used_at
from whygrad.why.names import Names

if TYPE_CHECKING:
    from whygrad.tensor.graph.node import Node

__all__ = ["connection", "reassigned_name"]

_MANY = 8  # leaves and departures that a report lists


def connection(x: Any, loss: Any) -> Connection:
    """Everything that is known about how ``x`` and ``loss`` hang together."""
    for name, given in (("x", x), ("loss", loss)):
        if not isinstance(given, Tensor):
            raise fail(
                TypeError,
                call=f"why_none(x, loss) with {name}: {describe(given)}",
                cause="both must be tensors of whygrad",
                fix="keep the tensor: item() and float() end its graph"
                if isinstance(given, float)
                else "for PyTorch's use whygrad.torch.why_none; the grad of a Value is never None",
            )
    names = Names()
    graph = set() if loss._node is None else reachable([loss._node])
    node = x._node
    found = Connection(
        x=_subject(x, names),
        loss=_subject(loss, names),
        connected=node is not None and node in graph,
        x_is_younger=_is_younger(x, loss),
        replaced=_replaced(x, names),
        own_cut=_own_cut(x),
        walked_at=_walked_at(graph),
        own_rules=_own_rules(node, graph),
        loss_leaves=_leaves(graph, names),
    )
    if node is None or found.connected:
        return found
    return Connection(
        **{name: getattr(found, name) for name in found.__dataclass_fields__}
        | {
            "cuts": [_cut(each, node, loss) for each in crossings(node, loss)],
            "departures": _departures(node, graph),
            "forgotten": is_forgetful(loss),
        }
    )


def _subject(tensor: Tensor, names: Names) -> Subject:
    gradient = tensor._grad
    norm = None
    if gradient is not None and type(gradient._array) is np.ndarray:
        norm = float(np.linalg.norm(gradient._array.astype(np.float64)))
    return Subject(
        name=names.of_tensor(tensor),
        described=describe(tensor),
        where=_made_at(tensor),
        requires_grad=tensor.requires_grad,
        is_leaf=tensor.is_leaf,
        retains_grad=tensor.retains_grad,
        is_floating=tensor.dtype.is_floating_point,
        has_gradient=gradient is not None,
        norm=norm,
    )


def _made_at(tensor: Tensor) -> Any:
    if tensor._node is not None:
        return tensor._node.where
    step = step_of(tensor)
    return None if step is None else step.where


def _is_younger(x: Tensor, loss: Tensor) -> bool:
    """Orders count down: the younger of two nodes has the smaller one."""
    return x._node is not None and loss._node is not None and x._node.order < loss._node.order


def _replaced(x: Tensor, names: Names) -> Subject | None:
    """The leaf whose name ``x`` took over: ``w = w - lr * g`` computes a new tensor."""
    made = step_of(x) if x._node is None else x._node
    if made is None or made.where is None or isinstance(made, AccumulateGrad):
        return None
    assigned = reassigned_name(made.where)
    if assigned is None or assigned != names.of_tensor(x):
        return None
    if isinstance(made, Step):  # the same mistake inside no_grad() leaves no history at all
        leaves = [each.node for each in sources_of(made) if each.op is None]
    else:
        leaves = [each for each in _inputs_of_line(made) if each.plan is None]
    for leaf in leaves:
        if leaf is None or (leaf.shape == x.shape and not _has_variable(leaf, names)):
            since = None if leaf is None else leaf.where
            return Subject(assigned, "", since, True, True)
    return None


def _inputs_of_line(made: Node) -> list[Node]:
    """What the expression on the line that made this node was computed from."""
    line, waiting, found = made.where.line, [made], []
    for node in waiting:  # grows while it is walked
        for parent in node.parents:
            if parent.plan is not None and parent.code is made.code and parent.where.line == line:
                waiting.append(parent)
            else:
                found.append(parent)
    return found


def _has_variable(leaf: Any, names: Names) -> bool:
    """Whether a variable still holds the leaf; a list of parameters may hold it all the same."""
    known = None if leaf.variable is None else names.of(leaf.variable)
    return known is not None and known.isidentifier()


def reassigned_name(where: Where) -> str | None:
    """``w`` if what stands there is ``w = … w …``."""
    statement = statement_at(where)
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    target = ast.unparse(statement.targets[0])
    value = statement.value
    if isinstance(value, (ast.Call, ast.Attribute)):  # h = layer(h) is how models are written
        return None
    read = {ast.unparse(each) for each in ast.walk(value) if isinstance(each, ast.expr)}
    return target if target in read else None


def _walked_at(graph: Iterable[Node]) -> Any:
    for node in graph:
        if isinstance(node.values, Freed):
            return node.values.where
    return None


def _own_rules(x: Node | None, graph: set[Node]) -> list[str]:
    custom = [each for each in graph if each.plan is not None and each.plan.op.kind == "custom"]
    if x is None or not custom:
        return []
    on_the_way = nodes_leading_to({x}, graph)
    return sorted({each.plan.op.name for each in custom if each in on_the_way})


def _leaves(graph: Iterable[Node], names: Names) -> list[str]:
    leaves = sorted((node for node in graph if node.plan is None), key=lambda each: -each.order)
    lines = [f"{names.of_node(leaf):<12} {leaf.where}" for leaf in leaves[:_MANY]]
    return lines if len(leaves) <= _MANY else [*lines, f"… {len(leaves) - _MANY} more"]


def _own_cut(x: Tensor) -> Cut | None:
    """A constant that was computed from something in a graph: the cut nearest to it."""
    step = None if x._node is not None else step_of(x)
    steps: list[Step] = []
    while step is not None:
        steps.append(step)
        if step.kind is not None and step.sources:
            way_out = _points_to(step.sources[0], None)
            return Cut(step.kind, step.where, way_out, _points(reversed(steps)))
        step = next(iter(step.before), None)
    return None


def _cut(crossing: Crossing, x: Node, loss: Tensor) -> Cut:
    step = crossing.cut
    through = [each for each in step.sources if each.comes_from(x)] or list(step.sources)
    return Cut(
        kind=str(step.kind),
        where=step.where,
        way_out=_points_to(through[0], x),
        outside=_points(crossing.steps),
        unbroken=_unbroken(crossing.steps),
        way_back=_way_back(loss, crossing.entered),
        certain=crossing.certain,
    )


def _unbroken(steps: Sequence[Step]) -> int:
    """How many steps follow each other without a stretch inside some graph."""
    pairs = enumerate(pairwise(steps), 1)
    return next((place for place, (one, next_) in pairs if one not in next_.inputs), len(steps))


def _points(steps: Iterable[Step]) -> list[Point]:
    return [Point(each.op, each.where) for each in steps]


def _points_to(source: Source, x: Node | None) -> list[Point]:
    """The ops from ``x`` to ``source``; only the last one if the others are forgotten."""
    end = source.node
    if end is not None and x is not None:
        return [_point(each) for each in reversed(_path(end, x))]
    remembered = [] if x is None else source.way_from(x)
    return [Point(each.op or "leaf", each.where) for each in remembered] or [
        Point(source.op or "leaf", source.where)
    ]


def _way_back(loss: Tensor, entered: Node | None) -> list[Point]:
    if loss._node is None or entered is None:
        return []
    return [_point(each) for each in _path(loss._node, entered)]


def _point(node: Node) -> Point:
    return Point("leaf" if node.plan is None else node.plan.op.name, node.where)


def _path(start: Node, end: Node) -> Sequence[Node]:
    """A shortest way from ``start`` back to ``end``, both included; empty if there is none."""
    after: dict[Node, Node | None] = {start: None}
    waiting = [start]
    for node in waiting:  # grows while it is walked
        if node is end:
            way: list[Node] = []
            here: Node | None = node
            while here is not None:
                way.append(here)
                here = after[here]
            return way[::-1]
        for parent in node.parents:
            if parent not in after:
                after[parent] = node
                waiting.append(parent)
    return []


def _departures(x: Node, graph: Iterable[Node]) -> list[Departure]:
    """Lines that handed numbers computed from ``x`` to Python: those that matter first."""
    first: dict[Where, tuple[int, Trip]] = {}  # of each line the earliest, and its time
    for trip in trips:  # the latest first
        sources = sources_of(trip)
        if any(source.comes_from(x) for source in sources):
            first[trip.where] = min(source.order for source in sources), trip
    found = []
    for where, (time, trip) in first.items():
        later = [each.where for each in graph if each.order < time]  # orders count down
        found.append(Departure(*_departed(trip, x), (), used_at(where, later)))
    return sorted(found, key=lambda each: each.used_at is None)[:_MANY]


def _departed(trip: Trip, x: Node) -> tuple[str, str, Where]:
    """Kind, op and line of what took the value of ``x`` out of the graph, on the way to a trip."""
    behind: dict[Step, bool] = {trip: True}  # and whether nothing was recorded in between
    waiting: list[Step] = [trip]
    for step in waiting:  # grows while it is walked
        if any(source.comes_from(x) for source in step.sources):
            on_purpose = behind[step] and step.kind in TO_LEAVE
            cut = trip if on_purpose else step
            return str(cut.kind), cut.op, cut.where
        for each in step.before:
            if each not in behind:
                behind[each] = behind[step] and each in step.inputs
                waiting.append(each)
    return str(trip.kind), trip.op, trip.where
