"""Which elements of an op's output one element of its input answers for.

A rule is linear in the gradient that comes in: the contribution to element i is the sum over the
outputs o of incoming[o] · ∂out[o]/∂in[i].  Rules can run on tensors, so the slopes are found by
differentiating what the rule returns for i with respect to what came in: one step back through the
rule, whatever the op is.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from whygrad.autograd.arrivals import Target
from whygrad.autograd.engine import Walk
from whygrad.autograd.saving.values import as_tensors
from whygrad.dispatch import quiet
from whygrad.dispatch.interception import not_intercepting
from whygrad.ops.namespace import raw, recorded
from whygrad.source import caller
from whygrad.tensor import Tensor, modes, wrap
from whygrad.tensor.graph.node import Node
from whygrad.why.contributions import Term, Terms
from whygrad.why.sources.recording import Step, dense

__all__ = ["largest_terms", "terms_of"]

_MOST = 4
_ROUNDING = 1e-2  # of half precision, summed up


def terms_of(step: Step, position: int, index: tuple[int, ...]) -> Terms | None:
    """The terms of element ``index`` of argument ``position``; None if they cannot be told."""
    if step.node.plan.op.kind == "custom":
        return None  # somebody's backward is not to be run twice
    if not isinstance(step.incoming, (np.ndarray, np.generic)) or step.incoming.dtype.kind == "c":
        return None
    incoming = np.asarray(step.incoming)
    slopes = _slopes(step, position, index)
    if slopes is None:
        return None
    terms = largest_terms(incoming, slopes)
    with np.errstate(all="ignore"):
        size = float(np.abs(incoming.astype(np.float64) * slopes).sum())
    whole = float(dense(step.sent[position])[index])
    # a rule that is not linear has no such terms: better none than wrong ones
    return terms if abs(terms.sum - whole) <= _ROUNDING * size else None


def _slopes(step: Step, position: int, index: tuple[int, ...]) -> Any:
    leaf = wrap(np.array(step.incoming)).requires_grad_()
    with modes.inference_mode(False), modes.enable_grad(), not_intercepting():
        element = _OneStep().results(step.node, leaf, step.values)[position][index]
        if not element.requires_grad:
            return None
        slopes = Target(leaf)
        back = Walk(False, False, caller(), raw, [slopes])
        back.begin(element, np.ones((), element._array.dtype))
        quiet.run(back.run)
        back.finish()
    return None if slopes.gradient is None else slopes.gradient._array


class _OneStep(Walk):
    """Runs the rules of one node on tensors, so that they are recorded."""

    def __init__(self) -> None:
        super().__init__(True, True, caller(), recorded, None)

    def results(self, node: Node, incoming: Tensor, values: tuple[Any, ...]) -> list[Any]:
        self.outbox = [None] * node.plan.arity
        self.run_rules(node, incoming, as_tensors(node, values))
        return self.outbox


def largest_terms(incoming: Any, slopes: Any) -> Terms:
    """The terms of one element: what came in, times the slopes."""
    with np.errstate(all="ignore"):
        products = (incoming.astype(np.float64) * slopes).ravel()
    slopes = slopes.ravel()
    involved = np.flatnonzero(slopes)
    order = involved[np.argsort(-np.abs(products[involved]), kind="stable")]
    shown = tuple(
        Term(
            tuple(int(axis) for axis in np.unravel_index(place, incoming.shape)),
            incoming.flat[place].item(),
            slopes[place].item(),
        )
        for place in order[:_MOST]
    )
    return Terms(shown, len(order), incoming.size, float(products[order[_MOST:]].sum()))
