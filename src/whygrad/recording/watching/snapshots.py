"""What it takes to run a step again: the calls of the latest steps, and what they were given.

A step that was recorded is cut out of the log of calls.  One that was skipped is put together from
the latest recipe (:mod:`.reconstruction`) and what its models were given, which is held until the
next update.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from typing import Any

from whygrad.recording.calls import CallLog, Produced, RecordedCall, members
from whygrad.recording.engines import Engine, OutOfReach, engines
from whygrad.recording.record import Course, Mark, Run, Snapshot, Update
from whygrad.recording.scope import Scope
from whygrad.recording.variables import held, key_of
from whygrad.recording.watching.gradients import not_finite
from whygrad.recording.watching.reconstruction import Given, reconstructed
from whygrad.source import program_frame

__all__ = ["Snapshots", "keep", "leaves_of"]

_HELD = 16  # passes whose data are kept
_LARGE = 1 << 26  # bytes of a model of which few copies are kept …
_SMALL = 1 << 20  # … and of its parameters that say which way the first update went
_OTHERS = 5  # batches for experiments, beside the first and the two latest …
_LIGHT = 1 << 23  # … of models and data of so many bytes, each


class Snapshots:
    """The logs of a run's calls, and the steps that are cut out of them."""

    def __init__(self, run: Run, scope: Scope) -> None:
        self._run = run
        self._scope = scope
        self._logs: dict[str, CallLog] = {}
        self.marks: list[Mark] = []  # calls of modules in the latest steps
        self.boundaries: list[int] = []  # ends of the log at the latest updates
        self.training_lines = run.training_lines  # that call a model to train it
        self.recipe: Snapshot | None = None  # the latest one: what a step is like
        self.given = Given()  # to this pass so far
        self._held: dict[int, Given] = {}  # to the skipped passes since the last update

    def log(self, engine: Engine) -> CallLog:
        log = self._logs.get(engine.name)
        if log is None:
            log = self._logs[engine.name] = CallLog(engine.tensor)
        return log

    def logs(self) -> Iterable[CallLog]:
        return self._logs.values()

    def engines(self) -> list[Engine]:
        """Those that the program has called anything of."""
        return [each for each in engines().values() if each.name in self._logs]

    def has_met(self, engine: Engine) -> bool:
        return engine.name in self._logs

    def of_loss(self, engine: Engine, loss: Any, value: float) -> Snapshot | None:
        """The step that ends with ``loss``; None if no recorded call made it."""
        source = self.log(engine).source(loss)
        return None if source is None else self.of_source(engine, source, value)

    def of_source(self, engine: Engine, source: Produced, value: float) -> Snapshot | None:
        """The step that ends with what a call made; None if it cannot be run again."""
        log = self.log(engine)
        snapshot = None
        with suppress(OutOfReach):  # parameters that are there only while they are used
            snapshot = self._cut(engine, log.slice([source]), source, value)
        if snapshot is None:
            return None
        arguments = ((call.args, call.kwargs) for call in snapshot.calls.values())
        used = {key_of(each) for each in members(list(arguments))}
        snapshot.variables = held(program_frame(sys._getframe(1)), log, engine.tensor, used)
        return snapshot

    def of_everything(self, engine: Engine) -> Snapshot | None:
        """All calls that are known, of a step that was not finished."""
        log = self.log(engine)
        with suppress(OutOfReach):
            return self._cut(engine, dict(enumerate(log.calls, log.first)), None, math.nan)
        return None

    def _cut(
        self, engine: Engine, calls: dict[int, RecordedCall], source: Produced | None, value: float
    ) -> Snapshot:
        log = self.log(engine)
        log.note_training(calls.values())
        leaves = leaves_of(calls.values(), engine.tensor)
        since = self.boundaries[-1] if self.boundaries else 0
        marks = [mark for mark in self.marks if mark.after > since]
        for mark in marks:
            made = {each.call for each in members(mark.outputs) if type(each) is Produced}
            if mark.depth == 0 and made & calls.keys():
                self.training_lines[mark.key] = mark.where
                self._run.differentiated.setdefault(mark.where, set()).add(len(self._run.passes))
        return Snapshot(
            engine,
            len(self._run.passes),
            calls,
            source,
            value,
            marks,
            values={name: engine.copy(leaf) for name, leaf in leaves.items()},
            leaves=leaves,
            loose=[
                call
                for number, call in enumerate(log.calls, log.first)
                if number >= since and number not in calls
            ],
            log=log,
            switched=frozenset(log.switched),
        )

    def reconstruct(self, number: int, value: float, latest: bool = True) -> Snapshot | None:
        """For a pass that was skipped: the latest recipe, with what is known of the pass.

        The program's variables hold the data of the ``latest`` pass.
        """
        if self.recipe is None:
            return None
        frame = program_frame(sys._getframe(1)) if latest else None
        with self._scope.paused():
            return reconstructed(self.recipe, self.given_to(number), frame, number, value)

    def hold_given(self, number: int) -> None:
        """Keep what a pass was given until the update; of many without one only the latest."""
        self._held[number], self.given = self.given, Given()
        if len(self._held) > _HELD:
            del self._held[min(self._held)]

    def given_to(self, number: int) -> Given:
        """What a skipped pass since the last update was given."""
        return self._held.get(number) or Given()

    def release_given(self) -> None:
        self._held.clear()

    def next_step(self, engine: Engine) -> None:
        """An update is done; of the calls those of the latest steps are kept."""
        log = self.log(engine)
        log.settle(self.boundaries[-1] if self.boundaries else 0)
        self.boundaries.append(log.end)
        kept = len(self._run.courses) + 1
        if len(self.boundaries) > kept + 3:  # now and then, not every time
            before = self.boundaries[-kept - 1]
            del self.boundaries[:-kept]
            log.forget(before)
            self.marks = [mark for mark in self.marks if mark.after > before]


