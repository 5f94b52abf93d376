"""Numbers that left their dtype: they had grown before, or only float16 is too narrow for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from whygrad.doctor.forensics import FirstBad
from whygrad.doctor.mechanism.domains import Mechanism
from whygrad.ops.families import LINEAR
from whygrad.recording.record import Snapshot
from whygrad.recording.replay import Trace, Traced
from whygrad.source import Where

if TYPE_CHECKING:
    from whygrad.doctor.evidence.case import Case

__all__ = [
    "exploded", "gradients_lost", "inflater", "overflow_unseen", "overflows_in_half",
    "where_halved",
]  # fmt: skip

_ORDINARY = 1e9  # what layers make of data is far below, what overflows by one product far above
_GROWN = 10.0  # parameters that are this many times their first size have exploded


def inflater(trace: Trace, call: Traced) -> Traced | None:
    """The call that made the huge numbers which ``call`` was given, out of ordinary ones."""
    at = call
    while True:
        sizes = [each.largest if each.size else 0.0 for each in at.before]
        huge = max(range(len(sizes)), key=lambda place: sizes[place], default=None)
        if huge is None or not sizes[huge] >= _ORDINARY:
            return at if at is not call else None
        made = trace.made_by(at.sources[huge])
        if made is None:
            return None
        at = made


def exploded(case: Case, bad: FirstBad) -> bool:
    """Whether parameters have outgrown their first values, with which the step would be sound."""
    assert bad.trace is not None
    snapshot, first = bad.trace.snapshot, case.first
    if first is None or first is snapshot:
        return False
    values = {name: value for name, value in first.values.items() if name in snapshot.values}
    now = _norm(snapshot.engine, {name: snapshot.values[name] for name in values})
    if now < _GROWN * _norm(snapshot.engine, values):
        return False
    again = bad.trace.again(values=values, look=True)
    return bool(np.isfinite(again.loss)) and all(each[2].finite for each in again.arrivals)


def _norm(engine: Any, values: dict[int, Any]) -> float:
    squares = [np.square(engine.array(each).astype(np.float64)).sum() for each in values.values()]
    return float(np.sqrt(sum(squares)))


# --- float16 --------------------------------------------------------------------------------------


def overflows_in_half(case: Case, bad: FirstBad) -> Mechanism | None:
    """The mechanism, if the step is finite as soon as float16 is replaced by float32."""
    trace = bad.trace
    if trace is None or not _has_half(trace):
        return None
    if bad.kind == "parameter":
        return _in_update(case, bad, trace)
    again = trace.again(wide=True, look=True)
    sound = np.isfinite(again.loss) and all(each[2].finite for each in again.arrivals)
    if again.error is not None or not sound or exploded(case, bad):
        return None
    given = "; ".join(str(each) for each in bad.before)
    text = f"{bad.op} got {given}; the same step in float32 is finite throughout"
    where = case.run.halved_at if bad.op in LINEAR else None
    return Mechanism("float16-range", bad, where or bad.where, text, [("first here", bad.where)])


def _in_update(case: Case, bad: FirstBad, trace: Trace) -> Mechanism | None:
    if bad.after is None or bad.after.dtype != "float16":
        return None
    leaf = next((name for name, each in trace.parameters.items() if each is bad.given), 0)
    parameter = case.run.parameters.get(leaf)
    name = "a parameter" if parameter is None else parameter.name
    text = (
        f"the update before step {bad.step} made {name} (float16) not finite out of finite"
        " gradients: in float16 an eps of 1e-8 is 0, and nothing is above 65504"
    )
    return Mechanism("float16-range", bad, _update_before(case, bad.step) or bad.where, text)


def where_halved(trace: Trace) -> Where | None:
    """The line that first makes float16 of other numbers in a step."""
    for call in trace.calls:
        given = any(each.dtype == "float16" for each in call.before)
        if not given and any(each.dtype == "float16" for each in call.after):
            return call.where
    return None


def overflow_unseen(trace: Trace) -> Traced | None:
    """The call whose result left float16, in a step with a finite loss: x / inf is 0."""
    for call in trace.calls:
        sound = all(each.finite for each in call.before)
        if sound and any(each.dtype == "float16" and each.infs for each in call.after):
            return call
    return None


def _has_half(trace: Trace) -> bool:
    return any(
        each.dtype == "float16" for call in trace.calls for each in (*call.before, *call.after)
    )


def _update_before(case: Case, number: int) -> Where | None:
    """The line of the update that came before a pass."""
    for course in case.courses:
        for step in course.steps:
            if step.passes and step.passes[-1].number == number - 1:
                return step.where
    return None


def gradients_lost(case: Case, snapshot: Snapshot | None) -> float | None:
    """The share of gradients that are zero in float16 and not in float32.

    None for a step without float16, and for one that does not come out the same again.
    """
    trace = case.trace(snapshot)
    if snapshot is None or trace is None or not trace.reproduced or not _has_half(trace):
        return None
    wide = trace.again(wide=True)
    if wide.error is not None or not np.isfinite(wide.loss):
        return None
    lost = there = 0
    for name, gradient in wide.gradients.items():
        own = trace.gradients.get(name)
        if own is not None and own.shape == gradient.shape:
            there += int((gradient != 0).sum())
            lost += int(((gradient != 0) & (own == 0)).sum())
    return lost / there if there else None
