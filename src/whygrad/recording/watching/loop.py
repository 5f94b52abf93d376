"""The state of the training loop: its optimizers, passes and updates.

Told by :mod:`..wrapping` of ``backward``, ``zero_grad``, clipping and ``step``, it writes courses,
passes and updates into the :class:`~.record.Run`.  A step that is skipped leaves a pass and an
update as well; what could not be measured is taken from the update before.
"""

from __future__ import annotations

import contextlib
import math
import sys
from collections.abc import Callable, Mapping
from types import FrameType
from typing import Any

import numpy as np

from whygrad.recording.engines import Engine
from whygrad.recording.record import Clip, Course, Pass, Run, Sample, Update
from whygrad.recording.sizes import Sizes, measure_update, rms_of, rms_of_data
from whygrad.recording.watching.by_hand import ByHand
from whygrad.recording.watching.courses import Courses
from whygrad.recording.watching.gradients import Gradients, not_finite
from whygrad.recording.watching.incidents import Incidents
from whygrad.recording.watching.parameters import Registry
from whygrad.recording.watching.reconstruction import Given, data_now
from whygrad.recording.watching.retention import Retention
from whygrad.recording.watching.sampler import Sampler
from whygrad.recording.watching.snapshots import Snapshots, keep
from whygrad.source import Where, program_frame

__all__ = ["Loop"]

_PHASES = 8  # optimizers whose first steps are looked at closely
_UNUSED = 8  # passes without an update, and twice as many as usual: none will come
_CLOSURE = 4  # passes of one update, after which its passes are skipped as updates are
_LONG_AGO = 256  # passes without an update of a course: nobody adds to its gradients
_STRUCTURE = 2000  # recorded calls: after so many the first pass has to tell the structure alone


