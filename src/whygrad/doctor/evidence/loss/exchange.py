"""What answers are worth that are exchanged among the samples.

Of a loss that somebody wrote the cost of guessing is not known.  But each sample can be given what
the model says of another: if that costs no more, the model says nothing about any of them.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.evidence.standing import batches_of
from whygrad.recording.calls import Produced
from whygrad.recording.record import Course
from whygrad.recording.replay.reading import Reading
from whygrad.recording.replay.recipes import swapped, tensor_like

__all__ = ["Exchanged", "exchanged"]

_SAMPLES = 8  # of a batch: of fewer, too many stay where they are
_MODELS = 4  # called in a step whose answers are exchanged, one after the other
_NOTHING = 1e-6  # of the loss: it does not ask which sample an answer belongs to


@dataclass(frozen=True)
class Exchanged:
    """The mean loss of the kept batches with the latest weights."""

    own: float
    others: float  # with each sample's answer given to another

    @property
    def lost(self) -> float:
        """By which part the loss rises."""
        return (self.others - self.own) / abs(self.own)


def exchanged(case: Case, course: Course) -> Exchanged | None:
    """None if no model's answers can be exchanged, or the loss does not ask whose they are."""
    known = batches_of(case, course)
    if not known or course.last is None:
        return None
    places = [len(_answers(each)) for each in known]
    count = min(places)
    if not count:
        return None
    own = statistics.fmean(_loss(case, course, each, None) for each in known)
    if not own > 0:
        return None
    found = [
        statistics.fmean(_loss(case, course, each, _answers(each)[place]) for each in known)
        for place in range(min(count, _MODELS))
    ]
    worst = max(found, key=lambda each: each if math.isfinite(each) else -math.inf)
    if not all(map(math.isfinite, (own, *found))) or abs(worst - own) <= _NOTHING * own:
        return None
    return Exchanged(own, worst)


def _answers(reading: Reading) -> list[Produced]:
    """What the models of a step returned, a row for each sample."""
    found = []
    for mark in reading.models:
        value = reading.trace.value(mark.outputs) if type(mark.outputs) is Produced else None
        made = reading.trace.made_by(mark.outputs) if value is not None else None
        if value is None or made is None or len(made.outputs) != 1 or not value.ndim:
            continue
        if value.requires_grad and value.shape[0] >= _SAMPLES:
            found.append(mark.outputs)
    return found


def _loss(case: Case, course: Course, reading: Reading, answer: Produced | None) -> float:
    """The loss of a step with the latest weights, perhaps with answers exchanged."""
    assert course.last is not None
    snapshot = reading.trace.snapshot
    if answer is not None:
        rows = int(reading.trace.value(answer).shape[0])
        order = np.roll(np.random.default_rng(0).permutation(rows), 1)
        taken = tensor_like(reading.trace.engine, order.astype(np.int64))
        snapshot = swapped(snapshot, {answer.call: _taken(taken)})
    found = case.budget.replay(snapshot, values=course.last.values, backward=False)
    return math.nan if found.error is not None else found.loss


def _taken(order: Any) -> Callable[..., Any]:
    return lambda inner: lambda *args, **named: inner(*args, **named)[order]
