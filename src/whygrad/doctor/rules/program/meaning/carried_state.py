"""The state that a recurrent layer ended one batch with, at the beginning of another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.evidence.provenance import given_inputs, rows_of
from whygrad.doctor.rules.rule import Finding, rule
from whygrad.doctor.rules.words import few
from whygrad.doctor.source.data import shuffled_loader
from whygrad.doctor.source.loops import handed_on
from whygrad.ops import families as ops
from whygrad.recording.calls import Produced
from whygrad.recording.record import Course, Snapshot
from whygrad.recording.replay import Trace, Traced
from whygrad.recording.replay.reading import Reading
from whygrad.source import Where

__all__: list[str] = []


@rule(
    thresholds={
        "updates": (8, "fewer are no training"),
        "rows": (4, "of a batch: fewer may be in any order by chance"),
    },
)
def carried_state(case: Case, course: Course) -> Iterator[Finding]:
    """The state of one batch begins another that has nothing to do with it.

    A recurrent layer is handed the state that it ended the batch before with. That is right for
    pieces of one long sequence, in their order. Where the samples come in random order, each begins
    with what the layer remembers of a stranger.

    Measured: At the kept steps a recurrent layer gets a first state that is a result of an earlier
    step, cut off from its history, and the samples of the batch are in random order: they were
    picked by numbers that are not in order, or by a loader that says shuffle=True.
    Fix: Begin each batch with no state: output, _ = rnn(x). Or keep the sequences in order:
    shuffle=False, and row i of a batch goes on where row i of the one before ended.
    Guardrail: assert hidden is None or not shuffle
    """
    if len(course.steps) < case.limit("updates"):
        return
    kept = {id(each): each for each in (course.earlier, course.last) if each is not None}
    found = [_carried(case, each) for each in kept.values()]
    told = found[-1] if found and None not in found else None
    if told is None:
        return
    call, made, order = told
    asked = _asked(call, list(kept.values())[-1])
    yield carried_state.finding(
        f"the layer at {call.spot} begins with a state that an earlier batch left behind "
        f"(line {made.line})",
        f"and the samples come in random order: {order}",
        where=asked,
        places=[("the state is kept here", None if made == asked else made)],
    )


def _carried(case: Case, snapshot: Snapshot) -> tuple[Traced, Where, str] | None:
    """The call that begins with a foreign state, where that was kept, and what is known of rows."""
    reading = case.reading(snapshot)
    if reading is None:
        return None
    for call in reading.trace.calls:
        asked = _asked(call, snapshot)
        made = _state(reading.trace, call, asked) if call.op in ops.RECURRENT else None
        if made is not None:
            order = _order(case, reading)
            return None if order is None else (call, made, order)
    return None


def _state(trace: Trace, call: Traced, asked: Where) -> Where | None:
    """Where the first state of a layer was kept from the step that computed it.

    Of a step that was not looked at, the text tells what the next one was handed.
    """
    log = trace.snapshot.log
    for given, kept in zip(call.inputs[1:], call.kept[1:]):
        if type(kept) is Produced or given.requires_grad or not trace.array(given).any():
            continue
        origin = None if log is None else log.origin(kept)
        if origin is not None and origin.op in ops.DETACHES:
            return origin.where
        if origin is None and handed_on(asked) is not None:
            return asked
    return None


def _order(case: Case, reading: Reading) -> str | None:
    """How it is known that the samples of a batch are in random order."""
    for source, tensor in given_inputs(reading):
        rows = rows_of(reading.trace, source, tensor)
        index: Any = None if rows is None else rows.index
        if index is None or len(index) < case.limit("rows"):
            continue
        if rows is not None and rows.shuffles and len(np.unique(np.diff(index))) > 2:
            return f"this batch has the rows {', '.join(few([str(each) for each in index]))}"
    loader = next(
        (found for mark in reading.models if (found := shuffled_loader(mark.where))), None
    )
    return None if loader is None else f"the loader at line {loader.line} says shuffle=True"


def _asked(call: Traced, snapshot: Snapshot) -> Where:
    """The line of the program that calls the model which a layer is in."""
    marks = [
        mark for mark in snapshot.marks
        if not mark.depth and mark.before <= call.number < mark.after
    ]  # fmt: skip
    return marks[-1].where if marks else call.where
