"""Numbers that were not finite before the graph began: in a parameter, after an update went wrong.

No call of the graph has made them, whatever was kept of it.  What wrote them there stands before
the forward pass: a step of an optimizer whose gradient, or whose rate, was too large.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from whygrad.source import Where
from whygrad.why.answer import Answer, Section

__all__ = ["BadLeaf", "of_leaves"]

_FIX = (
    "look at the update before this pass: its loss, its gradients and its learning rate. "
    "If the loss had grown from step to step, the rate is too high"
)


class BadLeaf(NamedTuple):
    """A leaf with numbers that are not finite."""

    name: str
    kind: str
    values: np.ndarray[Any, Any]
    trained: bool  # whether it is a parameter, and no data
    writer: str | None = None  # what wrote to it last, if that is known …
    where: Where | None = None  # … and where


def of_leaves(question: str, name: str, kind: str, leaves: Sequence[BadLeaf]) -> Answer | None:
    """The answer for a loss whose graph begins with numbers that are not finite."""
    if not leaves:
        return None
    worst = [each for each in leaves if each.kind == "nan"] or list(leaves)
    first = next((each for each in worst if each.where is not None), worst[0])
    written = "" if first.writer is None else f"; {first.writer} wrote to it last"
    fix = "look at where it comes from: the graph got it so"
    return Answer(
        question,
        "given",
        f"{name} holds {kind} because {_told(first)} before the pass began{written}",
        first.where,
        _FIX if first.trained else fix,
        (Section("not finite from the start", tuple(_told(each) for each in leaves)),),
        {"leaves": [each.name for each in leaves], "kind": kind},
    )


def _told(leaf: BadLeaf) -> str:
    bad = int((~np.isfinite(leaf.values)).sum())
    return f"{leaf.name} held {leaf.kind} in {bad} of {leaf.values.size} elements"
