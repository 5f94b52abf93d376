"""A backward pass over Values as a flow.

A ``Value`` keeps its slopes, so nothing has to be run again: gradients are added up beside the
graph, in the order in which ``backward()`` would, and no ``grad`` changes.
"""

from __future__ import annotations

from whygrad.scalar import Value
from whygrad.why.flow import Box, Edge, Flow
from whygrad.why.names import Names

__all__ = ["flow_of_values"]


def flow_of_values(root: Value, target: Value, seed: float, names: Names) -> Flow | None:
    """What lies between ``root`` and ``target``, with its direct inputs; None if nothing does."""
    youngest_first = _everything_behind(root)
    gradients = dict.fromkeys(youngest_first, 0.0)
    gradients[root] = seed
    for value in youngest_first:
        for parent, slope in zip(value._prev, value._slopes):
            gradients[parent] += slope * gradients[value]
    if target not in gradients:
        return None
    leading = {target}
    boxes: dict[Value, Box] = {}

    def box(value: Value) -> Box:
        if value not in boxes:
            boxes[value] = Box(
                names.of_value(value),
                value._op or None,
                value.where,
                value._order,
                value=value.data,
                gradient=gradients[value],
            )
        return boxes[value]

    box(target)
    for value in reversed(youngest_first):
        if value is target or not any(parent in leading for parent in value._prev):
            continue
        leading.add(value)
        for position, (parent, slope) in enumerate(zip(value._prev, value._slopes)):
            sent = slope * gradients[value]
            Edge(box(value), box(parent), position, contribution=sent, slope=slope).link()
    ordered = sorted(boxes.values(), key=lambda each: each.order)
    return Flow("value", boxes[root], ordered, boxes[target])


def _everything_behind(root: Value) -> list[Value]:
    found = {root}
    stack = [root]
    while stack:
        for parent in stack.pop()._prev:
            if parent not in found:
                found.add(parent)
                stack.append(parent)
    return sorted(found, key=lambda each: each._order, reverse=True)