class Loop:
    """What the program is training, and how far it is."""

    def __init__(
        self,
        run: Run,
        registry: Registry,
        sampler: Sampler,
        snapshots: Snapshots,
        retention: Retention,
    ) -> None:
        self.run = run
        self.registry = registry
        self.sampler = sampler
        self.snapshots = snapshots
        self._retention = retention
        self.gradients = Gradients(run, sampler)
        self.pending: list[Pass] = []  # passes since the last update
        self.stepped = False  # whether an update came after the last pass
        self.updating: list[Any] = []  # optimizers that are at work while idle
        self.courses = Courses(run, registry, snapshots)
        self.each_pass: Callable[[], None] | None = None  # who wants to know of passes
        self.by_hand = ByHand(self.courses)
        self.incidents = Incidents(run, sampler, snapshots)
        self._zeroed = False
        self._clips: list[Clip] = []
        self._in_closure = False
        self._skipped = False  # whether any step was
        self.most_passes = 1  # in one update so far
        self._unused = False  # whether passes go by without updates …
        self._pauses = 0  # … and how often that began

    # --- optimizers -------------------------------------------------------------------------------

    def optimizer_made(self, optimizer: Any, where: Where | None) -> Course | None:
        """The course of an optimizer, begun if it is new; None for one too many."""
        known = self.courses.of(optimizer)
        if known is not None:
            return known
        course = self.courses.begin(optimizer, where)
        if course is None:
            return None
        if self.run.passes and course.optimizer.number < _PHASES and not course.optimizer.remade:
            self._begin_again()
        return course

    def _begin_again(self) -> None:
        """Another optimizer: a phase that is looked at as the beginning of the run was."""
        self.sampler.begin_again(len(self.run.passes))
        if self.run.engine is not None and not self.sampler.optimizing:
            self.sampler.sample = None if self.run.incidents else Sample()
            self.sampler.skipping = False
            self.sampler.resume()
            self.run.engine.first_passes_again()

    def scheduler_made(self, optimizer: Any, kind: str, where: Where) -> None:
        course = self.optimizer_made(optimizer, None)
        if course is not None:
            course.optimizer.schedulers.append((kind, where))

    # --- passes -----------------------------------------------------------------------------------

    def backward_begins(self, engine: Engine, loss: Any, where: Where) -> None:
        self.run.engine = engine
        self.finish_by_hand()
        number, sampler, snapshots = len(self.run.passes), self.sampler, self.snapshots
        if number == 0:
            self.run.seed = int(engine.namespace.initial_seed())
        if not self._shows_structure(number):
            engine.first_passes_over()
        sampled = sampler.is_sampled(number)
        sampled |= sampler.sample is not None and not sampler.skipping
        if sampled or not sampler.skipping:
            self.registry.find_leaves(engine, snapshots.log(engine))
        array = engine.array(loss)
        value = float(array.item()) if array.size == 1 else float(np.mean(array))
        this = self.new_pass(engine, value, where, tuple(array.shape))
        given = snapshots.given
        this.input_rms, this.target_rms = tuple(given.inputs), tuple(given.targets)
        bad = not math.isfinite(value)
        if sampler.skipping:
            self._measure(this, given, program_frame(sys._getframe(1)))
            snapshots.hold_given(number)
            this.snapshot = snapshots.reconstruct(number, value) if bad else None
        else:
            snapshots.given = Given()
            this.root = snapshots.log(engine).source(loss)
            if sampled or (bad and not self.run.incidents):
                this.snapshot = snapshots.recipe = snapshots.of_loss(engine, loss, value)
                if this.snapshot is None and number == 0:  # a loss that nothing was computed for
                    self.run.last_snapshot = snapshots.of_everything(engine)
        self.enter(this, loss)
        if bad:
            self.incidents.note("loss", this.snapshot, where)
        if sampled:
            self._retention.count(number)

    def _shows_structure(self, number: int) -> bool:
        """Whether a pass is one of those that tell how the program hangs together: the first, and
        one more, because two models often take turns.
        """
        known = self.sampler.calls >= self.sampler.structure_until
        return number - self.sampler.began < (1 if known else 2)

    def new_pass(
        self, engine: Engine, value: float, where: Where, shape: tuple[int, ...] = ()
    ) -> Pass:
        """A pass begins, after the update before or on top of other passes."""
        if self.stepped:
            self.pending, self.stepped = [], False
        number = len(self.run.passes)
        for course in self.run.courses:
            if number - course.used < _LONG_AGO:
                self.gradients.look_for_old(engine, course)
        self.sampler.loss(number, value)
        return Pass(number, value, where, shape, bool(self.gradients.contaminated))

    def enter(self, this: Pass, loss: Any) -> None:
        self.run.passes.append(this)
        if self.run.engine is not None:
            self.run.engine.hush(None)
        self.pending.append(this)
        self._retention.note(loss, this.number)
        if self.each_pass is not None:
            self.each_pass()

    def _measure(self, this: Pass, given: Given, frame: FrameType) -> None:
        """A pass that was skipped turns out to be one to look at: how large its data were."""
        engine = self.run.engine
        assert engine is not None
        tensor = engine.tensor
        models = [each for args in given.models for each in args if isinstance(each, tensor)]
        if self.snapshots.recipe is not None:
            inputs, targets = data_now(self.snapshots.recipe, frame)
            models = models or inputs
            this.target_rms = this.target_rms or rms_of_data(engine, targets)
        this.input_rms = this.input_rms or rms_of_data(engine, models)

    def backward_ends(self, engine: Engine, loss: Any, error: BaseException | None) -> None:
        this = self.run.passes[-1]
        this.error = error
        if error is not None:
            this.snapshot = this.snapshot or self.snapshots.of_loss(engine, loss, this.value)
            self.incidents.note("exception", this.snapshot, this.where, error)
            if not loss.requires_grad:
                self.registry.reached(engine, loss, first=True)
            return
        self.registry.reached(engine, loss, first=self._shows_structure(this.number))
        if this.number == self.sampler.began:
            self.sampler.structure_until = self.sampler.calls_then + _STRUCTURE
            if not self._shows_structure(this.number + 1):
                engine.first_passes_over()
        if not self.run.has_optimizer:
            self.look_at_gradients(engine)
        self.pass_ends(engine)

    def pass_ends(self, engine: Engine) -> None:
        """A pass is over.  Where no update uses passes, each of them counts as a step.

        When updates stop coming, the program has turned to something else: that is looked at as
        the beginning of the run was.
        """
        hand, passes = self.by_hand, len(self.pending)
        if self._in_closure and passes > _CLOSURE and self.sampler.may_skip(len(self.run.passes)):
            sample = self.sampler.sample  # which the update is measured with
            self._next_step(engine, updated=False)  # it may make thousands of passes
            self.sampler.sample = sample or self.sampler.sample
            self.sampler.step_over()
        if self.stepped or self._in_closure:
            return
        if hand.expected and not hand.begun and passes >= self.most_passes:
            hand.begun, hand.sample = True, self.sampler.sample
            self._next_step(engine)
        elif passes > max(_UNUSED, 2 * self.most_passes):
            if not self._unused:
                self._unused = True
                self._turned_away()
            self._next_step(engine, updated=False)
        elif not self.sampler.skipping:
            return
        self.sampler.step_over()

    def _turned_away(self) -> None:
        """Updates have stopped coming."""
        self.by_hand.forget()
        self._pauses += 1
        if self._pauses <= _PHASES:
            self.sampler.begin_again(len(self.run.passes))
            self.sampler.resume()

    def gradients_taken(self, engine: Engine, leaves: list[Any], gradients: Any) -> None:
        """``autograd.grad`` has answered: a pass whose gradients are in no ``.grad``."""
        known = [self.registry.leaf(each) for each in leaves]
        there = [(each, one) for each, one in zip(known, gradients) if one is not None]
        for each, _ in there:
            each.reached, each.none_because = True, None
        sizes = rms_of(engine, [one for _, one in there])
        named = {each.name: size for (each, _), size in zip(there, sizes)}
        self._gradients_by_hand(engine, Sizes(named))
        self.pass_ends(engine)

    def look_at_gradients(self, engine: Engine) -> None:
        """Measure those that an update by hand is about to use; of a skipped step, a few."""
        hand = self.by_hand
        if hand.expected and self.sampler.skipping:
            course = hand.course
            if course is None or not course.steps:
                return
            sizes = self.gradients.while_idle(engine, course)
            if sizes is not None:
                hand.sizes = sizes
                return
        self._gradients_by_hand(engine, self.gradients.sizes(engine, self.registry.parameters()))

    def _gradients_by_hand(self, engine: Engine, sizes: Sizes) -> None:
        """The program, which has no optimizer, is about to use gradients of these sizes."""
        self.by_hand.sizes = sizes
        self.gradients.follow(len(self.run.passes), sizes)
        if not_finite(sizes):
            self.bad_gradient(engine)

    def bad_gradient(self, engine: Engine) -> None:
        """The gradients of the latest pass are not finite."""
        if not self.stepped:
            self.incidents.bad_gradient(engine, self.pending)

    # --- updates ----------------------------------------------------------------------------------

    def zeroed(self, where: Where) -> None:
        self.finish_by_hand()
        self._zeroed = True
        if not self.stepped and not self._in_closure:
            for each in reversed(self.pending):
                if each.cleared_at is not None:
                    break
                each.cleared_at = where
        if where not in self.run.zeroings:
            self.run.zeroings.append(where)

    def zeroed_idle(self) -> bool:
        """Gradients are cleared; False if no update has used them."""
        if self.by_hand.expected:
            self.finish_by_hand()
        self._zeroed = True
        return self.stepped

    def clipped(self, limit: Any, total: Any, where: Where) -> None:
        norm = None if total is None else float(total)
        kind = "value" if norm is None else "norm"
        self._clips.append(Clip(kind, float(limit), norm, where))

    def step_begins(self, engine: Engine, optimizer: Any, where: Where) -> None:
        self.sampler.optimizing += 1
        course = self.optimizer_made(optimizer, None)
        if course is None:
            return
        if not course.steps and course.optimizer.number < _PHASES:
            self.registry.find_holder(course.parameters)
        gradients = self.gradients.of_update(engine, course)
        rates = [float(group.get("lr", math.nan)) for group in optimizer.param_groups]
        step = self.new_update(course, gradients, rates, where)
        if self.sampler.skipping and self.pending:
            latest = self.pending[-1]
            given = self.snapshots.given_to(latest.number)
            self._measure(latest, given, program_frame(sys._getframe(1)))
        if step.index and gradients is course.steps[-2].gradients:
            return  # nothing new
        self.gradients.follow(len(self.run.passes), gradients)
        if not_finite(gradients):
            self.bad_gradient(engine)

    def new_update(
        self,
        course: Course,
        gradients: Mapping[str, float | None],
        rates: list[float],
        where: Where | None,
    ) -> Update:
        """An update of the course begins."""
        contaminated = course.optimizer.number in self.gradients.contaminated
        step = Update(len(course.steps), (), gradients, rates, where, self._zeroed, contaminated)
        if self._clips:
            step.clips, self._clips = self._clips, []
        course.steps.append(step)
        return step

    def step_ends(self, engine: Engine, optimizer: Any) -> None:
        closed, self._in_closure = self._in_closure, False
        self.sampler.optimizing = max(0, self.sampler.optimizing - 1)
        course = self.optimizer_made(optimizer, None)
        if course is None:
            self._updated(engine)
        elif course.steps:
            if closed and all(size is None for size in course.steps[-1].gradients.values()):
                course.steps[-1].gradients = self.gradients.sizes(engine, course.parameters)
            self._finish(course, course.steps[-1], self.sampler.sample)
            if self._began_unseen(course):
                self.sampler.begin_again(len(self.run.passes))
                engine.first_passes_again()
            self._updated(engine)
        self.by_hand.forget()

    def _began_unseen(self, course: Course) -> bool:
        """Whether an optimizer, made long before its first update, began amid skipped steps."""
        late = len(course.steps) == 1 and course.first is None and self.sampler.skipping
        return late and course.optimizer.number < _PHASES

    def step_failed(self) -> None:
        """A step ended by an exception, and the program went on."""
        self.sampler.optimizing = 0
        self.updating.clear()

    def closure_begins(self) -> None:
        """A step runs the program's closure: its calls are the program's."""
        self.sampler.optimizing = max(0, self.sampler.optimizing - 1)
        self._in_closure = True

    def _finish(self, course: Course, step: Update, sample: Sample | None) -> None:
        """An update is done: put the step together."""
        step.passes = tuple([each for each in self.pending if each.number > course.used])
        for each in step.passes:
            each.optimizer = course.optimizer.number
            course.used = each.number
            step.snapshot = each.snapshot or step.snapshot
        if step.snapshot is not None:
            if sample is not None:
                measure_update(step.snapshot.engine, course, step.snapshot, sample)
                step.sample = sample
            keep(course, step, step.snapshot)
        step.contaminated |= course.optimizer.number in self.gradients.contaminated
        self.gradients.used(course)
        self.most_passes = max(self.most_passes, len(step.passes))

    def _updated(self, engine: Engine, begun: bool = False) -> None:
        """An update has used the passes before it; ``begun``: the next step has already."""
        self._zeroed, self.stepped, self._unused = False, True, False
        if not self.sampler.optimizing and not begun:
            self._next_step(engine)

    def _next_step(self, engine: Engine, updated: bool = True) -> None:
        self.snapshots.release_given()
        number, sampler = len(self.run.passes), self.sampler
        due = sampler.is_due(number)
        if sampler.idle and not due and sampler.may_skip(number):
            return  # nothing was recorded, and nothing will be
        self.snapshots.next_step(engine)
        self.gradients.next_step()
        self._skipped = self._skipped or sampler.skipping
        self.run.watched += updated and not self._skipped
        lost = any(each.kind == "loss" for each in self.run.incidents)  # whatever comes matters now
        sampler.next_step(number, due, recorded=lost)

    def finish_by_hand(self) -> None:
        """The program changed parameters itself since the last pass: that was an update."""
        engine, hand, sampler = self.run.engine, self.by_hand, self.sampler
        if engine is None or not self.pending:
            return
        unseen = hand.expected and not self.stepped and sampler.skipping
        updates = hand.updates(engine, len(self.run.passes), unseen)
        if not updates:
            return
        beside = self.stepped  # an optimizer has used these passes
        sample = hand.sample if hand.begun else sampler.sample
        for course, where in updates:
            if course is not None:
                self._finish(course, self.new_update(course, hand.sizes, [], where), sample)
        self._updated(engine, begun=beside or hand.begun)
        if not beside:
            hand.expected, hand.begun, hand.sample = True, False, None

    # --- the end ----------------------------------------------------------------------------------

    def failed(self) -> None:
        """The program ended with an exception: perhaps within a step."""
        engine = self.run.engine or next(iter(self.snapshots.engines()), None)
        if engine is not None and len(self.snapshots.log(engine)):
            if not_finite(self.gradients.sizes(engine, self.registry.parameters())):
                self.bad_gradient(engine)
            with contextlib.suppress(Exception):
                self.run.last_snapshot = self.snapshots.of_everything(engine)

    def finish(self) -> None:
        """The program is over."""
        self.finish_by_hand()
        self.incidents.look_at_what_was_left()
        if not self.stepped:
            self.run.unfinished = self.pending
