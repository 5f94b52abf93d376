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

import numpy as np

from whygrad.ops.families import DRAWS, MEAN, NEG, SCALINGS, SUB
from whygrad.recording.calls import Produced, RecordedCall
from whygrad.recording.ranges import Array
from whygrad.recording.record import Course, Snapshot
from whygrad.recording.replay import Trace
from whygrad.recording.replay.trainer import drop

__all__ = [
    "Progress",
    "draws_itself",
    "is_difference",
    "is_entangled",
    "is_steady",
    "progress_of",
    "relative_updates",
    "take_turns",
]

_EPOCH, _TWICE = 4, 3  # batches of the shortest epoch, and epochs of the shortest run, to tell one
_ALIKE = 0.9  # of 1: how the losses of one epoch go up and down with those of the next
_SMOOTH = 0.5  # the same from one step to the next: a curve that bends, and no epochs
_SPIKE = 4.0  # a loss that was five times the first one had been thrown off


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


def period_of(losses: list[float]) -> int:
    """After how many steps the same batches come again, as their losses tell; 0: one cannot tell.

    Where batches differ more than the model learns, a piece of an epoch says nothing of another.
    """
    series = np.asarray(losses, float)
    if len(series) < _TWICE * _EPOCH:
        return 0
    changes = np.diff(series)
    changes = np.clip(changes, *np.quantile(changes, (0.02, 0.98)))
    if _likeness(changes, 1) > _SMOOTH:
        return 0
    lags = range(_EPOCH, len(series) // _TWICE + 1)
    return next((lag for lag in lags if _likeness(changes, lag) > _ALIKE), 0)


def _likeness(changes: Array, lag: int) -> float:
    """How a series and itself, so many steps later, go up and down together: 1 for the same."""
    one, other = changes[:-lag], changes[lag:]
    return float(np.corrcoef(one, other)[0, 1]) if one.std() * other.std() > 0 else 0.0


def relative_updates(course: Course) -> list[float]:
    """By which part of its size each parameter changed, at each of the sampled updates."""
    return [
        change / step.sample.weights[name]
        for step in course.steps
        if step.sample is not None
        for name, change in step.sample.updates.items()
        if step.sample.weights.get(name)
    ]


def is_steady(course: Course, part: float) -> bool:
    """Whether the usual rate was at least this part of the highest: no schedule took it away."""
    rates = [max(each.rates) for each in course.steps if each.rates]
    return not rates or statistics.median(rates) >= part * max(rates)


def is_entangled(course: Course, courses: list[Course]) -> bool:
    """Whether a loss depends on what this course trains and on what another one does, as in a GAN.

    Each then moves the target of the other, and a loss that stands still says nothing.  Neither
    does the loss of a policy, which is about what the model itself has drawn.
    """
    if _is_policy(course) or is_difference(course.first):
        return True
    own = {id(each.tensor) for each in course.parameters}
    for other in courses:
        if other is not course and take_turns(course, other) and _is_policy(other):
            return True  # of a critic: what it is asked for follows from what the policy does
        theirs = {id(each.tensor) for each in other.parameters} - own
        if not theirs or _share_losses(course, other):
            continue
        taking_turns = take_turns(course, other)
        for snapshot in (course.first, other.first):
            if snapshot is not None:
                # A player may be frozen while it is the other's turn: it is in the calls then.
                used = {id(each) for each in snapshot.used} if taking_turns else {*snapshot.leaves}
                if own & used and theirs & used:
                    return True
    return False


def is_difference(snapshot: Snapshot | None) -> bool:
    """Whether the loss is one mean of what a model answers minus another one.

    So it is where samples that the model draws are to score worse than data do (an energy, a
    critic): they change with it, and no value of the loss is a good one.
    """
    if snapshot is None or snapshot.loss is None:
        return False
    call = _unscaled(snapshot, snapshot.loss.call)
    if call is None or call.op not in SUB or len(call.args) < 2:
        return False
    sides = [
        _unscaled(snapshot, each.call) if type(each) is Produced else None for each in call.args[:2]
    ]
    return all(each is not None and each.op in MEAN for each in sides)


def _unscaled(snapshot: Snapshot, number: int) -> RecordedCall | None:
    """The call that made a result, before it was multiplied by a number."""
    call = snapshot.calls.get(number)
    while call is not None and call.op in SCALINGS | NEG:
        call = next((snapshot.calls.get(each.call) for each in call.sources()), None)
    return call


def draws_itself(snapshot: Snapshot) -> bool:
    """Whether a step draws from its model's own answers: other parameters, and it is another step.

    Noise that is only shaped like them (``randn_like``) does not depend on them.
    """
    waiting = [number for number, call in snapshot.calls.items() if call.op in DRAWS]
    seen: set[int] = set()
    while waiting:
        number = waiting.pop()
        call = snapshot.calls.get(number)
        if call is None or number in seen:
            continue
        seen.add(number)
        if any(id(each) in snapshot.leaves for each in (*call.args, *call.kwargs.values())):
            return True
        waiting.extend(source.call for source in call.sources())
    return False


def _is_policy(course: Course) -> bool:
    return course.first is not None and draws_itself(course.first)


def _share_losses(one: Course, other: Course) -> bool:
    """Whether both are updated by the same passes, as an encoder and a decoder are."""
    passes = [{each.number for step in it.steps for each in step.passes} for it in (one, other)]
    return bool(passes[0]) and passes[0] == passes[1]


def take_turns(one: Course, other: Course) -> bool:
    """Whether each made updates before the other had ended."""
    spans = [
        [each.number for step in course.steps for each in step.passes] for course in (one, other)
    ]
    return all(spans) and max(each[0] for each in spans) < min(each[-1] for each in spans)


def progress_of(course: Course, first: Trace | None) -> Progress:
    """``first`` is the replay of the first step."""
    losses = course.losses
    finite = [each for each in losses if math.isfinite(each)]
    bad = course.bad is not None or len(finite) < len(losses)
    if not finite:
        return Progress(len(losses), broken=True)
    epoch = period_of(finite)
    start = statistics.median(finite[: epoch or max(1, len(finite) // 10)])
    if max(finite) > finite[0] + _SPIKE * abs(finite[0]):
        start = min(start, finite[0])  # to come down from a height of one's own making is no gain
    end = statistics.median(finite[-(epoch or max(1, len(finite) // 5)) :])
    size = max(epoch, len(finite) // 4, 1)
    quarters = [finite[place : place + size] for place in range(0, len(finite), size)]
    height = max(statistics.median(each) for each in quarters if 2 * len(each) >= size)
    before = after = math.nan
    if first is not None and first.reproduced and course.last is not None:
        before = first.loss
        after = first.again(values=course.last.values, backward=False).loss
        if after < min(finite) - (max(finite) - min(finite)):
            after = math.nan  # no batch came near it: a part of the loss was not computed anew
    return Progress(len(losses), finite[0], start, end, height, before, after, bad)
