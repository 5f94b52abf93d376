"""What is kept of a step: recipes to run it again, sizes of gradients, the first accident."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from whygrad.doctor.engines import Engine
from whygrad.doctor.ranges import rms, thinned
from whygrad.doctor.recording.calls import Produced, RecordedCall
from whygrad.doctor.recording.reconstruction import Given, recalled
from whygrad.doctor.recording.record import (
    Course,
    Incident,
    Parameter,
    Snapshot,
    Update,
)
from whygrad.doctor.recording.sizes import Sizes
from whygrad.doctor.recording.variables import held, key_of
from whygrad.doctor.source.frames import user_frame
from whygrad.doctor.witness.state import State
from whygrad.source import Where

__all__ = ["Snapshots", "leaves_of", "not_finite"]


class Snapshots(State):
    """The part of the witness that keeps what a replay needs."""

    def _snapshot(
        self,
        engine: Engine,
        loss: Any,
        value: float,
        whole: bool = False,
        root: Produced | None = None,
    ) -> Snapshot | None:
        tape = self.tape(engine)
        if whole:
            source, calls = (
                None,
                {tape.first + place: call for place, call in enumerate(tape.calls)},
            )
        else:
            source = root or tape.source(loss)
            if source is None:
                return None
            calls = tape.slice([source])
        tape.note_training(calls.values())
        leaves = leaves_of(calls.values(), engine.tensor)
        values = {name: engine.copy(leaf) for name, leaf in leaves.items()}
        since = self._boundaries[-1] if self._boundaries else 0
        loose = [
            call
            for place, call in enumerate(tape.calls, tape.first)
            if place >= since and place not in calls
        ]
        marks = [mark for mark in self._marks if mark.after > since]
        outermost = [mark for mark in marks if mark.depth == 0]
        used = (mark.where for mark in outermost if _made_by(mark.outputs) & calls.keys())
        self._familiar.update((where.key, where) for where in used)
        step = len(self.run.passes)
        parts = calls, source, value, marks, values, leaves, loose, tape, frozenset(tape.switched)
        snapshot = Snapshot(engine, step, *parts)
        if not whole:
            frame = user_frame(sys._getframe(1))
            snapshot.variables = held(frame, tape, engine.tensor, _data(calls.values()))
        return snapshot

    def _recalled(self, number: int, value: float, latest: bool = True) -> Snapshot | None:
        """For a pass that was not on the tape: the latest recipe, with what is known of it.

        The program's variables hold the data of the latest pass.
        """
        if self._recipe is None:
            return None
        given = self._unseen.get(number, Given())
        frame = user_frame(sys._getframe(1)) if latest else None
        with self.scope.paused():
            return recalled(self._recipe, given, frame, number, value)

    def _incident(
        self,
        kind: str,
        snapshot: Snapshot | None,
        where: Where,
        error: BaseException | None = None,
        step: int | None = None,
    ) -> None:
        if kind == "exception" or not self.run.incidents:
            index = len(self.run.passes) - 1 if step is None else step
            self.run.incidents.append(Incident(kind, index, None, snapshot, where, error))

    def _bad_gradient(self, engine: Engine) -> None:
        """The gradients of the latest pass are not finite."""
        if self.run.incidents or not self._pending or self._stepped:
            return
        latest = self._pending[-1]
        for each in self._pending:  # any of them may have made what is in the sum
            if each.snapshot is None and each.root is not None:
                each.snapshot = self._snapshot(engine, None, each.value, root=each.root)
            elif each.snapshot is None and self.resting:
                each.snapshot = self._recalled(each.number, each.value, each is latest)
            if each.snapshot is not None:
                each.snapshot.step = each.number
        self._incident("gradient", latest.snapshot, latest.where)

    def _gradients(self, engine: Engine, parameters: list[Parameter], most: int = 4096) -> Sizes:
        found: dict[str, float | None] = {each.name: None for each in parameters}
        there = [each for each in parameters if each.tensor.grad is not None]
        sizes = engine.sizes([each.tensor.grad for each in there], most)
        found.update(zip([each.name for each in there], sizes))
        return Sizes(found)

    def _step_gradients(self, engine: Engine, course: Course) -> Mapping[str, float | None]:
        """The sizes of an update's gradients; while resting, those of a few passes ago.

        Whether they are finite is asked at both ends of the network, where trouble arrives.
        """
        latest = course.steps[-1].gradients if course.steps else None
        if self.resting and latest and len(self.run.passes) % 8:
            ends = (course.parameters[0].tensor.grad, course.parameters[-1].tensor.grad)
            some = engine.sizes([each for each in ends if each is not None], most=64)
            if all(map(math.isfinite, some)):
                return latest
        return self._gradients(engine, course.parameters)

    def _measure_update(self, engine: Engine, course: Course, snapshot: Snapshot) -> None:
        assert self._sample is not None
        for each in course.parameters:
            before = snapshot.values.get(id(each.tensor))
            if before is None:
                continue
            old, new = thinned(engine.array(before)), thinned(engine.array(each.tensor))
            self._sample.weights[each.name] = rms(old)
            self._sample.updates[each.name] = change = rms(new - old)
            each.changed = each.changed or change > 0

    def _keep(self, course: Course, step: Update) -> None:
        """Of all snapshots, keep the first, the two latest that were well and the first bad one."""
        snapshot = step.snapshot
        if snapshot is None:
            return
        bad = not math.isfinite(snapshot.value) or not_finite(step.gradients)
        if course.first is None:
            course.first = snapshot
            tensors = [each.tensor for each in course.parameters]
            course.after = {id(each): snapshot.engine.copy(each) for each in tensors}
        if bad:
            course.bad = course.bad or snapshot
        else:
            if course.earlier not in (None, course.first):
                self._drop(course, course.earlier)
            course.earlier, course.last = course.last, snapshot

    def _drop(self, course: Course, snapshot: Snapshot | None) -> None:
        for step in reversed(course.steps):
            if step.snapshot is snapshot:
                step.snapshot = None
                for each in step.passes:
                    each.snapshot = None
                return


def leaves_of(calls: Iterable[RecordedCall], kind: type) -> dict[int, Any]:
    """The tensors from elsewhere among the arguments that require grad."""
    found: dict[int, Any] = {}
    waiting: list[Any] = [(call.args, call.kwargs) for call in calls]
    while waiting:
        each = waiting.pop()
        if isinstance(each, kind):
            if each.requires_grad and each.is_leaf:  # type: ignore[attr-defined]
                found[id(each)] = each
        elif isinstance(each, (list, tuple)):
            waiting.extend(each)
        elif isinstance(each, dict):
            waiting.extend(each.values())
    return found


def _data(calls: Iterable[RecordedCall]) -> set[Any]:
    """The keys of all that the calls are given."""
    found: set[Any] = set()
    waiting: list[Any] = [(call.args, call.kwargs) for call in calls]
    while waiting:
        each = waiting.pop()
        if isinstance(each, (list, tuple)) and not isinstance(each, Produced):
            waiting.extend(each)
        elif isinstance(each, dict):
            waiting.extend(each.values())
        else:
            found.add(key_of(each))
    return found


def _made_by(outputs: Any) -> set[int]:
    """The calls that made what a module answered."""
    if isinstance(outputs, Produced):
        return {outputs.call}
    if isinstance(outputs, dict):
        outputs = list(outputs.values())
    if isinstance(outputs, (list, tuple)):
        return set().union(*map(_made_by, outputs))
    return set()


def not_finite(gradients: Mapping[str, float | None]) -> bool:
    return any(each is not None and not math.isfinite(each) for each in gradients.values())
