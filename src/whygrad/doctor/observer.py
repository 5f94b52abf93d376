"""The witness: hears of every event of a run and writes the :class:`~.record.Run`.

It is told by :mod:`.instruments` about calls, modules, ``backward``, ``zero_grad`` and ``step``.
What it does at every step is cheap: a line in the tape a call, the loss, one norm a gradient.  Here
is the loop itself; calls, modules and snapshots are in :mod:`.witness`.
"""

from __future__ import annotations

import contextlib
import math
import sys
import weakref
from typing import Any

import numpy as np

from whygrad.doctor.engines import Engine
from whygrad.doctor.recording.reconstruction import Given
from whygrad.doctor.recording.record import (
    Clip,
    Course,
    Derivative,
    Optimizer,
    Pass,
    Run,
    Sample,
    Update,
)
from whygrad.doctor.recording.sizes import Sizes
from whygrad.doctor.recording.variables import losses_left
from whygrad.doctor.replay import goes_bad
from whygrad.doctor.source.frames import user_frame
from whygrad.doctor.witness.snapshots import leaves_of, not_finite
from whygrad.doctor.witness.unseen import Unseen
from whygrad.source import Where

__all__ = ["Observer"]

_DERIVATIVES = 1000  # that are kept at most
_PHASES = 8  # optimizers whose first steps are looked at closely


