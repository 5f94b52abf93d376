"""Steps that are not looked at: the little that is noted of them, and at which price.

A run that goes well spends nearly all of its steps here, so everything is asked once and nothing is
built that the step before has already: lines, learning rates and sizes of gradients are shared with
it.  Whenever there is something about a step to look at, the answer is False, nothing was noted,
and the long way is taken.
"""

from __future__ import annotations

import math
import sys
from types import FrameType
from typing import Any

from whygrad.autograd.source import Where
from whygrad.doctor.engines import Engine
from whygrad.doctor.places import user_frame
from whygrad.doctor.ranges import rms
from whygrad.doctor.recall import Given
from whygrad.doctor.record import Course, Pass, Step
from whygrad.doctor.witness.modules import Modules
from whygrad.doctor.witness.snapshots import not_finite
from whygrad.doctor.witness.state import is_sampled

__all__ = ["Unseen"]

_SURVEY = 8  # updates between two measurements of all gradients
_ROUTINE = 16  # steps in a row with the same pause: it belongs to the step
_SKIPPED = 3  # passes between two pauses in a row: the one between may have been watched


class Unseen(Modules):
    """The part of the witness that is awake while the eyes are closed."""

    updating_unseen = False  # whether an update is under way that nobody needs to hear of

    def pause_unseen(self, frame: FrameType) -> None:
        """The program turns to something else than training: open the eyes.

        What it does at every step (the answers of a teacher, the averages of weights) it is watched
        at some of them only.
        """
        frame = user_frame(frame)
        key, number = (id(frame.f_code), frame.f_lasti), len(self.run.passes)
        last, times, _ = self._pauses.get(key, (-_SKIPPED, 0, None))
        if number != last:
            times = times + 1 if number - last <= _SKIPPED else 1
            self._pauses[key] = number, times, frame.f_code  # which keeps its identity
        if times <= _ROUTINE or number % _SURVEY == 0:
            self.stir()

    def model_unseen(self, engine: Engine, args: tuple[Any, ...], frame: FrameType) -> None:
        """A model is called: keep what it was given, unless this is not a training step."""
        if not engine.is_recording():
            return  # a pause that nobody looks at
        frame = user_frame(frame)
        if (id(frame.f_code), frame.f_lasti) in self._familiar:
            self._given.models.append(args)
        else:
            self.stir()

    def loss_unseen(self, engine: Engine, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """A loss was computed: keep what it was given."""
        if engine.is_recording():
            self._given.losses.append((args, kwargs))

    def pass_unseen(self, engine: Engine, loss: Any) -> bool:
        """``backward()`` is called: note the loss, if it is one like those before."""
        try:
            run, number = self.run, len(self.run.passes)
            value = engine.scalar(loss)
            if value is None or self._by_hand or is_sampled(number):
                return False
            if not self._vigilance.is_usual(value):
                return False
            if self._stepped:
                self._pending, self._stepped = [], False
            for course in run.courses:
                if not course.parameters or course.parameters[0].tensor.grad is not None:
                    self._look_for_old_gradients(course)
                else:
                    self._contaminated.discard(course.optimizer.number)
                    self._consumed[course.optimizer.number] = False
            self._vigilance.loss(number, value)
            where = _place(run.passes[-1].where, sys._getframe(2))
            this = Pass(number, value, where, (), bool(self._contaminated))
            self._unseen[number], self._given = self._given, Given()
            self._keeping.note(loss, number)
            run.passes.append(this)
            self._pending.append(this)
        except Exception as error:
            self.trouble(error)
            return False
        return True

    def update_begins_unseen(self, engine: Engine, optimizer: Any) -> bool:
        """``step()`` is called: look whether the gradients are finite, no more."""
        try:
            course = self._course_of(optimizer)
            if course is None or not course.steps or self._optimizing or not self._pending:
                return False
            latest = course.steps[-1]
            gradients = latest.gradients
            if len(self.run.passes) % _SURVEY == 0:
                gradients = self._gradients(engine, course.parameters)
                if not_finite(gradients):
                    return False
                sizes = [each for each in gradients.values() if each is not None]
                self._vigilance.gradient(len(self.run.passes), max(sizes, default=0.0))
            elif not self._is_usual(engine, course):
                return False
            rates = [group.get("lr", math.nan) for group in optimizer.param_groups]
            rates = latest.rates if rates == latest.rates else [float(each) for each in rates]
            where = _place(latest.where, sys._getframe(2))
            step = Step(latest.index + 1, (), gradients, rates, where, self._zeroed)
            step.contaminated = course.optimizer.number in self._contaminated
            if self._clips:
                step.clips, self._clips = self._clips, []
            course.steps.append(step)
            self._optimizing, self.updating_unseen = 1, True
        except Exception as error:
            self.trouble(error)
            return False
        return True

    def update_ends_unseen(self, engine: Engine, optimizer: Any) -> None:
        """The update is done: what :meth:`Observer._finish` does where nothing was on the tape."""
        self._optimizing, self.updating_unseen = 0, False
        try:
            course = self._course_of(optimizer)
            assert course is not None
            number = course.optimizer.number
            last = self._used.get(number, -1)
            passes = tuple([each for each in self._pending if each.number > last])
            for each in passes:
                each.optimizer = number
                self._used[number] = each.number
            course.steps[-1].passes = passes
            self._consumed[number] = True
            self._contaminated.discard(number)
            self._zeroed, self._stepped = False, True
            self._unseen.clear()
            following = len(self.run.passes)
            if is_sampled(following) or not self._vigilance.may_rest(following):
                self._new_step(engine)
                self.settle()
        except Exception as error:
            self.trouble(error)

    def zeroed_unseen(self) -> bool:
        """Gradients are cleared; False if no update has used them."""
        self._zeroed = True
        return self._stepped

    def model_failed_unseen(self, error: Exception) -> None:
        try:
            self.failed_unseen(error)
        except Exception as trouble:
            self.trouble(trouble)

    def pass_failed_unseen(self, engine: Engine, loss: Any, error: Exception) -> None:
        try:
            self.backward_ends(engine, loss, error)
        except Exception as trouble:
            self.trouble(trouble)

    def loss_failed_unseen(
        self, op: str, args: Any, kwargs: Any, frame: FrameType, error: Exception
    ) -> None:
        self._failed_call(op, args, kwargs, user_frame(frame), error)

    def _course_of(self, optimizer: Any) -> Course | None:
        for course in self.run.courses:
            if course.optimizer.thing is optimizer:
                return course
        return None

    def _is_usual(self, engine: Engine, course: Course) -> bool:
        """Whether the gradient where a pass ends, and trouble arrives, is finite and not large."""
        number = len(self.run.passes)
        end = course.parameters[-1 if number & 1 else 0].tensor.grad
        if end is None:
            end = course.parameters[0].tensor.grad
        return end is None or self._vigilance.hint(number, engine.hint(end))

    def _measure(self, this: Pass, given: Given) -> None:
        """A pass that went by unseen turns out to be one to look at: how large its data were."""
        engine = self.run.engine
        assert engine is not None
        tensor = engine.tensor
        models = [each for args in given.models for each in args if isinstance(each, tensor)]
        targets = [
            args[1] if len(args) > 1 else named.get("target") for args, named in given.losses
        ]
        this.input_rms = this.input_rms or _rms(engine, models)
        this.target_rms = this.target_rms or _rms(
            engine, [each for each in targets if isinstance(each, tensor)]
        )

    def _look_for_old_gradients(self, course: Course) -> None:
        """Whether gradients that an update has used are still there to be added to."""
        number = course.optimizer.number
        looked_at = course.parameters[:1] if self.resting else course.parameters
        there = [each.tensor for each in looked_at if each.tensor.grad is not None]
        engine = self.run.engine
        assert engine is not None
        old = any(engine.array(each.grad).any() for each in (*there[:1], *there[1:][-1:]))
        if old and self._consumed.get(number):
            self._contaminated.add(number)
        if not old:
            self._contaminated.discard(number)
            self._consumed[number] = False

    def backward_ends(self, engine: Engine, loss: Any, error: BaseException | None) -> None:
        raise NotImplementedError

    def _new_step(self, engine: Engine) -> None:
        raise NotImplementedError


def _rms(engine: Engine, tensors: list[Any]) -> tuple[float, ...]:
    arrays = map(engine.array, tensors)
    return tuple([rms(each) for each in arrays if each.dtype.kind == "f"])


def _place(latest: Where | None, frame: FrameType) -> Where:
    """The user's line that led to ``frame``: the latest one itself if it is the same."""
    frame = user_frame(frame)
    if latest is not None and latest.is_at(frame):
        return latest
    return Where(frame.f_code, frame.f_lasti)
