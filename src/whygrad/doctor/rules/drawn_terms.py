"""A term of the loss that judges what the model drew, and that gradients leave by another model.

A critic says what an action is worth, and the actor is to be changed so that it draws better ones.
If the draw has no history, the gradient of that term ends in the critic, whose optimizer does not
use it: for the actor the term is a constant.  A log-probability times what was paid is no such
term: it has a way to the parameters.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.evidence.cuts import Cut, Ways
from whygrad.doctor.rules.rule import Proof
from whygrad.doctor.rules.words import listed
from whygrad.ops import families as ops
from whygrad.recording.record import Course, Snapshot
from whygrad.recording.replay import Trace, Traced
from whygrad.source import Where

__all__ = ["drawn_term"]

Told = tuple[list[str], dict[str, Any]]  # the evidence, and the rest of a finding
_THROUGH = ops.NEG | ops.RESHAPING | ops.CASTS | ops.TOTALS


def drawn_term(case: Case, course: Course) -> Told | None:
    """What is told of a term without a way to what it was drawn from, at first and later."""
    found = [_term(case, course, each) for each in (course.first, course.last)]
    if found[0] is None or found[1] is None or found[0][1].where != found[1][1].where:
        return None
    line, cut = found[0]
    names = [each.name for each in course.parameters]
    return (
        [
            f"a term of the loss (line {line.line}) judges what is drawn at line "
            f"{cut.where.line} with numbers that {listed(names)} compute: of the draw only the "
            "value goes on",
            "the gradient of that term ends in another model, which is not updated by it; to the "
            f"parameters of {course.optimizer.kind} it has no way",
        ],
        {
            "where": cut.where,
            "proof": Proof.INFERRED,
            "parameters": names,
            "places": [("the term", line)],
            "fix": "Draw with rsample() instead of sample(), or draw the noise apart: "
            "mean + std * torch.randn_like(std). Then the term has a gradient for both.",
        },
    )


def _term(case: Case, course: Course, snapshot: Snapshot | None) -> tuple[Where, Cut] | None:
    """The line of such a term in a step, and the draw."""
    trace = case.trace(snapshot)
    if trace is None or not trace.reproduced or snapshot is None:
        return None
    ways = Ways(trace)
    updated = {id(each.tensor) for each in _updated_by(case, snapshot)}
    own = {id(each.tensor) for each in course.parameters if each.requires_grad}
    if not any(each.number in ways.live for each in ways.uses(own)):
        return None  # nothing has a way: that is told as such
    learning = {each.number for each in ways.uses(updated)}
    for term in _summands(trace):
        if learning & Ways(trace, term).live:
            continue
        for cut in ways.cuts(own, {term.number, *trace.ancestors(term)}):
            if cut.value is not None and _is_continuous(trace, cut.value):
                return term.where, cut
    return None


def _updated_by(case: Case, snapshot: Snapshot) -> Iterator[Any]:
    """The parameters of all optimizers that use the gradients of a step."""
    for course in case.courses:
        if any(each.number == snapshot.step for step in course.steps for each in step.passes):
            yield from course.parameters


def _summands(trace: Trace) -> Iterator[Traced]:
    """What is added up to the loss, for all samples or for each; factors are looked through."""
    waiting = [trace.root]
    for call in waiting:  # grows while it is walked
        if call is None or not call.outputs[0].requires_grad:
            continue
        learned = [
            source for given, source in zip(call.inputs, call.sources) if given.requires_grad
        ]
        scaled = call.op in ops.SCALINGS and len(learned) == 1
        if scaled or call.op in ops.SHIFTS or call.op in _THROUGH:
            waiting += [trace.made_by(source) for source in learned]
        else:
            yield call


def _is_continuous(trace: Trace, drawn: Any) -> bool:
    """Whether values were drawn that a small change of the distribution would move a little."""
    values = trace.array(drawn)
    return values.dtype.kind == "f" and bool((values != np.round(values)).any())
