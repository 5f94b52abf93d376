"""A target that is drawn at random, and of which the model is given nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.evidence.progress import is_entangled
from whygrad.doctor.experiments.repairs import unlearned
from whygrad.doctor.rules.rule import Finding, Proof, rule
from whygrad.ops import families as ops
from whygrad.recording.calls import Origin, Produced
from whygrad.recording.record import Course
from whygrad.recording.replay.reading import Reading
from whygrad.source import Where

__all__: list[str] = []


@rule(
    thresholds={
        "unlearned": (
            0.7,
            "of what ignoring the input costs, give or take a batch: nothing was learned",
        ),
        "centred": (0.5, "of their deviation that the mean of noise may be: labels lie elsewhere"),
    },
)
def unseen_target(case: Case, course: Course) -> Iterator[Finding]:
    """The target is noise that the model is not told of.

    A model that is to say which noise was added must be given what that noise was added to. Here
    the noise of the target is one draw, and the input was made with another, or with none: there is
    nothing from which the target could be known.

    Measured: The targets of the two latest recorded steps, which one line draws anew, and the
    calls behind the predictions: none of them takes it. The loss stays at what ignoring the input
    costs.
    Fix: Draw the noise once and use it twice: noise = torch.randn_like(x);
    loss = mse(model(x + noise), noise).
    Guardrail: assert (target * (noisy - clean)).mean() > 0
    """
    before = course.earlier or course.first
    if before is course.last or not unlearned(case, course, case.limit("unlearned")):
        return
    reading, later = case.reading(before), case.reading(course.last)
    if reading is None or later is None or reading.meeting is None:
        return
    # What a policy draws is compared with its own mean, to say how likely that was.
    if reading.meeting.op not in ops.DISTANCE_LOSSES or is_entangled(course, case.courses):
        return
    # What is there in both steps was computed before either target was drawn.
    lasting = _leaves(reading) & _leaves(later)
    lines = [_drawn_for_itself(case, each, lasting) for each in (reading, later)]
    if lines[0] is None or lines[0] != lines[1]:
        return
    yield unseen_target.finding(
        f"the target of {reading.meeting.op} at {reading.meeting.spot} is drawn at line "
        f"{lines[0].line}, anew in each step",
        "nothing that the prediction is computed from was computed with it",
        f"the loss ends at {case.progress(course).end:.4g}, no better than ignoring the input",
        where=lines[0],
        proof=Proof.RECORDED,
        places=[("compared here", reading.meeting.where)],
    )


def _leaves(reading: Reading) -> set[int]:
    """The ids of the tensors that no call of the step made."""
    return {id(it) for each in reading.trace.calls for it in each.kept if type(it) is not Produced}


def _drawn_for_itself(case: Case, reading: Reading, lasting: set[int]) -> Where | None:
    """Where the target was drawn, if the prediction is computed from other things alone."""
    trace, log, call = reading.trace, reading.trace.snapshot.log, reading.meeting
    made = trace.made_by(reading.prediction_source)
    if log is None or call is None or made is None or not trace.reproduced:
        return None
    target = next(
        (it for it, given in zip(call.kept, call.inputs) if given is reading.target), None
    )
    where = _drawn(trace.made_by(target) if type(target) is Produced else log.origin(target))
    if where is None or not _is_centred(case, reading):
        return None
    numbers = {made.number, *trace.ancestors(made)}
    calls = [each for each in trace.calls if each.number in numbers]
    if type(target) is Produced and target.call in numbers:
        return None
    leaves = [it for each in calls for it in each.kept if type(it) is not Produced]
    leaves = [it for it in leaves if isinstance(it, trace.engine.tensor)]
    origins = [log.origin(each) for each in leaves if id(each) not in lasting]
    if any(each is target for each in leaves) or any(map(_is_computed, origins)):
        return None
    own = {id(each) for each in trace.snapshot.leaves.values()}
    data = any(id(each) in lasting and id(each) not in own for each in leaves)
    # Where inputs are drawn anew as well, nobody expects anything to be learned.
    return where if data or any(_drawn(each) is None for each in origins) else None


def _drawn(origin: Any) -> Where | None:
    return origin.where if origin is not None and origin.op in ops.NOISE else None


def _is_computed(origin: Origin | None) -> bool:
    """Whether a value was computed before the step was recorded: from what, is not known."""
    return origin is not None and (origin.op in ops.ELEMENTWISE or bool(origin.learned))


def _is_centred(case: Case, reading: Reading) -> bool:
    values = reading.trace.array(reading.target)
    if values.dtype.kind != "f" or values.size < 2:
        return False
    return bool(abs(np.mean(values)) < case.limit("centred") * np.std(values))
