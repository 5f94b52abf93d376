"""Did the run learn?

Two views of it.  The *curve*: the losses at the end against those at the beginning, which a change
of batch can blur.  The *pair*: the loss of the very first batch with the first weights and with the
latest ones, which it cannot.  A rule that goes by statistics asks here first and stays silent about
a run that learns.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass

from whygrad.doctor.record import Course
from whygrad.doctor.replay import Trace, loss_at
from whygrad.doctor.trial import drop

__all__ = ["Progress", "is_entangled", "progress_of"]


@dataclass(frozen=True)
class Progress:
    """How the loss of a course went."""

    steps: int
    opening: float = math.nan  # the very first loss
    start: float = math.nan  # the middle of the first tenth of the losses
    end: float = math.nan  # the middle of the last fifth
    height: float = math.nan  # the highest quarter of the run, by its middle
    first: float = math.nan  # the loss of the first batch with the first weights …
    latest: float = math.nan  # … and with the latest ones; NaN if that could not be replayed
    broken: bool = False  # whether a loss or a gradient stopped being finite

    @property
    def curve(self) -> float:
        """By which part the loss fell over the run."""
        return drop(self.start, self.end)

    @property
    def pair(self) -> float:
        """By which part the loss of the first batch fell; NaN if unknown."""
        return drop(self.first, self.latest) if math.isfinite(self.latest) else math.nan

    @property
    def gain(self) -> float:
        """The better of both views: who doubts that a run has learned should doubt this."""
        if self.broken:
            return -math.inf
        return self.curve if math.isnan(self.pair) else max(self.curve, self.pair)

    @property
    def rose(self) -> bool:
        """Whether the loss stood clearly above its beginning for a good part of the run."""
        return self.broken or self.height > self.opening + 0.5 * abs(self.opening)

    def suffers(self, least: float) -> bool:
        """Whether there is anything to explain: it broke, rose, or fell by less than ``least``."""
        return self.steps > 1 and (self.rose or self.gain < least)


def is_entangled(course: Course, courses: list[Course]) -> bool:
    """Whether a loss depends on what this course trains and on what another one does, as in a GAN.

    Each then moves the target of the other, and a loss that stands still says nothing.
    """
    own = {id(each.tensor) for each in course.parameters}
    for other in courses:
        theirs = {id(each.tensor) for each in other.parameters} - own
        for snapshot in (course.first, other.first) if theirs else ():
            if (
                snapshot is not None
                and own & snapshot.leaves.keys()
                and theirs & snapshot.leaves.keys()
            ):
                return True
    return False


def progress_of(course: Course, first: Trace | None) -> Progress:
    """``first`` is the replay of the first step."""
    losses = course.losses
    finite = [each for each in losses if math.isfinite(each)]
    bad = course.bad is not None or len(finite) < len(losses)
    if not finite:
        return Progress(len(losses), broken=True)
    start = statistics.median(finite[: max(1, len(finite) // 10)])
    end = statistics.median(finite[-max(1, len(finite) // 5) :])
    size = max(1, len(finite) // 4)
    quarters = [finite[place : place + size] for place in range(0, len(finite), size)]
    height = max(statistics.median(each) for each in quarters if 2 * len(each) >= size)
    before = after = math.nan
    if first is not None and first.exact and course.last is not None:
        before = first.loss
        after = loss_at(first.snapshot, course.last.values)
    return Progress(len(losses), finite[0], start, end, height, before, after, bad)