class Observer(Unseen):
    """Writes down one run."""

    def optimizer_made(self, optimizer: Any, where: Where | None) -> Course:
        for course in self.run.courses:
            if course.optimizer.thing is optimizer:
                return course
        groups = optimizer.param_groups
        options = {name: value for name, value in groups[0].items() if name != "params"}
        kind = type(optimizer).__name__
        number = len(self.run.courses)
        course = Course(Optimizer(number, optimizer, kind, where, options))
        self.run.courses.append(course)
        for group in groups:
            for tensor in group["params"]:
                parameter = self.registry.parameter(tensor)
                if parameter.made_at is None:
                    origins = (tape.origin(tensor) for tape in self._tapes.values())
                    parameter.made_at = next((each.where for each in origins if each), None)
                parameter.optimizers.append(number)
                course.parameters.append(parameter)
        if self.run.passes and number < _PHASES:
            self._begin_again()
        return course

    def _begin_again(self) -> None:
        """Another optimizer: a phase that is looked at as the beginning of the run was."""
        self._began = self._scheduled = number = len(self.run.passes)
        self._vigilance.wake(number)
        if self.run.engine is not None and not self._optimizing:
            self._sample = None if self.run.incidents else Sample()
            self.resting = False
            self.stir()
            self.run.engine.first_passes_again()

    def halved(self, where: Where) -> None:
        """A module was converted to float16."""
        self.run.halved_at = self.run.halved_at or where

    def scheduler_made(self, optimizer: Any, kind: str, where: Where) -> None:
        self.optimizer_made(optimizer, None).optimizer.schedulers.append((kind, where))

    def backward_begins(self, engine: Engine, loss: Any, where: Where) -> None:
        self.run.engine = engine
        self._finish_by_hand()
        if self._stepped:
            self._pending, self._stepped = [], False
        number = len(self.run.passes)
        if number == 0:
            self.run.seed = int(engine.namespace.initial_seed())
        sampled = self._is_sampled(number) or (self._sample is not None and not self.resting)
        if sampled:
            self.registry.find_leaves(engine, self.tape(engine))
        array = engine.array(loss)
        value = float(array.item()) if array.size == 1 else float(np.mean(array))
        for course in self.run.courses:
            self._look_for_old_gradients(course)
        this = Pass(number, value, where, tuple(array.shape), bool(self._contaminated))
        this.input_rms, self._inputs = tuple(self._inputs), []
        this.target_rms, self._targets = tuple(self._targets), []
        bad = not math.isfinite(value)
        this.root = None if self.resting else self.tape(engine).source(loss)
        self._vigilance.loss(number, value)
        if self.resting:
            self._measure(this, self._given, user_frame(sys._getframe(1)))
            self._hold_given(number)
            this.snapshot = self._recalled(number, value) if bad else None
        elif sampled or (bad and not self.run.incidents):
            this.snapshot = self._recipe = self._snapshot(engine, loss, value)
            if this.snapshot is None and number == 0:  # a loss that nothing was computed for
                self.run.last_snapshot = self._snapshot(engine, None, math.nan, whole=True)
        self.run.passes.append(this)
        self._pending.append(this)
        if bad:
            self._incident("loss", this.snapshot, where)
        self._keeping.note(loss, number)
        if sampled:
            self._keeping.count(number)

    def backward_ends(self, engine: Engine, loss: Any, error: BaseException | None) -> None:
        this = self.run.passes[-1]
        this.error = error
        if error is not None:
            this.snapshot = this.snapshot or self._snapshot(engine, loss, this.value)
            self._incident("exception", this.snapshot, this.where, error)
            if not loss.requires_grad:
                self.registry.reached(engine, loss, first=True)
            return
        self.registry.reached(engine, loss, first=this.number - self._began < 2)
        if not any(course.optimizer.thing is not None for course in self.run.courses):
            self._hand_norms = self._gradients(engine, self.registry.parameters())
            if not_finite(self._hand_norms):
                self._bad_gradient(engine)

    def may_train(self, engine: Engine, loss: Any, leaves: list[Any]) -> bool:
        """Whether ``autograd.grad`` is asked for the gradients of parameters, to change them.

        Of a single leaf that is no Parameter it may be those of an input; and a program with an
        optimizer trains by that, whatever it asks on the side.
        """
        if any(course.optimizer.thing is not None for course in self.run.courses):
            return False
        kinds = engine.tensor, engine.namespace.nn.Parameter
        if not isinstance(loss, kinds[0]) or loss.numel() != 1 or not loss.requires_grad:  # type: ignore[attr-defined]
            return False
        parameters = [each for each in leaves if isinstance(each, kinds[0]) and each.is_leaf]  # type: ignore[attr-defined]
        named = all(isinstance(each, kinds[1]) for each in parameters)
        return len(parameters) == len(leaves) and (named or len(leaves) > 1)

    def differentiated(self, engine: Engine, loss: Any, results: Any, where: Where) -> None:
        """``autograd.grad`` has answered; without a graph what follows is a constant."""
        source = self.tape(engine).source(loss)
        if source is None or len(self.run.derivatives) >= _DERIVATIVES:
            return
        leaves = frozenset(leaves_of(self.tape(engine).slice([source]).values(), engine.tensor))
        for each in results:
            if isinstance(each, engine.tensor) and not each.requires_grad:  # type: ignore[attr-defined]
                self.run.derivatives[id(each)] = Derivative(weakref.ref(each), where, leaves)

    def gradients_taken(self, engine: Engine, leaves: list[Any], gradients: Any) -> None:
        """``autograd.grad`` has answered: a pass whose gradients are in no ``.grad``."""
        known = [self.registry.parameter(each) for each in leaves]
        there = [(each, one) for each, one in zip(known, gradients) if one is not None]
        for each, _ in there:
            each.reached, each.none_because = True, None
        sizes = engine.sizes([one for _, one in there])
        self._hand_norms = Sizes({each.name: size for (each, _), size in zip(there, sizes)})
        if not_finite(self._hand_norms):
            self._bad_gradient(engine)

    def zeroed(self, where: Where) -> None:
        self._zeroed = True
        if not self._stepped and not self._in_closure:
            for each in reversed(self._pending):
                if each.cleared_at is not None:
                    break
                each.cleared_at = where
        if where not in self.run.zeroings:
            self.run.zeroings.append(where)

    def clipped(self, kind: str, limit: float, total: float | None, where: Where) -> None:
        self._clips.append(Clip(kind, limit, total, where))

    def step_begins(self, engine: Engine, optimizer: Any, where: Where) -> None:
        self._optimizing += 1
        course = self.optimizer_made(optimizer, None)
        number = course.optimizer.number
        gradients = self._step_gradients(engine, course)
        rates = [float(group.get("lr", math.nan)) for group in optimizer.param_groups]
        step = Update(len(course.steps), [], gradients, rates, where)
        step.zeroed, step.contaminated = self._zeroed, number in self._contaminated
        step.clips, self._clips = self._clips, []
        course.steps.append(step)
        if self.resting and self._pending:
            latest = self._pending[-1]
            given = self._unseen.get(latest.number, Given())
            self._measure(latest, given, user_frame(sys._getframe(1)))
        if step.index and gradients is course.steps[-2].gradients:
            return  # nothing new
        sizes = [each for each in gradients.values() if each is not None]
        self._vigilance.gradient(len(self.run.passes), max(sizes, default=0.0))
        if not_finite(gradients):
            self._bad_gradient(engine)

    def step_ends(self, engine: Engine, optimizer: Any) -> None:
        self._in_closure = False
        self._optimizing = max(0, self._optimizing - 1)
        course = self.optimizer_made(optimizer, None)
        if course.steps:
            self._finish(engine, course, course.steps[-1])

    def step_failed(self) -> None:
        """A step ended by an exception, and the program went on."""
        self._optimizing = 0
        self.updating.clear()

    def closure_begins(self) -> None:
        """A step runs the program's closure: its calls are the program's."""
        self._optimizing = max(0, self._optimizing - 1)
        self._in_closure = True

    def failed(self, error: BaseException) -> None:
        """The program ended with an exception."""
        self.run.error = error
        if isinstance(error, Exception) and (
            self.run.failure is None or self.run.failure.error is not error
        ):
            self.failed_unseen(error)
        engine = self.run.engine or next(iter(self._engines()), None)
        if engine is not None and len(self.tape(engine)):
            if not_finite(self._gradients(engine, self.registry.parameters())):
                self._bad_gradient(engine)
            with contextlib.suppress(Exception):
                self.run.last_snapshot = self._snapshot(engine, None, math.nan, whole=True)

    def finish(self) -> Run:
        """The program is over."""
        self._finish_by_hand()
        self._look_at_what_was_left()
        self.registry.settle()
        if not self._stepped:
            self.run.unfinished = self._pending
        for parameter in self.registry.parameters():
            self.registry.compare(parameter)
        return self.run

    def _look_at_what_was_left(self) -> None:
        """The program ended within a step that went by unseen: perhaps because its loss is bad."""
        engine = self.run.engine
        if engine is None or not self.resting or not self._given.models or self.run.incidents:
            return
        number = len(self.run.passes)
        self._hold_given(number)
        bad = any(not math.isfinite(each) for each in losses_left(engine, self.run.error))
        snapshot = self._recalled(number, math.nan)
        if snapshot is not None and not goes_bad(snapshot):
            snapshot = None
        if snapshot is not None or bad:
            self._incident("loss", snapshot, self.run.passes[-1].where, step=number)

    def _finish(self, engine: Engine, course: Course, step: Update) -> None:
        """An update is done: put the step together and make room for the next one."""
        number = course.optimizer.number
        last = self._used.get(number, -1)
        step.passes = [each for each in self._pending if each.number > last]
        for each in step.passes:
            each.optimizer = number
            self._used[number] = each.number
        snapshot = next((each.snapshot for each in reversed(step.passes) if each.snapshot), None)
        if self._sample is not None and snapshot is not None:
            self._measure_update(engine, course, snapshot)
            step.sample = self._sample
        step.snapshot = snapshot
        self._keep(course, step)
        step.contaminated = step.contaminated or number in self._contaminated
        self._consumed[number] = True
        self._contaminated.discard(number)
        self._zeroed, self._stepped = False, True
        if not self._optimizing:
            self._new_step(engine, self._is_due(len(self.run.passes)))

    def _new_step(self, engine: Engine, due: bool) -> None:
        tape = self.tape(engine)
        self._boundaries.append(tape.end)
        kept = len(self.run.courses) + 1
        if len(self._boundaries) > kept + 3:  # now and then, not every time
            before = self._boundaries[-kept - 1]
            del self._boundaries[:-kept]
            tape.forget(before)
            self._marks = [mark for mark in self._marks if mark.after > before]
        self._unseen.clear()
        number = len(self.run.passes)
        self._sample = Sample() if due and not self.run.incidents else None
        self._rested = self._rested or self.resting
        self.run.watched += not self._rested
        by_hand = self._hand_course is not None
        lost = any(each.kind == "loss" for each in self.run.incidents)  # whatever comes matters now
        self.resting = not (due or by_hand or lost) and self._vigilance.may_rest(number)

    def _finish_by_hand(self) -> None:
        """The program changed parameters itself since the last pass: that was an update."""
        if not self._by_hand:
            return
        optimized = {id(each.tensor) for course in self.run.courses for each in course.parameters
                     if course.optimizer.thing is not None}  # fmt: skip
        for name in optimized & set(self._by_hand):  # clamped, averaged: not a course of its own
            del self._by_hand[name]
        if not self._by_hand or not self._pending or self.run.engine is None:
            return
        if self._hand_course is None:
            number = len(self.run.courses)
            where = next(iter(self._by_hand.values()))
            self._hand_course = Course(Optimizer(number, None, "by hand", where))
            self.run.courses.append(self._hand_course)
        course = self._hand_course
        for name in self._by_hand:
            parameter = self.run.parameters[name]
            if parameter not in course.parameters:
                course.parameters.append(parameter)
                parameter.optimizers.append(course.optimizer.number)
        where = next(iter(self._by_hand.values()))
        self._by_hand = {}
        step = Update(len(course.steps), [], self._hand_norms, [], where)
        step.zeroed = self._zeroed
        step.contaminated = course.optimizer.number in self._contaminated
        course.steps.append(step)
        self._finish(self.run.engine, course, step)
