"""When to look: which steps are recorded, and which of them closely.

The closer look (layer statistics, a snapshot, sizes of updates) is for sampled steps: the first 8,
then 2 in every doubling, counted anew from the first step of another optimizer, and the first one
that goes bad.  Between them a run that has gone well for a while is left alone: its steps are
*skipped*, of which only the loss, sizes of gradients and what the models were given are noted, and
the layer of wrappers is *idle*: the engines hand over nothing until a sampled step comes or the
program does something else than training.

A loss or a gradient out of the ordinary ends that at once, so that the steps on the way to a
failure are recorded.  Passes are counted, not seconds: the same program gets the same report.
"""

from __future__ import annotations

import math
import sys
from collections import deque
from typing import Protocol

from whygrad.recording.record import Run, Sample

__all__ = ["Sampler", "is_sampled"]

_SETTLED = 32  # passes that are recorded at the beginning
_ALERT = 16  # passes that are recorded after something out of the ordinary
_MANY = 3000  # recorded calls: a run with so many in its first steps is recorded when it is due
_RECENT = 16
_REVIEW = 4  # passes between two looks at what is usual
_BEYOND = 2  # times the spread of recent losses, above the largest: out of the ordinary …
_WIDEST = 64  # … and where that has come to nothing again and again
_FAR = 10  # times the largest recent gradient


def is_sampled(number: int) -> bool:
    """Whether the pass with this number gets the closer look."""
    return number < 8 or number % (1 << (number.bit_length() - 2)) == 0


class Layer(Protocol):
    """The wrappers of one engine."""

    def idle(self) -> None: ...

    def record(self) -> None: ...


class Sampler:
    """Follows the losses and gradients of a run, and says what to do with the next step."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self.layers: list[Layer] = []
        self.sample: Sample | None = Sample()  # of this step, if it is a sampled one
        self.skipping = False  # whether the calls of this step's training are not recorded
        self.idle = False  # whether the engines hand over no calls at all
        self.resting = False  # whether that is because of what goes on without gradients
        self.games = 0  # long times without gradients in which nothing judged the model
        self.dull = 0  # … and how many of them since something did
        self.amid = False  # whether resting began amid a call, where an engine cannot be switched
        self.calls = 0  # that were recorded
        self.optimizing = 0  # calls of step() under way: what they compute is their own affair
        self.began = 0  # the pass with which the latest optimizer began …
        self.calls_then = 0  # … and what had been recorded by then
        self.structure_until = math.inf  # recorded calls: no more are needed for the structure
        self._scheduled = 0  # the pass up to which it is known which steps are sampled
        self._over = False  # whether the call of the program's that is under way ends a step
        self._more = 0  # steps that are sampled because the one before was, of another course
        self._record_until = _SETTLED
        self._losses: deque[float] = deque(maxlen=_RECENT)
        self._sizes: deque[float] = deque(maxlen=_RECENT)
        self._hints: deque[float] = deque(maxlen=_RECENT)
        self._beyond = _BEYOND
        self._most = math.inf  # of a usual loss …
        self._largest = math.inf  # … of a usual gradient …
        self._largest_hint = sys.float_info.max  # … and of a usual hint at one

    # --- which steps ------------------------------------------------------------------------------

    def begin_again(self, number: int) -> None:
        """With pass ``number`` another optimizer begins: record it as the beginning was."""
        self.began = self._scheduled = number
        self.calls_then, self.structure_until = self.calls, math.inf
        self._record_until = max(self._record_until, number + _SETTLED)

    def is_sampled(self, number: int) -> bool:
        """Whether a pass gets the closer look, as counted from where its optimizer began."""
        return is_sampled(number - self.began)

    def is_due(self, number: int) -> bool:
        """Whether the step that begins with pass ``number`` gets the closer look.

        A step may have several passes, and the number of a sampled one among them.  Courses that
        take turns are looked at one after the other.
        """
        begun, self._scheduled = self._scheduled, number
        if self.is_sampled(number) or any(map(self.is_sampled, range(begun + 1, number))):
            courses = [each for each in self._run.courses if each.optimizer.thing is not None]
            self._more = max(1, sum(each.used >= self.began for each in courses))
        self._more -= 1
        return self._more >= 0 or number == 0

    def may_skip(self, number: int) -> bool:
        """Whether pass ``number`` may go by unrecorded."""
        return number >= self._record_until or self.calls > _MANY

    def next_step(self, number: int, due: bool, recorded: bool) -> None:
        """A step begins with pass ``number``, which is ``due``, or has to be ``recorded``."""
        self.sample = Sample() if due and not self._run.incidents else None
        self.skipping = not (due or recorded) and self.may_skip(number)

    # --- what is usual ----------------------------------------------------------------------------

    def is_usual(self, value: float) -> bool:
        """Whether this loss is one like the others."""
        return -math.inf < value <= self._most and value != math.inf

    def loss(self, number: int, value: float) -> None:
        """The pass ``number`` has this loss."""
        if not self.is_usual(value):
            if self.may_skip(number) and self._beyond < _WIDEST:  # those before came to nothing
                self._beyond *= 2
            self._alert(number)
        self._losses.append(value)
        if number % _REVIEW == 0 and len(self._losses) == _RECENT:
            most = max(self._losses)
            self._most = most + self._beyond * (most - min(self._losses))

    def gradient(self, number: int, size: float) -> None:
        """The gradients of the update after pass ``number`` have this typical size."""
        if not size <= self._largest:
            self._alert(number)
        self._sizes.append(size)
        self._largest = _FAR * max(self._sizes)

    def hint(self, number: int, size: float) -> bool:
        """Whether a hint at the size of the gradients is like the others."""
        if not size <= self._largest_hint:
            self._alert(number)
            return False
        self._hints.append(size)
        if number % _REVIEW == 0 and len(self._hints) == _RECENT:
            self._largest_hint = _FAR * max(self._hints)
        return True

    def _alert(self, number: int) -> None:
        self._record_until = max(self._record_until, number + _ALERT)

    # --- recording and idle -----------------------------------------------------------------------

    def between_steps(self) -> None:
        """Be idle during the next step, if it is to be skipped, or record."""
        if not self.skipping:
            self.resume()
        elif (not self.idle or self.amid) and not self.optimizing:
            self.idle = self.amid = True
            self.rest_now()

    def step_over(self) -> None:
        """A step ends amid a call, where an engine cannot be switched: be idle after it."""
        self._over = True

    def settle(self) -> None:
        """A call of the program's is over that may have ended a step."""
        if self._over:
            self._over = False
            self.between_steps()

    def rest(self, until_training: bool) -> None:
        """Be idle until a model is called, or, whatever it does without gradients, until the
        program trains again.
        """
        if not self.idle and not self.optimizing:
            self.idle, self.resting = True, until_training
            self.amid = True
            for each in self.layers:
                each.idle()

    def rest_now(self) -> None:
        """Be idle in earnest: no call is under way."""
        if self.amid:
            self.amid = False
            for each in self.layers:
                each.idle()

    def resume(self) -> None:
        """Something else than a training step happens: record until the next one."""
        if self.idle and not self.optimizing:
            self.idle = self.resting = self.amid = False
            for each in self.layers:
                each.record()
