"""A loss that is added up over the batch, with a learning rate for its mean."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.rules.rule import Finding, Proof, rule
from whygrad.ops.families import ADD, CLASS_LOSSES, LOSSES, NEG, RESHAPING, SUM
from whygrad.recording.record import Course
from whygrad.recording.replay import Traced
from whygrad.recording.replay.optimizers import rate_of
from whygrad.recording.replay.reading import Reading, reduction_of

__all__ = ["sum_reduction"]


@rule(
    every_course=True,
    thresholds={
        "learned": (0.2, "of the loss: a run that falls by more is left alone"),
        "progress": (0.02, "of the loss that must fall with the mean"),
        "elements": (8, "fewer make little difference"),
    },
)
def sum_reduction(case: Case, course: Course) -> Iterator[Finding]:
    """The loss is a sum, the learning rate is one for a mean.

    With reduction='sum' the gradient is as many times larger as there are elements in the
    batch, and the steps with it. A rate that suits a mean overshoots. The right rate also
    changes with the batch size.

    Measured: The loss is a sum over the batch; from the first state, the program's rate
    diverges, and the same rate divided by the number of elements lowers the loss smoothly.
    Fix: Use the mean: reduction='mean', or divide the loss by the number of elements.
    Guardrail: loss = criterion(prediction, target) / target.numel()
    """
    # Adam and its kind divide the scale of the gradient out again.
    if course.optimizer.kind not in ("SGD", "by hand", "ASGD"):
        return
    if not case.progress(course).suffers(case.limit("learned")):
        return
    reading = case.reading(course.first)
    summed = None if reading is None else _summing(reading)
    if summed is None:
        return
    call, count = summed
    own = case.descend(course, course.first)
    mean = case.descend(course, course.first, 1.0 / count)
    if count < case.limit("elements") or own is None or mean is None:
        return
    if own.is_unstable and mean.is_calm(case.limit("progress")):
        rate = rate_of(course)
        yield sum_reduction.finding(
            f"the loss adds up {count} elements",
            f"with lr={rate:g} it goes {own}; divided by {count} it goes {mean}",
            where=call.where,
            proof=Proof.TRIED,
            fix=f"reduction='mean', or divide the loss by {count}: with the sum, lr={rate:g} "
            f"acts like lr={rate * count:g}.",
            places=[("the rate", course.optimizer.made_at)],
        )


def _summing(reading: Reading) -> tuple[Traced, int] | None:
    """The call that adds up the loss, and how many elements it adds; None if that is scaled."""
    trace = reading.trace
    call = trace.root
    while call is not None:
        if call.op in LOSSES:
            given = call.inputs[0]
            whole = trace.array(call.outputs[0]).size == 1
            if reduction_of(call) != "sum" or not whole:
                return None
            target = reading.target
            by_sample = call.op in CLASS_LOSSES and target is not None
            return call, trace.array(target if by_sample else given).size
        if call.op in SUM:
            return call, trace.array(call.inputs[0]).size
        if call.op not in ADD | NEG | RESHAPING:
            return None
        call = next((made for each in call.sources if (made := trace.made_by(each))), None)
    return None
