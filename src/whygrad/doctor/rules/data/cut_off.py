"""Inputs that lost their values on the way: fractions that became whole numbers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.evidence.standing import batches_of
from whygrad.doctor.rules.rule import Finding, Proof, rule
from whygrad.doctor.source.casting import cut_to_whole
from whygrad.recording.record import Course

__all__: list[str] = []


@rule(
    thresholds={
        "same": (0.99, "of all values of the inputs that are one and the same"),
        "values": (64, "fewer say nothing"),
    },
)
def truncated_input(case: Case, course: Course) -> Iterator[Finding]:
    """The inputs were cut off to whole numbers, and little is left of them.

    Values that were brought between 0 and 1 and are then stored as whole numbers, or divided with
    //, are all 0: what told the samples apart is gone before the model sees them.

    Measured: How many values of the inputs in the kept batches are one and the same, all of them
    whole; and the text, where a quotient is turned into whole numbers.
    Fix: Keep fractions: x.astype(np.float32) / 255, not (x / 255).astype(np.uint8) or x // 255.
    Guardrail: assert x.std() > 0.01
    """
    known = batches_of(case, course)
    given = [each.trace.array(it) for each in known for it in each.inputs[:1]]
    files = [step.where.file for step in course.steps[:1] if step.where is not None]
    if not given or any(each.dtype.kind != "f" for each in given):
        return
    values = np.concatenate([each.ravel() for each in given])
    if values.size < case.limit("values") or not (values == np.round(values)).all():
        return
    kinds, counts = np.unique(values, return_counts=True)
    share = counts.max() / values.size
    if share < case.limit("same"):
        return
    for text, where in (each for file in files for each in cut_to_whole(file)):
        yield truncated_input.finding(
            f"{share:.1%} of {values.size} input values are {kinds[counts.argmax()]:g}, and all of "
            "them are whole numbers",
            f"`{text}` turns fractions into whole numbers",
            where=where,
            proof=Proof.INFERRED,
        )
        return
