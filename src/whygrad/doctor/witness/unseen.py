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

from whygrad.doctor.engines import Engine
from whygrad.doctor.ranges import rms
from whygrad.doctor.recording.reconstruction import Given, data_now
from whygrad.doctor.recording.record import Course, Pass, Update
from whygrad.doctor.source.frames import user_frame
from whygrad.doctor.witness.modules import Modules
from whygrad.doctor.witness.snapshots import not_finite
from whygrad.source import Where

__all__ = ["Unseen"]

_HELD = 16  # passes whose data are kept
_OTHER_END = 4  # updates between two looks at the other end of the network
_SURVEY = 16  # updates between two measurements of all gradients
_FEW = 512  # values that such a measurement takes of each
_ROUTINE = 16  # steps in a row with the same pause: it belongs to the step …
_VISIT = 8  # … and is looked at so often
_SKIPPED = 3  # passes between two pauses in a row: the one between may have been watched


class Unseen(Modules):
    """The part of the witness that is awake while the eyes are closed."""

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
        routine = times > _ROUTINE and number % _VISIT
        if not routine and not self.inside_models:  # a frozen part of a model is no pause
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

    def pass_unseen(self, engine: Engine, loss: Any) -> bool:
        """``backward()`` is called: note the loss, if it is one like those before."""
        scope = self.scope
        thread, scope.thread = scope.thread, 0
        try:
            with engine.unwatched():
                return self._pass_unseen(engine, loss, sys._getframe(2))
        finally:
            scope.thread = thread

    def _pass_unseen(self, engine: Engine, loss: Any, frame: FrameType) -> bool:
        try:
            run, number = self.run, len(self.run.passes)
            value = engine.scalar(loss)
            if value is None or self._by_hand or self._is_sampled(number):
                return False
            if not self._vigilance.is_usual(value):
                return False
            if self._stepped:
                self._pending, self._stepped = [], False
            for course in run.courses:
                ends = self._ends_of(course)
                if not ends or ends[0].grad is not None:
                    self._look_for_old_gradients(course)
                else:
                    self._contaminated.discard(course.optimizer.number)
                    self._consumed[course.optimizer.number] = False
            self._vigilance.loss(number, value)
            where = _place(run.passes[-1].where, frame)
            this = Pass(number, value, where, (), bool(self._contaminated))
            self._hold_given(number)
            self._keeping.note(loss, number)
            run.passes.append(this)
            self._pending.append(this)
        except Exception as error:
            self.trouble(error)
            return False
        return True

    def update_begins_unseen(self, engine: Engine, optimizer: Any) -> bool:
        """``step()`` is called: look whether the gradients are finite, no more."""
        scope = self.scope
        thread, scope.thread = scope.thread, 0
        try:
            with engine.unwatched():
                return self._update_begins_unseen(engine, optimizer, sys._getframe(2))
        finally:
            scope.thread = thread

    def _update_begins_unseen(self, engine: Engine, optimizer: Any, frame: FrameType) -> bool:
        try:
            course = self._course_of(optimizer)
            if course is None or not course.steps or not self._pending:
                return False
            if self._optimizing > len(self.updating):
                return False
            latest = course.steps[-1]
            gradients = latest.gradients
            if len(self.run.passes) % _SURVEY == 0:
                gradients = self._gradients(engine, course.parameters, _FEW)
                if not_finite(gradients):
                    return False
                sizes = [each for each in gradients.values() if each is not None]
                self._vigilance.gradient(len(self.run.passes), max(sizes, default=0.0))
            elif not self._is_usual(engine, course):
                return False
            rates = [group.get("lr", math.nan) for group in optimizer.param_groups]
            rates = latest.rates if rates == latest.rates else [float(each) for each in rates]
            where = _place(latest.where, frame)
            step = Update(latest.index + 1, (), gradients, rates, where, self._zeroed)
            step.contaminated = course.optimizer.number in self._contaminated
            if self._clips:
                step.clips, self._clips = self._clips, []
            course.steps.append(step)
            self._optimizing += 1
            self.updating.append(optimizer)
        except Exception as error:
            self.trouble(error)
            return False
        return True

    def update_ends_unseen(self, engine: Engine, optimizer: Any) -> None:
        """The update is done: what :meth:`Observer._finish` does where nothing was on the tape."""
        self._optimizing = max(0, self._optimizing - 1)
        try:
            self.updating.remove(optimizer)
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
            if not self._optimizing:
                self._unseen.clear()
                following = len(self.run.passes)
                due = self._is_due(following)
                if due or not self._vigilance.may_rest(following):
                    self._new_step(engine, due)
                    self.settle()
        except Exception as error:
            self.trouble(error)

    def zeroed_unseen(self) -> bool:
        """Gradients are cleared; False if no update has used them."""
        self._zeroed = True
        return self._stepped

    def pass_failed_unseen(self, engine: Engine, loss: Any, error: Exception) -> None:
        try:
            self.backward_ends(engine, loss, error)
        except Exception as trouble:
            self.trouble(trouble)

    def _course_of(self, optimizer: Any) -> Course | None:
        for course in self.run.courses:
            if course.optimizer.thing is optimizer:
                return course
        return None

    def _ends_of(self, course: Course) -> list[Any]:
        """The first and the last parameter that are trained, as the eyes were closed."""
        known = self._ends.get(course.optimizer.number)
        if known is None:
            trained = [each.tensor for each in course.parameters if each.requires_grad]
            first = trained[:1]
            shapes = [tuple(each.shape) for each in trained[:2]]
            if len(shapes) == 2 and len(shapes[0]) > 1 and shapes[1] == shapes[0][:1]:
                first = trained[1:2]  # the bias of the first weights: it is short
            known = self._ends[course.optimizer.number] = [*first, *trained[-1:]]
        return known

    def _is_usual(self, engine: Engine, course: Course) -> bool:
        """Whether the gradient where a pass ends, and trouble arrives, is finite and not large.

        Where that is a table of words most of its rows have none, so the other end has a say.
        """
        number = len(self.run.passes)
        ends = self._ends_of(course)
        for end in ends if number % _OTHER_END == 0 else ends[:1]:
            if end.grad is not None and not self._vigilance.hint(number, engine.hint(end.grad)):
                return False
        return True

    def _hold_given(self, number: int) -> None:
        """Keep what a pass was given until the update; of many without one only the latest."""
        self._unseen[number], self._given = self._given, Given()
        if len(self._unseen) > _HELD:
            del self._unseen[min(self._unseen)]

    def _measure(self, this: Pass, given: Given, frame: FrameType) -> None:
        """A pass that went by unseen turns out to be one to look at: how large its data were."""
        engine = self.run.engine
        assert engine is not None
        tensor = engine.tensor
        models = [each for args in given.models for each in args if isinstance(each, tensor)]
        if self._recipe is not None:
            inputs, targets = data_now(self._recipe, frame)
            models = models or inputs
            this.target_rms = this.target_rms or _rms(engine, targets)
        this.input_rms = this.input_rms or _rms(engine, models)

    def _look_for_old_gradients(self, course: Course) -> None:
        """Whether gradients that an update has used are still there to be added to."""
        number = course.optimizer.number
        tensors = [each.tensor for each in course.parameters]
        there = [each for each in (self._ends_of(course)[:1] if self.resting else tensors)
                 if each.grad is not None]  # fmt: skip
        engine = self.run.engine
        assert engine is not None
        old = any(engine.array(each.grad).any() for each in (*there[:1], *there[1:][-1:]))
        if old and self._consumed.get(number):
            self._contaminated.add(number)
        if not old:
            self._contaminated.discard(number)
            self._consumed[number] = False

    # The loop itself is the Observer's, which has both of these.

    def backward_ends(self, engine: Engine, loss: Any, error: BaseException | None) -> None:
        raise NotImplementedError

    def _new_step(self, engine: Engine, due: bool) -> None:
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
