"""Every update gets the same samples, although the loop draws anew each time."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.evidence.provenance import given_inputs, rows_of
from whygrad.doctor.rules.rule import Finding, Proof, rule
from whygrad.doctor.source.drawing import begins_anew_at, stands_still_at
from whygrad.recording.calls import Produced, members
from whygrad.recording.record import Course

__all__: list[str] = []


@rule(
    thresholds={
        "looks": (6, "updates that were looked at closely: fewer may be the same by chance"),
        "updates": (20, "fewer are a try-out"),
        "again": (0.5, "of the samples of a batch that the one before had as well"),
        "larger": (2, "times a batch, for the data that it is taken from"),
    },
)
def same_batch(case: Case, course: Course) -> Iterator[Finding]:
    """Every update is made with the same batch.

    A seed that is set inside the loop, a loader that is begun anew for each step, or a place that
    does not move on gives the same samples every time: the model learns one batch by heart, and
    never sees the others.

    Measured: Marks of the samples at all updates that were looked at, and the line of the loop that
    begins anew, or that takes a batch by a place which does not move as far as the batch is long.
    Fix: Set the seed once, before the loop; go through the loader: for x, y in loader.
    Guardrail: assert not torch.equal(batch, previous)
    """
    looked = [step.sample.rows for step in course.steps if step.sample and step.sample.rows]
    if len(looked) < case.limit("looks") or len(course.steps) < case.limit("updates"):
        return
    still = _stands_still(case, course)
    if still is not None:
        yield still
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


def _stands_still(case: Case, course: Course) -> Finding | None:
    """Batches that share most samples with the one before, by a place that stands still."""
    lines = [step.passes[-1].where for step in course.steps[:1] if step.passes]
    where = next((found for each in lines if (found := stands_still_at(each)) is not None), None)
    reading = case.reading(course.first)
    if where is None or reading is None:
        return None
    held = [rows_of(reading.trace, *each) for each in given_inputs(reading)]
    if not any(one and one.length >= case.limit("larger") * len(one.index) for one in held):
        return None
    looked = [(step.number, set(step.sample.rows)) for step in course.steps if step.sample]
    pairs = [
        len(one & other) / max(1, len(one))
        for (before, one), (after, other) in pairwise(looked)
        if after == before + 1
    ]
    if len(pairs) < case.limit("looks") or min(pairs) < case.limit("again"):
        return None
    return same_batch.finding(
        f"of {len(pairs)} batches that were looked at, each has {min(pairs):.0%} or more of the "
        "samples of the one before",
        where=where,
        proof=Proof.RECORDED,
        fix="Begin each batch where the last one ended: x[i : i + size], i in range(0, n, size).",
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
