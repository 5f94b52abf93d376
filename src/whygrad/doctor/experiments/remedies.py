"""A fix is tried before it is told.

A rule hands over its fix in words and, where that can be done within a step, as a :class:`Remedy`:
the step in another form, or trained in another way.  Once the verdict is known, the step is trained
both ways from the same state, on the same batch, by the same optimizer.  A fix may change what the
loss is; so both outcomes are measured with the loss as it is after the fix, and so is the
beginning.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from whygrad.doctor.evidence.case import Case
from whygrad.recording.record import Course, Snapshot
from whygrad.recording.replay.runner import is_same_loss
from whygrad.recording.replay.trainer import Descent, is_below
from whygrad.recording.replay.trial import Trial

__all__ = ["ELSEWHERE", "SHOWN", "Remedy", "Tried", "attempt"]

_UPDATES = (50, 20, 8)  # of a trial: as many of these as the budget has room for
_LOWER = 0.95  # of what is reached without it: so low a fix must get to count as a help
_LEAST = 0.01  # of the first loss: between two that are next to nothing there is no difference
_FALLING = 0.9  # of the first loss: below it the batch is being learned without the fix, too

ELSEWHERE = "it takes more than a change within a recorded training step"
SHOWN = ""  # in place of a remedy: the evidence has the trial already


@dataclass(frozen=True)
class Remedy:
    """A fix that the trainer can carry out."""

    snapshot: Snapshot | None  # the step that both trainings begin with
    repaired: Snapshot | None = None  # that step as it should be, unless it stays the same
    as_it_is: Mapping[str, Any] = field(default_factory=dict)  # the program's way to train it …
    mended: Mapping[str, Any] = field(default_factory=dict)  # … and the right one


@dataclass(frozen=True)
class Tried:
    """What came of a fix."""

    text: str
    helped: bool | None = None  # None: it was not tried, or does not show on a batch
    updates: int = 0
    start: float | None = None  # of the loss after the fix, as are the next two
    with_fix: float | None = None
    as_it_is: float | None = None


def attempt(case: Case, remedy: Remedy | str | None) -> Tried | None:
    """Train with the fix and without; None where the evidence tells of such a trial already."""
    if remedy == SHOWN:
        return None
    if remedy is None or isinstance(remedy, str):
        return Tried(f"not tried: {remedy or ELSEWHERE}")
    snapshot = remedy.snapshot
    course = _course_of(case, snapshot)
    trial = None if course is None else case.trial(course, snapshot)
    if course is None or snapshot is None or trial is None:
        return Tried("not tried: the step cannot be trained again faithfully")
    other = trial
    if remedy.repaired is not None:
        other = Trial(course, remedy.repaired, case.budget)
    start = other.loss(snapshot.values)
    for updates in _UPDATES:
        mended = other.train(steps=updates, **remedy.mended)
        if mended is None:
            continue
        lost = not math.isfinite(snapshot.value)  # there is nothing to train without the fix
        as_it_is = Descent([snapshot.value]) if lost else None
        as_it_is = as_it_is or trial.train(steps=updates, **remedy.as_it_is)
        if as_it_is is not None:
            return _outcome(snapshot, other, start, mended, as_it_is)
    if not case.budget.allows(other.snapshot, _UPDATES[-1]):
        return Tried("not tried: the examination had no time left for it")
    return Tried("not tried: the step cannot be trained again with it")


def _course_of(case: Case, snapshot: Snapshot | None) -> Course | None:
    """The course that a step belongs to; without any update, that of an optimizer at hand."""
    for course in case.run.courses:
        known = (course.first, course.earlier, course.last, course.bad)
        passes = (each.snapshot for step in course.steps[:1] for each in step.passes)
        if any(snapshot is each for each in (*known, *passes)):
            return course
    held = [each for each in case.run.courses if each.optimizer.thing is not None]
    return held[0] if len(held) == 1 else None


def _outcome(
    snapshot: Snapshot, other: Trial, start: float, mended: Descent, as_it_is: Descent
) -> Tried:
    same = is_same_loss(start, snapshot.value)  # else the fix changes what is measured
    after, before = mended.end, as_it_is.end
    if not math.isfinite(as_it_is.losses[-1]):
        before = math.nan
    elif not same:
        before = other.loss(as_it_is.values)
    steps = len(mended.losses) - 1
    batch = "the first batch" if snapshot.step == 0 else f"the batch of step {snapshot.step}"
    loss = "the loss" if same or not math.isfinite(snapshot.value) else "the loss, as repaired,"
    ends = [f"{each:.3g}" if math.isfinite(each) else "no number" for each in (after, before)]
    went = (
        f"{steps} update{'s' * (steps > 1)} on {batch} take{'s' * (steps == 1)} {loss} from "
        f"{start:.3g} to {ends[0]} with the fix, to {ends[1]} as it is"
    )
    helped = _helped(start, after, before)
    if helped is None and after < before:
        went = f"a single batch shows little of it: {went}"
    elif helped is None:
        went = f"a single batch does not show it: in {steps} updates that is learned either way"
    elif not math.isfinite(before) and after > start:
        went = f"with it the loss stays a number: {went}"
    elif not helped:
        went = f"it did not help there: {went}"
    return Tried(f"tried: {went}", helped, steps, start, after, before)


def _helped(start: float, after: float, before: float) -> bool | None:
    """Whether a training ends lower with the fix; None if the batch is learned either way."""
    if math.isfinite(after) and not math.isfinite(before):
        return True
    if not math.isfinite(after) or after > start:
        return False
    lower = is_below(after, _LOWER, before) and before - after > _LEAST * abs(start)
    if lower:
        return True
    little = before - after > _LEAST * abs(start)
    return None if little or is_below(before, _FALLING, start) else False
