"""A recipe without what does not depend on the parameters.

Between the data and the model a program may do a lot (build a data set, pick a batch, scale it),
and all of it is in the recipe of a step.  An experiment that runs the step fifty times computes
that part once.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from whygrad.doctor.recording.calls import Produced, RecordedCall
from whygrad.doctor.recording.record import Snapshot
from whygrad.doctor.replay import Trace, replay

__all__ = ["condensed"]


def condensed(snapshot: Snapshot) -> Snapshot:
    """The same step, with the results of such calls in the place of the calls."""
    trace = replay(snapshot, backward=False, look=False)
    if trace.error is not None:
        return snapshot
    varying = _varying(trace)
    known = {each.number: each.outputs for each in trace.calls if each.number not in varying}
    calls = {
        number: _with(call, _filled(call.args, known), _filled(call.kwargs, known))
        for number, call in snapshot.calls.items()
        if number in varying
    }
    if snapshot.loss is None or snapshot.loss.call not in calls:
        return snapshot
    return replace(snapshot, calls=calls)


def _varying(trace: Trace) -> set[int]:
    """The calls that depend on a parameter, and those whose results such a call writes into."""
    found: set[int] = set()
    for each in trace.calls:
        learned = any(source is not None and source.call in found for source in each.sources)
        if learned or any(
            given.requires_grad
            for given, source in zip(each.inputs, each.sources)
            if source is None
        ):
            found.add(each.number)
            target = each.sources[0] if each.call.writes and each.sources else None
            made = trace.made_by(target)
            if made is not None and made.number not in found:
                found |= {made.number} | trace.ancestors(made)
    return found


def _with(call: RecordedCall, args: Any, kwargs: Any) -> RecordedCall:
    copied = RecordedCall.__new__(RecordedCall)
    for name in RecordedCall.__slots__:
        setattr(copied, name, getattr(call, name))
    copied.args, copied.kwargs = args, kwargs
    return copied


def _filled(value: Any, known: dict[int, list[Any]]) -> Any:
    if type(value) is Produced:
        return known[value.call][value.place] if value.call in known else value
    if type(value) in (tuple, list):
        return type(value)([_filled(each, known) for each in value])
    if type(value) is dict:
        return {key: _filled(each, known) for key, each in value.items()}
    return value
