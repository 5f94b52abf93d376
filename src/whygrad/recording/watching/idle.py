"""Steps that go by while the wrappers are idle: the little that is noted of them.

A run that goes well spends nearly all of its steps here, so nothing is built that the step before
has already: lines, learning rates and sizes of gradients are shared with it.  Whenever there is
something about a step to look at, the answer is False, nothing was noted, and the wrapper that
records takes the call.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import Any

from whygrad.recording.engines import Engine
from whygrad.recording.watching.loop import Loop
from whygrad.source import Where, call_key, program_frame

__all__ = ["Idle"]

_ROUTINE = 16  # steps in a row with the same pause: it belongs to the step …
_VISIT = 8  # … and is looked at so often at first, then at 16 steps in every doubling
_MANY = 256  # pauses at one line that are all looked at, then 64 in every doubling
_SKIPPED = 3  # passes between two pauses in a row: the one between may have been recorded
_DULL = 4  # long pauses in a row in which nothing judged the model; then 2 in every doubling
_MOVES = 16  # times that a line comes back during those: it plays the game


@dataclass(slots=True)
class _Pause:
    """A line that turns to something else than training."""

    code: CodeType | None  # which keeps its identity
    last: int = -_SKIPPED  # the pass it did so last, …
    times: int = 0  # … how often in a row, …
    total: int = 0  # … and how often at all
    dull: int = 0  # how often in a row it was long and told nothing of the model
    games: int | None = None  # how many such pauses there had been when it was looked at last
    moves: int = 0  # how often it came while nobody looked because of them

    @property
    def is_dull(self) -> bool:
        return self.dull > _DULL

    def comes(self, number: int, games: int) -> None:
        """It turns away after pass ``number``, for the first time."""
        self.times = self.times + 1 if number - self.last <= _SKIPPED else 1
        self.total += 1
        self.last = number
        if self.games is not None:
            self.dull = self.dull + 1 if games > self.games else 0
            self.games = None
        elif self.is_dull:
            self.dull += 1

    def is_routine(self, update: int) -> bool:
        """Whether enough has been seen of it: whole updates are looked at, or not."""
        if self.times > _ROUTINE and update % max(_VISIT, 1 << (self.times.bit_length() - 5)):
            return True
        if self.total > _MANY and self.total % (1 << (self.total.bit_length() - 7)):
            return True
        return self.is_dull and bool(self.dull % (1 << (self.dull.bit_length() - 2)))


class Idle:
    """What is asked at each step while idle."""

    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self.inside_models = 0  # calls of models that are under way
        self._pauses: dict[tuple[int, ...], _Pause] = {}

    def seen(self, frame: FrameType) -> None:
        """The program turns to something else, and that is recorded anyway.

        Without an optimizer it may be the update itself, by hand: of those more are wanted.
        """
        if not self._loop.run.has_optimizer:
            return
        known, number = self._pause_at(program_frame(frame)), len(self._loop.run.passes)
        if number != known.last:
            known.comes(number, self._loop.sampler.games)

    def pause(self, frame: FrameType) -> None:
        """The program turns to something else than training: record.

        What it does at every step (the answers of a teacher, the averages of weights), or at
        length without a look at how good the model is (the moves of a game), is recorded at some
        of them only.
        """
        sampler, frame = self._loop.sampler, program_frame(frame)
        known, number = self._pause_at(frame), len(self._loop.run.passes)
        if sampler.resting:
            if sampler.dull > _DULL:
                self._move(known)
            else:
                sampler.rest_now()
            return
        if number != known.last:
            known.comes(number, sampler.games)
        if (
            not known.is_routine(self._update) and not self.inside_models
        ):  # a frozen part is no pause
            if known.games is None:
                known.games = sampler.games
            sampler.resume()

    def module_made(self, frame: FrameType) -> None:
        """Record what a module gets its first values from; not that of one made at every step."""
        known, number = self._pause_at(program_frame(frame)), len(self._loop.run.passes)
        if number != known.last:
            known.comes(number, self._loop.sampler.games)
        if not known.is_routine(self._update):
            self._loop.sampler.resume()

    def _move(self, line: _Pause) -> None:
        """A line comes while a game is played: one that makes its moves, or another."""
        line.moves += 1
        if line.moves > _MOVES:
            self._loop.sampler.rest_now()
        elif not self._loop.sampler.amid:
            self._loop.sampler.resume()

    def model_called(self, engine: Engine, args: tuple[Any, ...], frame: FrameType) -> None:
        """Keep what a model is given, if this is a training step; if not, record."""
        if not engine.is_recording():
            return  # a pause that nobody looks at
        frame, sampler = program_frame(frame), self._loop.sampler
        if call_key(frame) not in self._loop.snapshots.training_lines:
            if self._is_news(frame):
                sampler.resume()
        elif sampler.skipping:
            sampler.resting = False
            self._loop.snapshots.given.models.append(args)
        else:
            sampler.resume()

    def _is_news(self, frame: FrameType) -> bool:
        """Whether it is to be seen what a line calls a model for, at no training line."""
        known, number = self._pause_at(frame), len(self._loop.run.passes)
        first = not known.total
        if number != known.last:
            known.comes(number, self._loop.sampler.games)
        return first or not (self._loop.sampler.resting or known.is_routine(self._update))

    @property
    def _update(self) -> int:
        """About how many updates there were, if each takes the most passes that one took."""
        return len(self._loop.run.passes) // self._loop.most_passes

    def _pause_at(self, frame: FrameType) -> _Pause:
        key = call_key(frame)
        known = self._pauses.get(key)
        if known is None:
            known = self._pauses[key] = _Pause(frame.f_code)
        return known

    def backward_begins(self, engine: Engine, loss: Any) -> bool:
        """Note the loss, if it is one like those before."""
        loop, run = self._loop, self._loop.run
        with engine.unwatched():
            number, value = len(run.passes), engine.scalar(loss)
            if value is None or loop.courses.written or loop.sampler.is_sampled(number):
                return False
            if not loop.sampler.is_usual(value):
                return False
            if loop.by_hand.expected:
                loop.finish_by_hand()
            where = _place(run.passes[-1].where, sys._getframe(3))
            this = loop.new_pass(engine, value, where)
            loop.snapshots.hold_given(number)
            loop.enter(this, loss)
        return True

    def backward_ends(self, engine: Engine) -> None:
        """Nothing to note, unless no update uses these passes, or one by hand."""
        loop = self._loop
        if not loop.by_hand.expected and len(loop.pending) <= 1:
            return
        with engine.unwatched():
            if loop.by_hand.expected:
                loop.look_at_gradients(engine)
            loop.pass_ends(engine)
        loop.sampler.settle()

    def gradients_taken(self, engine: Engine, leaves: list[Any], gradients: Any) -> None:
        """``autograd.grad`` has answered."""
        loop = self._loop
        there = [each for each in gradients if each is not None]
        with engine.unwatched():
            if there and loop.gradients.are_usual(engine, there[0], there[-1]):
                loop.pass_ends(engine)
            else:
                loop.gradients_taken(engine, leaves, gradients)

    def step_begins(self, engine: Engine, optimizer: Any) -> bool:
        """Look whether the gradients are usual, no more."""
        loop = self._loop
        with engine.unwatched():
            course = loop.courses.of(optimizer)
            if course is None or not course.steps or not loop.pending:
                return False
            if loop.sampler.optimizing > len(loop.updating):
                return False
            gradients = loop.gradients.while_idle(engine, course)
            if gradients is None:
                return False
            latest = course.steps[-1]
            rates = [group.get("lr", math.nan) for group in optimizer.param_groups]
            rates = latest.rates if rates == latest.rates else [float(each) for each in rates]
            where = _place(latest.where, sys._getframe(3))
            loop.new_update(course, gradients, rates, where)
            loop.sampler.optimizing += 1
            loop.updating.append(optimizer)
        return True

    def step_ends(self, engine: Engine, optimizer: Any) -> None:
        self._loop.updating.remove(optimizer)
        self._loop.step_ends(engine, optimizer)
        self._loop.sampler.between_steps()


def _place(latest: Where | None, frame: FrameType) -> Where:
    """The user's line that led to ``frame``: the latest one itself if it is the same."""
    frame = program_frame(frame)
    if latest is not None and latest.is_at(frame):
        return latest
    return Where(frame.f_code, frame.f_lasti)
