"""Every update gets the same samples, although the loop draws anew each time."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.rules.rule import Finding, Proof, rule
from whygrad.doctor.source.drawing import begins_anew_at
from whygrad.recording.calls import Produced, members
from whygrad.recording.record import Course

__all__: list[str] = []


@rule(
    thresholds={
        "looks": (6, "updates that were looked at closely: fewer may be the same by chance"),
        "updates": (20, "fewer are a try-out"),
    },
)
def same_batch(case: Case, course: Course) -> Iterator[Finding]:
    """Every update is made with the same batch.

    A seed that is set inside the loop, or a loader that is begun anew for each step, gives the same
    samples every time: the model learns one batch by heart, and never sees the others.

    Measured: Marks of the samples at all updates that were looked at, and the line of the loop that
    begins anew.
    Fix: Set the seed once, before the loop; go through the loader: for x, y in loader.
    Guardrail: assert not torch.equal(batch, previous)
    """
    looked = [step.sample.rows for step in course.steps if step.sample and step.sample.rows]
    if len(looked) < case.limit("looks") or len(course.steps) < case.limit("updates"):
        return
    if len(looked[0]) < 2 or any(rows != looked[0] for rows in looked):
        return
    lines = [step.passes[-1].where for step in course.steps[:1] if step.passes]
    where = next((found for each in lines if (found := begins_anew_at(each)) is not None), None)
    if where is None or _is_one_tensor(course):
        return  # a single batch may be all there is
    yield same_batch.finding(
        f"at {len(looked)} updates, from the first to the last of {len(course.steps)}, the model "
        f"was given the same {len(looked[0])} samples in the same order",
        where=where,
        proof=Proof.RECORDED,
        remedy="other batches were never seen, so there are none to train with",
    )


def _is_one_tensor(course: Course) -> bool:
    """Whether the model is given the very same tensor: nothing was drawn."""
    given = [
        [*members(mark.inputs)][:1]
        for step in (course.first, course.last)
        for mark in ([] if step is None else step.marks[:1])
    ]
    tensors = [each[0] for each in given if each and type(each[0]) is not Produced]
    return len(tensors) > 1 and tensors[0] is tensors[-1]
