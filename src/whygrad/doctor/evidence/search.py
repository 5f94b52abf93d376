"""A run that looks for something: the rate at which the loss rises, or the best of some values.

That the loss rises in the end, swings or is not finite is what the first is for; that most values
are worse than the best is what the other is for.
"""

from __future__ import annotations

import math
import statistics
from itertools import pairwise
from typing import Any

from whygrad.recording.ranges import rms
from whygrad.recording.record import Course

__all__ = ["looks_for_a_rate", "outdone"]

_UPDATES = 10  # fewer are no search
_RANGE = 100  # times the first rate at the end: no warm-up is followed by nothing
_HALF = 5  # times the rate of the middle at the end: it rises by factors, not by amounts
_STEPS = 0.9  # of the updates have a higher rate than the one before
_SIZE = 4.0  # times as large, for first values that were chosen otherwise


def looks_for_a_rate(course: Course) -> bool:
    """Whether the rate of a course rose by factors from its first update to its last."""
    rates = [step.rates[0] for step in course.steps if step.rates]
    if len(rates) < _UPDATES or not rates[0] > 0:
        return False
    middle = rates[len(rates) // 2]
    rising = sum(one < other for one, other in pairwise(rates))
    falls = any(one > other for one, other in pairwise(rates))
    wide = rates[-1] > _RANGE * rates[0] and rates[-1] > _HALF * middle
    return wide and not falls and rising > _STEPS * (len(rates) - 1)


def outdone(courses: list[Course]) -> list[Course]:
    """Of courses that one line began in several ways, to see which is best: all others.

    The ways are rates or other options, or models of the same lines that are built, or begin, in
    different ways.
    """
    lines: dict[str, list[Course]] = {}
    for each in courses:
        if each.optimizer.thing is not None and each.optimizer.made_at is not None:
            lines.setdefault(str(each.optimizer.made_at), []).append(each)
    found = []
    for group in lines.values():
        if len({*map(_held, group)}) < len(group):
            continue  # one model goes on
        if len({_options(each) for each in group}) > 1 or _are_variants(group):
            best = min(group, key=_end)
            found += [each for each in group if each is not best]
    return found


def _are_variants(group: list[Course]) -> bool:
    """Whether models of the same lines differ in their ops, their sizes, or their first values."""
    known = [each for each in group if each.first is not None]
    made = {frozenset(str(one.made_at) for one in each.parameters) for each in known}
    if len(known) < 2 or len(made) > 1:
        return False
    if len({_structure(each) for each in known}) > 1:
        return True
    return any(
        max(sizes) > _SIZE * min(sizes) for sizes in zip(*(_first_sizes(each) for each in known))
    )


def _structure(course: Course) -> tuple[frozenset[str], tuple[tuple[int, ...], ...]]:
    calls = [] if course.first is None else course.first.calls.values()
    ops = frozenset(each.op for each in calls if each.module)  # not of how data were made
    return ops, tuple(tuple(each.tensor.shape) for each in course.parameters)


def _first_sizes(course: Course) -> list[float]:
    """Of the weights before the first update; what begins at zero everywhere has none."""
    first = course.first
    if first is None:
        return []
    values = [first.values.get(id(each.tensor)) for each in course.parameters]
    return [
        max(rms(first.engine.array(each)), math.ulp(1.0))
        for each in values
        if each is not None and each.ndim > 1
    ]


def _options(course: Course) -> str:
    """The numbers that an optimizer was made with."""
    options: dict[str, Any] = course.optimizer.options
    numbers = (int, float, tuple)
    return repr(sorted((key, it) for key, it in options.items() if isinstance(it, numbers)))


def _held(course: Course) -> int:
    return min((id(each.tensor) for each in course.parameters), default=0)


def _end(course: Course) -> float:
    losses = [each if math.isfinite(each) else math.inf for each in course.losses]
    return statistics.median(losses[-max(1, len(losses) // 5) :]) if losses else math.inf
