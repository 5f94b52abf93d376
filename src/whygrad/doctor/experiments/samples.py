"""The samples that a run is trained on, and the recipe of a step with others in their place."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.evidence.provenance import Rows, given_inputs, rows_of, target_source
from whygrad.ops.families import CLASS_LOSSES
from whygrad.recording.calls import Produced, RecordedCall
from whygrad.recording.ranges import Array
from whygrad.recording.record import Course, Snapshot
from whygrad.recording.replay import Traced
from whygrad.recording.replay.reading import Reading
from whygrad.recording.replay.recipes import tensor_like

__all__ = ["Samples", "as_classes", "samples_of"]

Places = list[tuple[int, int | str]]  # numbers of calls, and which of their arguments


@dataclass(eq=False)
class Samples:
    """Training samples, and where a batch of them goes into the recipe of a step."""

    reading: Reading
    recipe: Snapshot
    inputs: Array
    targets: Array
    classes: Array
    input_places: Places
    target_places: Places

    @property
    def common(self) -> int:
        """The class that most of them have."""
        names, counts = np.unique(self.classes, return_counts=True)
        return int(names[counts.argmax()])

    @property
    def size(self) -> int:
        """Of a batch."""
        return int(self.reading.target.shape[0])

    def batch(self, rows: Array) -> dict[int, dict[int | str, Any]]:
        """What to put into the recipe for the step to be about these rows."""
        trace = self.reading.trace
        target = trace.array(self.reading.target)
        wanted = self.targets[rows].reshape(target.shape).astype(target.dtype)
        instead: dict[int, dict[int | str, Any]] = {}
        for places, array in (
            (self.input_places, self.inputs[rows]),
            (self.target_places, wanted),
        ):
            tensor = tensor_like(trace.engine, array)
            for number, place in places:
                instead.setdefault(number, {})[place] = tensor
        return instead


def samples_of(case: Case, course: Course, reading: Reading) -> Samples | None:
    """The whole training set, if the first batch can be followed back to it, or a few batches."""
    given = list(given_inputs(reading))
    call = reading.loss_call
    if len(given) != 1 or call is None or reading.target is None or not reading.target.ndim:
        return None
    source, tensor = given[0]
    begin = min((mark.before for mark in reading.models), default=0)
    users = [
        place
        for each in reading.trace.calls
        if each.number >= begin
        for place in _places(each, tensor)
    ]
    targets = _places(call, reading.target)
    whole = _whole_set(reading, source, tensor)
    if whole is None or len(whole[0]) == len(reading.target):
        whole = _batches(case, course, tensor)
    if whole is None or not users or not targets:
        return None
    classes = as_classes(whole[1], call.op)
    if len(classes) != len(whole[0]):  # several answers for each sample
        return None
    return Samples(reading, _recipe(reading, {*users, *targets}), *whole, classes, users, targets)


def _recipe(reading: Reading, given: set[tuple[int, int | str]]) -> Snapshot:
    """The step without the making of its batch, which a data loader takes hundreds of calls for."""
    whole = reading.trace.snapshot
    calls: dict[int, RecordedCall] = {}
    waiting = [] if whole.loss is None else [whole.loss.call]
    traced = {each.number: each for each in reading.trace.calls}
    while waiting:
        number = waiting.pop()
        if number in whole.calls and number not in calls:
            calls[number] = call = copy(whole.calls[number])
            again = traced[number]
            call.args = tuple(
                again.args[place] if (number, place) in given else each
                for place, each in enumerate(call.args)
            )
            call.kwargs = {
                name: again.kwargs[name] if (number, name) in given else each
                for name, each in call.kwargs.items()
            }
            waiting += [source.call for source in call.sources()]
    budget = reading.trace.budget
    assert budget is not None
    short = replace(whole, calls=dict(sorted(calls.items())))
    # What was written in place may be missing now: the loss would not be the same.
    return short if budget.replay(short, backward=False).reproduced else whole


def _places(call: Traced, tensor: Any) -> Places:
    arguments: list[tuple[int | str, Any]] = [*enumerate(call.args), *call.kwargs.items()]
    return [(call.number, place) for place, each in arguments if each is tensor]


def _whole_set(
    reading: Reading, source: Produced | None, tensor: Any
) -> tuple[Array, Array] | None:
    trace = reading.trace
    rows = rows_of(trace, source, tensor)
    answers = rows_of(trace, target_source(reading), reading.target)
    if rows is None or answers is None or rows.length != answers.length:
        return None
    if not np.array_equal(rows.index, answers.index):
        return None
    inputs = _as_in_batch(reading, rows, source, tensor)
    targets = _as_in_batch(reading, answers, target_source(reading), reading.target)
    return None if inputs is None or targets is None else (inputs, targets)


def _as_in_batch(
    reading: Reading, rows: Rows, source: Produced | None, tensor: Any
) -> Array | None:
    """All rows as the batch has them: features that were scaled, labels that were computed.

    Rows are followed back to the data that all began with, through what was computed from them.
    """
    trace = reading.trace
    batch, made = trace.array(tensor), trace.made_by(source)
    before = set() if made is None else {made.number} | trace.ancestors(made)
    known = [
        each
        for call in reversed(trace.calls)
        if call.number in before
        for each in (*call.outputs, *call.inputs)
        if isinstance(each, trace.engine.tensor)
    ]
    for each in (*known, rows.whole):
        if getattr(each, "ndim", 0) and int(each.shape[0]) == rows.length:
            whole = trace.array(each)
            taken = whole[rows.index]
            if taken.size == batch.size and np.array_equal(taken.reshape(batch.shape), batch):
                return whole.reshape(rows.length, *batch.shape[1:])
    return None


def _batches(case: Case, course: Course, tensor: Any) -> tuple[Array, Array] | None:
    """The batches at hand, one after the other."""
    inputs: list[Array] = []
    targets: list[Array] = []
    for snapshot in (course.first, course.earlier, course.last):
        each = case.reading(snapshot)
        given = [] if each is None else list(given_inputs(each))
        if each is None or each.target is None or len(given) != 1:
            continue
        batch = each.trace.array(given[0][1])
        known = any(np.array_equal(batch, other) for other in inputs)
        if not known and batch.shape[1:] == tuple(tensor.shape[1:]):
            inputs.append(batch)
            targets.append(each.trace.array(each.target))
    if len({each.shape[1:] for each in targets}) != 1:
        return None
    return np.concatenate(inputs), np.concatenate(targets)


def as_classes(target: Array, op: str) -> Array:
    """The class of each sample, for a loss with these targets."""
    if op in CLASS_LOSSES and target.dtype.kind == "f" and target.ndim > 1:
        return target.argmax(axis=1).ravel()  # a probability for each class
    return np.round(target).astype(np.int64).ravel()
