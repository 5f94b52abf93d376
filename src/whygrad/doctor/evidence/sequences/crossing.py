"""A recurrent layer that goes through the samples in place of the time steps.

Without ``batch_first`` a recurrent layer takes axis 0 for the time.  Given a batch of sequences
[N, T, F] it goes from sample to sample, and no shape tells: the result is [N, T, H], as wanted.
Gradients do tell, exactly.  Of one answer, the gradient for the layer's *result* says what the
program takes for a sample: one row of axis 0.  The gradient for the layer's *input* must stay in
that row, too; if it does not, the answer for one sample depends on the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.evidence.flow import shape_of
from whygrad.doctor.evidence.provenance import given_inputs, rows_of
from whygrad.recording.calls import Produced
from whygrad.recording.record import Mark
from whygrad.recording.replay import Trace
from whygrad.recording.replay.reading import Reading, Term

__all__ = ["Crossing", "crossings"]

Shape = tuple[int, ...]

_KINDS = ("LSTM", "GRU", "RNN")


@dataclass(frozen=True)
class Crossing:
    """A call of a recurrent layer that carries its state from sample to sample."""

    mark: Mark
    shape: Shape  # of what it was given: samples, time steps, features
    row: int  # the answer that was looked at …
    others: int  # … and how many other samples it depends on
    step: int | None  # the one time step that the answer is taken from; None if it is more


def crossings(case: Case, reading: Reading) -> Iterator[Crossing]:
    """The recurrent layers of a step that mix the samples of its batch."""
    trace = reading.trace
    if not trace.reproduced:
        return
    for mark in trace.marks():
        if _is_time_first(mark):
            for term in reading.terms:
                found = _crossing(case, trace, mark, term)
                if found is not None and (found.step is not None or _has_no_order(reading, found)):
                    yield found
                    break


def _is_time_first(mark: Mark) -> bool:
    library = type(mark.module).__module__.partition(".")[0] in ("torch", "whygrad")
    return library and mark.kind in _KINDS and not mark.module.batch_first


def _crossing(case: Case, trace: Trace, mark: Mark, term: Term) -> Crossing | None:
    given, *state = mark.inputs or (None,)
    made = mark.outputs[0]
    tensors = [trace.value(each) for each in (given, made)]
    if not all(isinstance(each, trace.engine.tensor) for each in tensors):
        return None  # packed sequences, or a result that the loss does not depend on
    if any(each is not None for each in state):
        return None  # whoever makes a state knows which axis is the batch
    shape = shape_of(tensors[0])
    if not _one_answer_a_row(shape, term):
        return None
    row = shape[0] // 2
    after = _influence(case, trace, term, row, made, range(mark.after, term.call.number))
    if after is None or after.shape[:2] != shape[:2] or set(np.nonzero(after)[0]) != {row}:
        return None
    before = _influence(case, trace, term, row, given, range(mark.before, mark.after))
    others = set() if before is None else set(np.nonzero(before)[0]) - {row}
    if not others:
        return None
    steps = np.unique(np.nonzero(after)[1])
    return Crossing(mark, shape, row, len(others), int(steps[0]) if len(steps) == 1 else None)


def _one_answer_a_row(shape: Shape, term: Term) -> bool:
    """Whether there is one answer for each row of axis 0, and none for those of axis 1.

    Answers along both axes may be those of [T, N] as well as of [N, T]; and one column is one long
    sequence.  Where there are as many samples as time steps, the gradient tells which row it is.
    """
    if term.target is None or len(shape) != 3:
        return False
    rows, columns, _ = shape
    answers = (shape_of(term.prediction), shape_of(term.target))
    return columns >= 2 <= rows and all(
        each[:1] == (rows,) and columns not in each[1:] for each in answers
    )


def _influence(
    case: Case, trace: Trace, term: Term, row: int, encoded: Any, calls: range
) -> np.ndarray[Any, Any] | None:
    """The gradient of one answer for a tensor that goes into some of the calls."""
    engine = trace.engine
    leaf = engine.copy(trace.value(encoded)).requires_grad_()
    instead: dict[int, dict[int | str, Any]] = {}
    for number in calls:
        call = trace.snapshot.calls.get(number)
        if call is not None:
            named = (*enumerate(call.args), *call.kwargs.items())
            places: dict[int | str, Any] = {
                place: leaf for place, each in named if _is_same(each, encoded)
            }
            if places:
                instead[number] = places

    def answer(again: Trace) -> Any:
        made = again.value(term.source)[row].reshape(-1)
        # Different weights: the plain sum of probabilities is 1, whatever they depend on.
        return (made * engine.namespace.arange(1, len(made) + 1)).sum()

    if not instead or term.source is None:
        return None
    trace.again(instead=instead, objective=answer)
    return None if leaf.grad is None else engine.array(leaf.grad)


def _is_same(one: Any, other: Any) -> bool:
    return one is other or (type(one) is Produced and one == other)


def _has_no_order(reading: Reading, found: Crossing) -> bool:
    """Whether the rows were drawn in any order, which no one does with time steps.

    An answer from all columns may be a mean over several series that run along axis 0.
    """
    for source, given in given_inputs(reading):
        rows = rows_of(reading.trace, source, given)
        if rows is not None and len(rows.index) == found.shape[0] and rows.shuffles:
            return True
    return False
