"""How the value of one tensor reached another outside the graph.

Where :mod:`.lineage` notes the steps of values that left the graph, this reads them: from a loss
back to the places where constants entered its graph, along the steps to where they were cut off,
and whether that was computed from the tensor in question.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from whygrad.tensor.graph.lineage import step_of
from whygrad.tensor.graph.reach import reachable
from whygrad.tensor.graph.steps import Step

if TYPE_CHECKING:
    from whygrad.tensor import Tensor
    from whygrad.tensor.graph.node import Node

__all__ = ["Crossing", "crossings", "is_forgetful"]


class Crossing(NamedTuple):
    """One way around the graph: cut off, computed with, used again."""

    cut: Step  # where the value left the graph
    steps: tuple[Step, ...]  # the way from there on, the cut first
    entered: Node | None  # the recorded op (or leaf) that used it; None: the loss itself
    certain: bool  # False: a graph that is gone may or may not have had the tensor in it


def crossings(x: Node, loss: Tensor) -> list[Crossing]:
    """Every cut between what ``x`` made and ``loss``, certain ones first, nearest to x first."""
    found: dict[Step, Crossing] = {}
    for entered, start in _entries(loss):
        behind: dict[Step, Step | None] = {start: None}  # each step, and the one after it
        for step in _followed(behind):
            answers = [each.comes_from(x) for each in step.sources]
            if step.kind is None or not (True in answers or None in answers):
                continue
            known = found.get(step)
            if known is None or (True in answers and not known.certain):
                found[step] = Crossing(step, tuple(_way(step, behind)), entered, True in answers)
    return sorted(found.values(), key=lambda each: not each.certain)


def is_forgetful(loss: Tensor) -> bool:
    """Whether a constant in the graph of ``loss`` has a history that was too long to be kept."""
    for _, start in _entries(loss):
        if any(step.shortened for step in _followed({start: None})):
            return True
    return False


def _entries(loss: Tensor) -> Iterator[tuple[Node | None, Step]]:
    """Where constants with a lineage entered the graph of ``loss``, oldest node first."""
    if loss._node is None:
        step = step_of(loss)
        if step is not None:
            yield None, step
        return
    for node in sorted(reachable([loss._node]), key=lambda each: -each.order):
        if node._extras is not None and node._extras.cuts:
            for step in node._extras.cuts.values():
                yield node, step


def _followed(behind: dict[Step, Step | None]) -> Iterator[Step]:
    """The steps in ``behind`` and, entered there as they are found, the ones before them."""
    waiting = list(behind)
    for step in waiting:  # grows while it is walked
        yield step
        for each in step.before:
            if each not in behind:
                behind[each] = step
                waiting.append(each)


def _way(step: Step, after: dict[Step, Step | None]) -> Iterator[Step]:
    here: Step | None = step
    while here is not None:
        yield here
        here = after[here]
