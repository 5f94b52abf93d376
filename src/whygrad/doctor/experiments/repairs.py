"""Experiments with a repaired model: other initial weights, another activation.

A rule that blames the initial weights trains the recorded step again from ordinary ones; a rule
that blames an activation puts another in its place.  Both arms get the same batch, the same
optimizer and the same number of updates, so what differs at the end is owed to the repair.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from whygrad.doctor.evidence.anatomy import Layer
from whygrad.doctor.evidence.case import Case
from whygrad.ops.families import DROPOUTS
from whygrad.recording.record import Course, Snapshot
from whygrad.recording.replay.reading import Reading
from whygrad.recording.replay.recipes import Wrapper, passed_on, swapped, tensor_like
from whygrad.recording.replay.trainer import Descent, is_below
from whygrad.recording.replay.trial import Trial

__all__ = [
    "Arms",
    "fresh_weights",
    "level",
    "repair",
    "unlearned",
    "without_dropout",
]

_STEPS = (100, 300)  # of an experiment, where the run was as long; the longer if it takes that
Values = Mapping[int, Any]


def level(case: Case, course: Course) -> float | None:
    """The loss that ignoring the input would cost, on the batch of the first step."""
    return case.chance(course.first)


def unlearned(case: Case, course: Course, part: float) -> bool:
    """Whether the run ended above this part of what ignoring the input costs.

    Where that cost is not known, the loss has to be above the same part of its beginning.
    """
    progress = case.progress(course)
    if progress.broken or not math.isfinite(progress.end):
        return False
    reference = level(case, course)
    if reference is None or reference <= 0:
        reference = progress.start
    end = progress.latest if math.isfinite(progress.latest) else progress.end
    return min(end, progress.end) > part * reference > 0


def fresh_weights(snapshot: Snapshot, layers: list[Layer], gain: float) -> dict[int, Any]:
    """Ordinary initial weights for these layers: normal, of variance ``gain²`` over the fan-in."""
    random = np.random.default_rng(0)
    found: dict[int, Any] = {}
    for layer in layers:
        array = snapshot.engine.array(snapshot.values[layer.name])
        drawn = random.standard_normal(array.shape) * gain / math.sqrt(layer.fan_in)
        found[layer.name] = tensor_like(snapshot.engine, drawn.astype(array.dtype))
    return found


def without_dropout(snapshot: Snapshot) -> Snapshot:
    """A replay drops the same units each time: a mask by which a model can tell samples apart."""
    drops = [number for number, call in snapshot.calls.items() if call.op in DROPOUTS]
    return swapped(snapshot, dict.fromkeys(drops, passed_on)) if drops else snapshot


@dataclass(frozen=True)
class Arms:
    """The same training twice."""

    as_it_was: Descent
    repaired: Descent
    reached: float  # where the run itself ended, on the same batch if that is known

    def helps(self, factor: float) -> bool:
        """Whether the repair brings the loss below this part of what is reached without it."""
        return is_below(self.repaired.end, factor, min(self.as_it_was.end, self.reached))

    def reaches(self, factor: float) -> int:
        """The number of updates after which the repaired training is that far down."""
        limit = min(factor * min(self.as_it_was.end, self.reached), 0.6 * self.repaired.start)
        found = (place for place, loss in enumerate(self.repaired.losses) if loss <= limit)
        return next(found, len(self.repaired.losses) - 1)

    def told(self, repair: str) -> str:
        one, other = self.as_it_was, self.repaired
        return (
            f"{len(other.losses) - 1} updates on one batch: loss {one.start:.4g} → {one.end:.4g} "
            f"as it was, {other.start:.4g} → {other.end:.4g} {repair}"
        )


def repair(
    case: Case,
    course: Course,
    snapshot: Snapshot,
    factor: float,
    *,
    start: Values | None = None,
    repaired: Snapshot | None = None,
) -> Arms | None:
    """Train on the step as it was, and from other initial values or in its repaired form.

    None unless the repair brings the loss below ``factor`` times what is reached without it; also
    if the replay does not reproduce the loss, the optimizer has no copy or the budget is spent.
    """
    trial = case.trial(course, snapshot)
    if trial is None:
        return None
    plain = without_dropout(snapshot)
    if plain is not snapshot:  # otherwise what other rules have tried need not be tried again
        trial = Trial(course, plain, case.budget)
    progress = case.progress(course)
    ends = [each for each in (progress.latest, progress.end) if math.isfinite(each)]
    other = Trial(course, without_dropout(repaired or snapshot), case.budget)
    for steps in sorted({min(each, len(course.steps)) for each in _STEPS}):
        better = other.descend(steps=steps, start=start)
        as_it_was = None if better is None else trial.descend(steps=steps)
        if better is None or as_it_was is None:
            return None
        arms = Arms(as_it_was, better, ends[0] if ends else math.inf)
        if arms.helps(factor):
            learns = _is_about_the_task(case, course, snapshot, other, arms, factor, start)
            return arms if learns else None
    return None


def _is_about_the_task(
    case: Case,
    course: Course,
    snapshot: Snapshot,
    trial: Trial,
    arms: Arms,
    factor: float,
    start: Values | None,
) -> bool:
    """Whether the repair learns something, or merely knows one small batch by heart.

    The control: the same training with the targets dealt out at random.  A model that gets down as
    fast on those has learned nothing about the inputs.  Where each step has the same batch, knowing
    it by heart is the task.
    """
    first, later = case.reading(course.first), case.reading(course.last)
    reading = case.reading(snapshot)  # whose calls have the numbers that are looked for
    if first is None or later is None or reading is None:
        return True
    if any(each.target is None for each in (first, later, reading)) or reading.meeting is None:
        return True
    if _same_batch(first, later):
        return True
    ignorant = level(case, course)
    if ignorant is not None and arms.reached > 1.5 * ignorant:
        return True  # worse than ignoring the input: no want of information explains that
    if is_below(arms.as_it_was.end, 0.5, arms.reached):
        return False  # as it is, it can learn a batch by heart as well
    target = reading.target
    place = next((at for at, each in enumerate(reading.meeting.args) if each is target), None)
    if place is None or not target.ndim or target.shape[0] < 2:
        return True
    order = np.random.default_rng(0).permutation(target.shape[0]).tolist()
    dealt = swapped(trial.snapshot, {reading.meeting.number: _dealing(place, order)})
    steps = max(1, arms.reaches(factor))
    control = Trial(course, dealt, case.budget).descend(steps=steps, start=start)
    return control is not None and control.losses[-1] > 1.3 * arms.repaired.losses[steps]


def _same_batch(reading: Reading, later: Reading) -> bool:
    one, other = reading.trace.array(reading.target), later.trace.array(later.target)
    return one.shape == other.shape and bool(np.array_equal(one, other))


def _dealing(place: int, order: list[int]) -> Wrapper:
    def wrapper(inner: Callable[..., Any]) -> Callable[..., Any]:
        def dealt(*given: Any, **named: Any) -> Any:
            changed = list(given)
            changed[place] = changed[place][order]
            return inner(*changed, **named)

        return dealt

    return wrapper
