"""Where the NaN in a graph of Values came from."""

from __future__ import annotations

from math import isfinite, isnan
from typing import Any

import numpy as np

from whygrad.autograd.anomaly_mode.examination import examined, found
from whygrad.autograd.anomaly_mode.findings import Finding, Trail, merged
from whygrad.ops.define import table
from whygrad.ops.families import ADD, BOUNDS, MUL, SUB
from whygrad.scalar import Value
from whygrad.why.answer import NOTHING_WRONG, Answer
from whygrad.why.names import Names
from whygrad.why.nan.answers import answer_from
from whygrad.why.zero.scalar import op_name

__all__ = ["of_value"]


def of_value(loss: Value) -> Answer:
    """Who made the first number that is not finite, forward or backward."""
    names = Names()
    name = names.of_value(loss)
    question = f"why_nan({name})"
    nodes = _oldest_first(loss)
    if not isfinite(loss.data):
        trail = _forward(nodes, names)[loss]
        return answer_from(trail, question, f"it reached {name}, which is {loss.data}")
    found = _backward(nodes, loss)
    if found is not None:
        trail, leaf = found
        of = names.of_value(leaf)
        return answer_from(trail, question, f"it reached the gradient of {of}")
    return Answer(
        question,
        NOTHING_WRONG,
        f"nothing wrong: {name} and every gradient of it are finite ({name} = {loss.data:.4g})",
    )


def _oldest_first(root: Value) -> list[Value]:
    found, nodes = {root}, [root]
    for node in nodes:  # grows while it is walked
        for parent in node._prev:
            if parent not in found:
                found.add(parent)
                nodes.append(parent)
    return sorted(nodes, key=lambda each: each._order)


def _kind(number: float) -> Any:
    return "nan" if isnan(number) else "inf"


def _forward(nodes: list[Value], names: Names) -> dict[Value, Trail]:
    trails: dict[Value, Trail] = {}
    for node in nodes:
        if isfinite(node.data):
            continue
        kind = _kind(node.data)
        sources = [trails[each] for each in node._prev if each in trails]
        if not sources and (not node._prev or _holds_constant(node)):
            name = names.of_value(node)
            writer = f"the number in {name}" if node._prev else f"the data of {name}"
            finding = found(np.asarray(node.data), kind, writer=writer, where=node.where)
            trails[node] = Trail(kind, (finding,))
        else:
            trails[node], _ = examined(
                table[op_name(node._op)],
                np.asarray(node.data),
                kind,
                {name: np.asarray(each) for name, each in _inputs(node).items()},
                sources,
                where=node.where,
                call=_call(node),
            )
    return trails


def _holds_constant(node: Value) -> bool:
    """Whether a plain number beside a finite Value must be what is not finite."""
    op = op_name(node._op)
    if len(table[op].tensor_names) != 2 or len(node._prev) > 1:
        return False
    (source,), (slope,) = node._prev, node._slopes
    if op in ADD | SUB:
        return isnan(node.data) or abs(source.data) < 1e307
    return op in BOUNDS or (op in MUL and not isfinite(float(slope)))


def _inputs(node: Value) -> dict[str, float]:
    named = table[op_name(node._op)].tensor_names
    return {name: each.data for name, each in zip(named, node._prev, strict=False)}


def _call(node: Value) -> str:
    inputs = ", ".join(f"{name}={value:.4g}" for name, value in _inputs(node).items())
    return f"{op_name(node._op)}({inputs})"


def _returned(node: Value, number: float, kind: Any, **details: Any) -> Finding:
    """A gradient that the rule of ``node`` made, and that is not finite."""
    op = table[op_name(node._op)]
    return found(np.asarray(number), kind, op=op, where=node.where, backward=True, **details)


def _backward(nodes: list[Value], root: Value) -> tuple[Trail, Value] | None:
    """The rule that made the first gradient that is not finite, if one reaches a leaf."""
    grads: dict[Value, float] = {root: 1.0}
    trails: dict[Value, Trail] = {}
    for node in reversed(nodes):
        incoming = grads[node]
        for position, (parent, slope) in enumerate(zip(node._prev, node._slopes, strict=True)):
            contribution = slope * incoming
            grads[parent] = grads.get(parent, 0.0) + contribution
            if not isfinite(contribution):
                kind = _kind(contribution)
                before = trails.get(node)
                finding = _returned(
                    node, contribution, kind, inputs={**_inputs(node), "y": node.data},
                    incoming=incoming, slopes=lambda _, slope=slope: [slope], position=position,
                    fed=None if before is None else "inf",
                )  # fmt: skip
                if before is None:
                    trail = Trail(kind, (finding,))
                else:
                    trail = merged([before], kind, finding if before.kind != kind else None)
                trails[parent] = (
                    merged([trails[parent], trail], kind) if parent in trails else trail
                )
            elif not isfinite(grads[parent]) and parent not in trails:
                kind = _kind(grads[parent])
                trails[parent] = Trail(kind, (_returned(node, grads[parent], kind, summed=True),))
    for node in nodes:
        if not node._prev and node in trails and not isfinite(grads[node]):
            return trails[node], node
    return None
