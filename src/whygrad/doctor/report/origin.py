"""The first invalid value: the call that made it, what went in, what came out.

Works on the replay of the step that went bad.  An invalid value that comes out of a call with valid
inputs was made there; everything after it only passes it on.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from whygrad.autograd.source import Where
from whygrad.doctor.case import Case
from whygrad.doctor.ranges import Range
from whygrad.doctor.replay import Trace, Traced

__all__ = ["FirstBad", "Frame", "first_bad", "frames"]

_FRAMES = 10
_AFTER = 2  # frames shown beyond the first bad one, to see the value spread


@dataclass
class FirstBad:
    """Where the first value that is not finite comes from."""

    phase: str  # "forward", "backward" or "data"
    op: str
    module: str
    where: Where
    inputs: list[Range]
    outputs: list[Range]  # in backward: the gradients that it sent on
    number: int  # of the call in the replay
    gradient: Range | None = None  # in backward: the one that reached it


@dataclass
class Frame:
    """One call of the step, as the overflow debugger of Hugging Face lists them."""

    low: float  # the smallest magnitude of what came out
    high: float
    layer: str
    op: str
    where: Where
    valid: bool
    first: bool


def first_bad(case: Case) -> FirstBad | None:
    """The origin of the first invalid value of a run, if there was one."""
    incident = case.incident
    if incident is None or incident.kind == "exception":
        return None
    trace = case.trace(incident.snapshot)
    if trace is None:
        return None
    return _in_forward(trace) or _in_backward(trace)


def _in_forward(trace: Trace) -> FirstBad | None:
    for call in trace.calls:
        if any(not each.finite for each in call.before):
            return _of("data", call)
        if any(not each.finite for each in call.after):
            return _of("forward", call)
    return None


def _in_backward(trace: Trace) -> FirstBad | None:
    """The backward of the call that took a valid gradient and sent on an invalid one."""
    for number, place, gradient in trace.arrivals:
        if gradient.finite:
            continue
        for call in trace.calls:
            takes = any(
                source is not None and (source.call, source.place) == (number, place)
                for source in call.sources
            ) or (number < 0 and any(-id(given) == place for given in call.inputs))
            arriving = call.gradients.get(0)
            if takes and arriving is not None and arriving.finite:
                found = _of("backward", call)
                found.outputs, found.gradient = [gradient], arriving
                return found
    return None


def _of(phase: str, call: Traced) -> FirstBad:
    return FirstBad(
        phase, call.op, call.module or "", call.where, call.before, call.after, call.number
    )


def frames(case: Case, bad: FirstBad | None) -> list[Frame]:
    """The calls up to the first bad one, in order, with what came out of each."""
    incident = case.incident
    trace = None if incident is None else case.trace(incident.snapshot)
    if trace is None or not trace.calls:
        return []
    numbers = [each.number for each in trace.calls]
    at = numbers.index(bad.number) if bad is not None and bad.number in numbers else len(numbers)
    end = min(len(numbers), at + 1 + _AFTER)
    shown = trace.calls[max(0, end - _FRAMES) : end]
    forward = bad is not None and bad.phase != "backward"
    return [
        _frame(trace, call, forward and bad is not None and call.number == bad.number)
        for call in shown
        if call.outputs
    ]


def _frame(trace: Trace, call: Traced, first: bool) -> Frame:
    low = high = math.nan
    output = call.outputs[0]
    if isinstance(output, trace.engine.tensor):
        sizes = np.abs(trace.array(output)).astype(np.float64)
        finite = sizes[np.isfinite(sizes)]
        if finite.size:
            low, high = float(finite.min()), float(finite.max())
        if sizes.size > finite.size:
            high = math.nan if np.isnan(sizes).any() else math.inf
    valid = all(each.finite for each in call.after)
    return Frame(low, high, call.module or "", call.op, call.where, valid, first)