def keep(course: Course, step: Update, snapshot: Snapshot) -> None:
    """Of all snapshots, keep the first, the two latest that were well and the first bad one.

    Each has a copy of the parameters: of a large model, two of them are enough.
    """
    large = _total(snapshot.values.values()) > _LARGE
    if course.first is None:
        course.first = snapshot
        tensors = [each.tensor for each in course.parameters]
        kept = [each for each in tensors if not large or _bytes(each) < _SMALL]
        course.after = {id(each): snapshot.engine.copy(each) for each in kept}
    if not math.isfinite(snapshot.value) or not_finite(step.gradients):
        course.bad = course.bad or snapshot
        return
    replaced = course.last if large else course.earlier
    if replaced not in (None, course.first):
        for each in reversed(course.steps):
            if each.snapshot is replaced:
                each.snapshot = None
                for one in each.passes:
                    one.snapshot = None
                break
        _set_aside(course, replaced)
    course.earlier, course.last = None if large else course.last, snapshot


def _set_aside(course: Course, snapshot: Snapshot) -> None:
    """Keep the batch of a step for experiments, if it is light."""
    given = {
        id(each): each
        for each in members([(call.args, call.kwargs) for call in snapshot.calls.values()])
        if isinstance(each, snapshot.engine.tensor)
    }
    if max(_total(snapshot.values.values()), _total(given.values())) <= _LIGHT:
        course.others = [*course.others, replace(snapshot, loose=[])][-_OTHERS:]


def _total(tensors: Iterable[Any]) -> int:
    return sum(map(_bytes, tensors))


def _bytes(tensor: Any) -> int:
    return math.prod(tensor.shape) * int(tensor.itemsize)


def leaves_of(calls: Iterable[RecordedCall], kind: type) -> dict[int, Any]:
    """The tensors from elsewhere among the arguments that require grad."""
    return {
        id(each): each
        for each in members([(call.args, call.kwargs) for call in calls])
        if isinstance(each, kind) and each.requires_grad and each.is_leaf  # type: ignore[attr-defined]
    }
