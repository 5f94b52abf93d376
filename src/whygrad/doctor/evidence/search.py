"""A run that looks for a learning rate: it raises the rate until the loss goes up.

That the loss rises in the end, swings or is not finite is what such a run is for.
"""

from __future__ import annotations

from itertools import pairwise

from whygrad.recording.record import Course

__all__ = ["looks_for_a_rate"]

_UPDATES = 10  # fewer are no search
_RANGE = 100  # times the first rate at the end: no warm-up is followed by nothing
_HALF = 5  # times the rate of the middle at the end: it rises by factors, not by amounts
_STEPS = 0.9  # of the updates have a higher rate than the one before


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
