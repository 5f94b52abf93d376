"""Probabilities that go down where the answer is yes: an overlap that is made small."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.evidence.progress import is_entangled
from whygrad.doctor.rules.rule import Finding, Proof, rule
from whygrad.ops.families import DIV, SIGMOID, SOFTMAX
from whygrad.recording.ranges import Array
from whygrad.recording.record import Course, Snapshot
from whygrad.recording.replay.reading import Reading
from whygrad.recording.replay.recipes import swapped

__all__: list[str] = []


@rule(
    thresholds={
        "updates": (10, "fewer may be a bad start"),
        "pushed": (0.95, "of the answers that are yes, whose probability the loss drives down"),
        "held": (0.5, "of the answers that are no: those may go down as well"),
        "lower": (0.5, "of the mean probability of a yes, that is left of it at the end"),
    },
)
def opposite_answers(case: Case, course: Course) -> Iterator[Finding]:
    """The loss drives probabilities away from their targets.

    A Dice or overlap coefficient is a thing to be made large. Handed
    to backward() as it is, it is made small: the model learns to say no where the answer is yes.

    Measured: Probabilities that meet targets of zero and one in a quotient of what they have in
    common and what there is of both: the direction in which the loss pushes those whose answer is
    yes, at the first and the latest step, and what became of them.
    Fix: Minimise one minus the coefficient: loss = 1 - dice.
    Guardrail: assert (grad_of_output * target).sum() <= 0
    """
    first, last = case.reading(course.first), case.reading(course.last)
    if first is None or last is None or len(course.steps) < case.limit("updates"):
        return
    if is_entangled(course, case.courses) or first.trace.snapshot is last.trace.snapshot:
        return
    attacked = first.models and all(each.module is None for each in course.parameters)
    if attacked or not _is_overlap(first):
        return  # an input that is to mislead a model, or probabilities that are to be low
    begun, ended = _pushed(case, first), _pushed(case, last)
    if begun is None or ended is None:
        return
    if ended[1] > case.limit("lower") * begun[1]:
        return
    root, meeting = first.trace.root, first.meeting
    yield opposite_answers.finding(
        f"the loss pushes {begun[0]:.0%} of the probabilities down whose target is one, at the "
        f"latest recorded step {ended[0]:.0%}",
        f"their mean went from {begun[1]:.3g} to {ended[1]:.3g} while the loss fell from "
        f"{first.trace.loss:.4g} to {last.trace.loss:.4g}",
        where=None if root is None else root.where,
        proof=Proof.REPLAYED,
        places=[("prediction and target meet here", meeting and meeting.where)],
    )


def _is_overlap(reading: Reading) -> bool:
    """Whether what prediction and target have in common is divided by how much there is of both."""
    trace, meeting = reading.trace, reading.meeting
    root = trace.root
    if meeting is None or root is None:
        return False
    behind = trace.ancestors(root) | {root.number}
    sources = trace.ancestors(meeting)
    for call in trace.calls:
        if call.op not in DIV or call.number not in behind or len(call.inputs) < 2:
            continue
        over, under = (trace.made_by(each) for each in call.sources[:2])
        if over is None or under is None or not trace.descends(over, meeting):
            continue
        if sources & (trace.ancestors(under) | {under.number}):
            return True
    return False


def _pushed(case: Case, reading: Reading) -> tuple[float, float] | None:
    """The share of the yeses that are driven down, and their mean probability; None if few are."""
    source, target = reading.prediction_source, reading.target
    made = reading.trace.made_by(source)
    while made is not None and made.op not in SIGMOID | SOFTMAX and len(made.inputs) == 1:
        made = reading.trace.made_by(made.sources[0])
    if made is None or made.op not in SIGMOID | SOFTMAX or target is None:
        return None
    answers = reading.trace.array(target)
    found = _sloped(case, reading.trace.snapshot, made.number)
    if found is None or found[0].size != answers.size:
        return None
    values, slopes = found
    yes = answers.reshape(-1) == 1
    if yes.all() or not yes.any() or not np.isin(answers, (0, 1)).all():
        return None
    pushed = slopes.reshape(-1) > 0  # down is where the gradient points up
    down, others = float(pushed[yes].mean()), float(pushed[~yes].mean())
    if down < case.limit("pushed") or others > case.limit("held"):
        return None
    return down, float(values.reshape(-1)[yes].mean())


def _sloped(case: Case, snapshot: Snapshot, call: int) -> tuple[Array, Array] | None:
    """The result of a call of a step, and the gradient that arrives there."""
    engine, results, arrived = snapshot.engine, [], []

    def wrapper(inner: Callable[..., Any]) -> Callable[..., Any]:
        def seen(*args: Any, **named: Any) -> Any:
            result = inner(*args, **named)
            results.append(engine.array(result))
            result.register_hook(lambda gradient: arrived.append(engine.array(gradient)))
            return result

        return seen

    case.budget.replay(swapped(snapshot, {call: wrapper}), look=False)
    return (results[0], arrived[0]) if results and arrived else None
