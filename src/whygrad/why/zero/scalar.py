"""``Value`` graphs as the walk sees them: one number per edge, times its slope."""

from __future__ import annotations

from typing import Any

import numpy as np

from whygrad.scalar import Value
from whygrad.why.names import Names
from whygrad.why.zero.causes import BlockedEdge
from whygrad.why.zero.report import ZeroReport
from whygrad.why.zero.walk import Event, Passage, WalkedEdge, ZeroWalk

__all__ = ["op_name", "report"]

_NAMES = {"*": "mul", "**": "pow", "+": "add", "-": "sub", "/": "div", "max": "maximum",
          "min": "minimum"}  # fmt: skip


def op_name(op: str) -> str:
    """The name that tensors have for an op of Values."""
    return _NAMES.get(op, op)


class _ValueEdge(WalkedEdge):
    def __init__(self, *, slope: float, **facts: Any) -> None:
        super().__init__(**facts)
        self.slope = slope

    def pull(self, probes: list[Any]) -> Any:
        return self.pull_opposite(probes[0])

    def pull_opposite(self, probe: Any) -> Any:
        return np.asarray(self.slope * float(probe))


class _Values:
    """The part of a graph between a root and the Value that was asked about."""

    def __init__(self, root: Value, target: Value) -> None:
        found = {root}
        nodes = [root]
        for node in nodes:  # grows while it is walked
            for parent in node._prev:
                if parent not in found:
                    found.add(parent)
                    nodes.append(parent)
        self.useful = {target}
        for node in sorted(nodes, key=lambda each: each._order):
            if any(parent in self.useful for parent in node._prev):
                self.useful.add(node)

    def rank(self, node: Value) -> int:
        return -node._order

    def outputs(self, node: Value) -> int:
        return 1

    def run(self, node: Value, incoming: list[Any]) -> list[WalkedEdge]:
        edges: list[WalkedEdge] = []
        for position, (parent, slope) in enumerate(zip(node._prev, node._slopes, strict=True)):
            if parent in self.useful:
                edge = _ValueEdge(
                    node=node,
                    source=parent,
                    slot=0,
                    op=op_name(node._op),
                    argument="ab"[position] if len(node._prev) > 1 else "",
                    where=node.where,
                    incoming=incoming,
                    contribution=np.asarray(slope * float(incoming[0])),
                    slope=slope,
                )
                edges.append(edge)
        return edges


def report(x: Value, loss: Value, tolerance: float) -> ZeroReport:
    """What is to be said about the gradient of one Value."""
    names = Names()
    graph = _Values(loss, x)
    walk = None
    if loss in graph.useful:
        walk = ZeroWalk(graph, (loss, 0), np.asarray(1.0), (x, 0))

    def blocked(found: Event | Passage) -> BlockedEdge:
        edge = found.edge
        assert edge is not None
        named = {}
        if len(edge.node._prev) > 1:
            named = {"ab"[place]: each.data for place, each in enumerate(edge.node._prev)}
        others = {
            "ab"[position]: names.of_value(each)
            for position, each in enumerate(edge.node._prev)
            if len(edge.node._prev) > 1 and "ab"[position] != edge.argument
        }
        return BlockedEdge(
            edge.op,
            edge.argument,
            np.ones((), bool),
            {"y": edge.node.data, **named},
            edge.source.data,
            others,
            np.dtype(np.float64),
        )

    return ZeroReport(
        names.of_value(x),
        names.of_value(loss),
        walk,
        blocked,
        tolerance,
        grad_may_be_none=False,
    )
