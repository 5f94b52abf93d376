"""A run that is trained on from where it ended, with one thing changed.

What holds a run at a level shows there at once: without it the loss goes on falling, in far fewer
updates than a training from the first state takes to come so far.  Both arms begin with the latest
values, on the same batches, at the same rate; what they are worth is measured on batches with
samples that neither has seen since.
"""

from __future__ import annotations

from typing import Any

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.experiments.rehearsal import stage_of
from whygrad.doctor.experiments.unseen import has_unseen
from whygrad.recording.record import Course
from whygrad.recording.replay.trainer import is_below

__all__ = ["CONTINUED", "continued"]

# Thresholds of rules that go by it.
CONTINUED = {"freed": (0.6, "of the loss of the run, trained on without what may hold it there")}


def continued(case: Case, course: Course, change: str, **options: Any) -> str | None:
    """What came of training on with other ``options``, in words; None unless that decides."""
    stage = stage_of(case, course)
    if stage is None or course.last is None or not has_unseen(case, stage):
        return None
    begin = course.last.values
    free = stage.rehearse(start=begin, **options)
    held = None if free is None else stage.rehearse(start=begin)
    if free is None or held is None:
        return None
    level = min(stage.reached, stage.curve, held.held_out)
    if not is_below(free.held_out, case.limit("freed"), level):
        return None
    return (
        f"{free.updates} updates from the latest state, on {len(stage.trained)} of the kept "
        f"batches, {change}: loss {free.held_out:.4g} on batches left out of them; as it was "
        f"{held.held_out:.4g}; the run itself ended there at {stage.reached:.4g}"
    )
