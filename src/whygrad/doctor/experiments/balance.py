"""Terms of a loss that are weighed otherwise: what comes of each in a short training.

The training is that of :mod:`.rehearsal`, from the first state on the batches that were kept, once
with the factors of the program and once with one of them changed.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.evidence.loss.terms import terms_of
from whygrad.doctor.experiments.rehearsal import Stage, Values, stage_of
from whygrad.recording.record import Course
from whygrad.recording.replay import Trace
from whygrad.recording.replay.trainer import Objective, train

__all__ = ["Balance", "balanced"]


@dataclass(frozen=True)
class Balance:
    """Two short trainings from the first state: as it was, and with one factor changed."""

    first: list[float]  # the terms, by themselves, on batches that were held out
    reached: list[float]  # at the end of the run
    control: list[float]  # at the end of the training as it was
    changed: list[float]
    updates: int

    def undone(self, place: int) -> float:
        """What the run left of a term, as a part of what the change takes away of it."""
        done = self.first[place] - self.changed[place]
        left = min(self.reached[place], self.control[place]) - self.changed[place]
        return left / done if done > 0 else 0.0

    def lower(self, place: int) -> float:
        """What the change brings a term to, as a part of where it was without."""
        stood = min(self.reached[place], self.control[place])
        return self.changed[place] / stood if stood > 0 else math.inf

    def cost(self, place: int) -> float:
        """By how much another term is higher for it, as a part of its first value."""
        more = [
            (after - before) / abs(first) if first else math.inf
            for at, (first, before, after) in enumerate(zip(self.first, self.control, self.changed))
            if at != place
        ]
        return max(more, default=0.0)


def balanced(case: Case, course: Course, place: int, times: float) -> Balance | None:
    """What the terms come to with one of them ``times`` as heavy."""
    stage = stage_of(case, course)
    if stage is None or course.first is None or course.last is None:
        return None
    ends: list[list[float]] = []
    for factors in ({}, {place: times}):
        descent = train(
            stage.budget,
            course,
            stage.trained,
            steps=stage.steps,
            clip=stage.clip,
            objective=_reweighed(factors),
        )
        if descent is None or descent.diverges:
            return None
        ends.append(_levels(stage, descent.values))
    first, reached = (_levels(stage, each.values) for each in (course.first, course.last))
    rows = first, reached, *ends
    lost = not all(math.isfinite(value) for row in rows for value in row)
    if lost or len({len(row) for row in rows}) > 1:
        return None
    return Balance(first, reached, control=ends[0], changed=ends[1], updates=stage.steps)


def _reweighed(factors: Mapping[int, float]) -> Objective:
    def objective(trace: Trace) -> Any:
        return sum(
            each.made.outputs[0] * (each.factor * factors.get(place, 1.0))
            for place, each in enumerate(terms_of(trace))
        )

    return objective


def _levels(stage: Stage, values: Values) -> list[float]:
    """Each term by itself, as a mean over the batches that are held out."""
    rows = []
    for each in stage.held_out:
        trace = stage.budget.replay(each, values=values, backward=False)
        rows.append([term.value(trace) for term in terms_of(trace)])
    return [statistics.fmean(each) for each in zip(*rows)]
