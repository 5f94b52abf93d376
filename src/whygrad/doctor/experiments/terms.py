"""The terms of a loss, each with its factor, and what comes of it when they are weighed alike.

A loss that is a sum of several says nothing of each: one that counts a thousandth of the rest falls
by itself or not at all, and the total looks well either way.  So the sum is taken apart, down to
the numbers that its terms are multiplied by, and a short training from the first state
(:mod:`.rehearsal`) is made with other factors, beside the same one with those of the program.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.experiments.rehearsal import Stage, Values, stage_of
from whygrad.ops import families as ops
from whygrad.recording.record import Course
from whygrad.recording.replay import Trace, Traced
from whygrad.recording.replay.trainer import Objective, train
from whygrad.source import Where

__all__ = ["Balance", "Weighed", "balanced", "terms_of"]

_THROUGH = ops.NEG | ops.RESHAPING | ops.CASTS


@dataclass(frozen=True)
class Weighed:
    """One term of the sum that a loss is."""

    made: Traced  # as the program computed it, before any factor
    factor: float  # by which it goes into the loss
    factor_at: Where | None = None  # the line with a factor that is not 1

    def value(self, trace: Trace) -> float:
        return float(trace.array(self.made.outputs[0]))

    def part(self, trace: Trace) -> float:
        """What it is in the loss."""
        return self.factor * self.value(trace)


def terms_of(trace: Trace) -> list[Weighed]:
    """The terms of a loss that gradients flow through, in the order in which they were computed."""
    found: list[Weighed] = []
    waiting: list[tuple[Traced | None, float, Where | None]] = [(trace.root, 1.0, None)]
    while waiting:
        call, factor, line = waiting.pop()
        if call is None or not call.outputs[0].requires_grad:
            continue
        scale = _scale(call)
        if call.op in ops.SHIFTS and _is_number(call.outputs[0]):
            signs = _signs(call)
            waiting += [
                (trace.made_by(source), factor * sign, line)
                for source, sign in zip(call.sources, signs)
            ]
        elif scale is not None and trace.made_by(call.sources[scale[0]]) is not None:
            place, number = scale
            at = call.where if number not in (1.0, -1.0) else line
            waiting.append((trace.made_by(call.sources[place]), factor * number, at))
        else:
            found.append(Weighed(call, factor, line))
    return sorted(found, key=lambda each: each.made.number)


def _signs(call: Traced) -> Sequence[float]:
    if call.op in ops.DIFFERENCES and len(call.inputs) > 1:
        return (1.0, -1.0) if call.op in ops.SUB else (-1.0, 1.0)
    minus = call.op in ops.DIFFERENCES and not hasattr(call.args[0], "requires_grad")
    minus |= call.op in ops.REVERSED_SUB
    return [-1.0 if minus else 1.0] * len(call.inputs)


def _scale(call: Traced) -> tuple[int, float] | None:
    """Which input of a call goes on as a multiple of itself, and of what size."""
    if not _is_number(call.outputs[0]):
        return None
    if call.op in _THROUGH:
        return 0, -1.0 if call.op in ops.NEG else 1.0
    if call.op not in ops.SCALINGS or len(call.args) < 2:
        return None
    learned = [at for at, each in enumerate(call.args[:2]) if getattr(each, "requires_grad", False)]
    if len(learned) != 1:
        return None
    other = call.args[1 - learned[0]]
    if hasattr(other, "numel") and other.numel() != 1:
        return None
    number = float(other)
    if call.op in ops.DIV:
        if learned[0] or not number:
            return None
        number = 1 / number
    place = next(at for at, each in enumerate(call.inputs) if each is call.args[learned[0]])
    return place, number


def _is_number(tensor: Any) -> bool:
    return hasattr(tensor, "numel") and tensor.numel() == 1


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
    ends = []
    for factors in ({}, {place: times}):
        descent = train(
            stage.budget, course, stage.trained, steps=stage.steps, clip=stage.clip,
            objective=_reweighed(factors),
        )  # fmt: skip
        if descent is None or descent.diverges:
            return None
        ends.append(levels(stage, descent.values))
    first, reached = (levels(stage, each.values) for each in (course.first, course.last))
    rows = first, reached, *ends
    lost = not all(math.isfinite(value) for row in rows for value in row)
    if lost or len({len(row) for row in rows}) > 1:
        return None
    return Balance(*rows, updates=stage.steps)


def _reweighed(factors: Mapping[int, float]) -> Objective:
    def objective(trace: Trace) -> Any:
        return sum(
            each.made.outputs[0] * (each.factor * factors.get(place, 1.0))
            for place, each in enumerate(terms_of(trace))
        )

    return objective


def levels(stage: Stage, values: Values) -> list[float]:
    """Each term by itself, as a mean over the batches that are held out."""
    rows = []
    for each in stage.held_out:
        trace = stage.budget.replay(each, values=values, backward=False)
        rows.append([term.value(trace) for term in terms_of(trace)])
    return [statistics.fmean(each) for each in zip(*rows)]
