"""Numbers that were too large before the call that could not hold them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from whygrad.doctor.forensics import FirstBad
from whygrad.doctor.replay import Trace, Traced

if TYPE_CHECKING:
    from whygrad.doctor.evidence.case import Case

__all__ = ["exploded", "inflater"]

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
