"""Training samples that a training has not seen: overfitting, or samples of another kind?

A model that is bad on other samples may have learned its own by heart, or the others may have been
prepared in another way.  A rehearsal decides: a short training from the first state on some of the
kept batches, judged by others of them, which are new to it and of the same kind as what it learned.
"""

from __future__ import annotations

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.experiments.rehearsal import Stage, stage_of
from whygrad.recording.ranges import row_marks
from whygrad.recording.record import Course, Snapshot

__all__ = ["has_unseen", "loss_of_unseen"]

_SHARED = 1 / 3  # of the samples that are to be new, and were in what was trained on


def loss_of_unseen(case: Case, course: Course) -> tuple[Stage, float] | None:
    """The loss of training samples that a short training has not seen; None if that is not known.

    Where samples come again in other batches there are none that are new.
    """
    stage = stage_of(case, course)
    if stage is None or not has_unseen(case, stage):
        return None
    control = stage.as_it_was()
    return None if control is None else (stage, control.held_out)


def has_unseen(case: Case, stage: Stage) -> bool:
    """Whether the batches that are held out have samples that are in none of the others."""
    if stage.trained is stage.held_out:
        return False
    trained, others = (
        {mark for each in steps for mark in _rows(case, each)}
        for steps in (stage.trained, stage.held_out)
    )
    return bool(others) and len(trained & others) <= _SHARED * len(others)


def _rows(case: Case, snapshot: Snapshot) -> list[int]:
    """Marks of the samples of a step: of the first tensor that it was given, row by row."""
    trace = case.trace(snapshot)
    if trace is None:
        return []
    for call in trace.calls:
        for given, source in zip(call.inputs, call.sources):
            if source is None and not given.requires_grad and given.ndim:
                return row_marks(trace.array(given), most=len(given))
    return []
