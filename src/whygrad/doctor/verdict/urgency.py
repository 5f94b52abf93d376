"""Which rules are asked first: what their trials need may be spent when it is their turn.

The budget of an examination goes to whoever asks.  Where a step is large, a few looks use it up; so
who has the best reason to be asked comes before the others.
"""

from __future__ import annotations

from whygrad.doctor.evidence.case import Case
from whygrad.recording.record import Course
from whygrad.recording.replay.optimizers import rate_of

__all__ = ["pressing"]

_FAR = 5.0  # times what ignoring the input costs, for the first loss: the weights are too large
_FELL = 0.5  # of the loss: whoever learned so much is not held by a decay or a rate
_DECAY = 0.05  # more than any decay in use, but AdamW's
_RATE = 0.03  # more than Adam takes as a rule

_ADAPTIVE = ("Adam", "AdamW", "NAdam", "RAdam", "Adamax", "RMSprop")


def pressing(case: Case) -> frozenset[str]:
    """The rules that the first loss and the settings of the optimizer point at."""
    found = set()
    for course in case.training[:1]:
        chance = case.chance(course.first)
        if chance is not None and course.losses and course.losses[0] > _FAR * chance > 0:
            found.add("bad-initialization")
        if case.progress(course).gain < _FELL:
            found |= _by_settings(course)
    return frozenset(found)


def _by_settings(course: Course) -> set[str]:
    options, kind = course.optimizer.options, course.optimizer.kind
    decay, found = options.get("weight_decay"), set()
    if isinstance(decay, (int, float)) and decay > _DECAY and kind != "AdamW":
        found.add("over-regularized")
    if kind in _ADAPTIVE and rate_of(course) >= _RATE:
        found.add("lr-too-high")
    return found
