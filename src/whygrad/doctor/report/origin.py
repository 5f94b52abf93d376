"""The first invalid value as a report tells it, and the calls around the one that made it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.forensics import find_first_bad
from whygrad.doctor.report.words import line
from whygrad.recording.ranges import Range
from whygrad.recording.replay import Trace, Traced
from whygrad.source import Where

__all__ = ["FirstInvalid", "Frame", "first_invalid", "frames"]

_FRAMES = 10
_AFTER = 2  # frames shown beyond the first bad one, to see the value spread


@dataclass
class FirstInvalid:
    """The first value that is not finite: where it was made, from what."""

    kind: str  # made in "forward" or "backward", or found in "data", a "parameter", or "outside"
    step: int  # the number of the pass
    op: str
    module: str
    where: Where
    inputs: list[Range]
    output: Range | None
    gradient: Range | None = None  # in backward: what arrived
    call: Traced | None = None
    trace: Trace | None = None
    reproduced: bool = True

    def __str__(self) -> str:
        module = f" in {self.module}" if self.module else ""
        call = f"`{self.op}`{module} at {line(self.where)}"
        return {
            "forward": f"{call} makes it from valid inputs",
            "backward": f"the backward of {call} makes it from a valid gradient",
            "data": f"it is in the data, from {call}",
            "parameter": f"it is in a parameter, seen first by {call}",
            "outside": f"{call} makes it, outside of the graph",
        }[self.kind]


@dataclass
class Frame:
    """One call of the step, as the overflow debugger of Hugging Face lists them."""

    low: float  # the smallest magnitude of what came out
    high: float
    layer: str
    op: str
    where: Where
    first: bool  # whether the first invalid value came out of it


def first_invalid(case: Case) -> FirstInvalid | None:
    """The origin of the first invalid value of a run, if there was one."""
    found = find_first_bad(case)
    if found is None:
        return None
    call = found.call
    return FirstInvalid(
        found.kind,
        found.step,
        found.op,
        "" if call is None or found.where != call.where else call.module or "",
        found.where,
        found.before,
        found.after,
        call.gradients.get(0) if call is not None and found.kind == "backward" else None,
        call,
        found.trace,
        found.reproduced,
    )


def frames(bad: FirstInvalid | None) -> list[Frame]:
    """The calls up to the first bad one, in order, with what came out of each."""
    if bad is None or bad.trace is None or bad.call is None:
        return []
    calls = bad.trace.calls
    end = min(len(calls), calls.index(bad.call) + 1 + _AFTER)
    return [
        _frame(bad.trace, call, bad.kind == "forward" and call is bad.call)
        for call in calls[max(0, end - _FRAMES) : end]
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
    return Frame(low, high, call.module or "", call.op, call.where, first)
