"""What happened when.

The first value that is not finite is told from those that come after it: it has a cause, the others
only pass it on.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from whygrad.doctor.report.history import History
from whygrad.doctor.report.words import count, ending, number, origin
from whygrad.source import Where

if TYPE_CHECKING:
    from whygrad.doctor.verdict import Diagnosis

__all__ = ["Event", "timeline"]

_ORDER = ("start", "cause", "first", "spread", "symptom", "clip", "lowest", "end", "crash")
_LONG_ENOUGH = 5  # steps, for the lowest loss to be an event


@dataclass(frozen=True)
class Event:
    """Something that happened at one step; ``kind`` is one of start, cause, first, spread, …"""

    step: int
    kind: str
    text: str
    where: Where | None = None
    rule: str | None = None


def timeline(diagnosis: Diagnosis, history: History) -> list[Event]:
    """All events, in the order in which they happened."""
    events = [
        *_ends(diagnosis, history),
        *_findings(diagnosis),
        *_invalid(diagnosis, history),
        *_clips(history),
    ]
    return sorted(events, key=lambda event: (event.step, _ORDER.index(event.kind)))


def _ends(diagnosis: Diagnosis, history: History) -> Iterator[Event]:
    run = diagnosis.case.run
    points = history.loss.points
    if points:
        yield Event(points[0][0], "start", f"the loss begins at {number(points[0][1])}")
    finite = history.loss.finite
    if len(finite) >= _LONG_ENOUGH:
        step, lowest = min(finite, key=lambda point: point[1])
        if step not in (finite[0][0], points[-1][0]):
            yield Event(step, "lowest", f"lowest loss, {number(lowest)}")
    if len(points) > 1:
        yield Event(points[-1][0], "end", f"the last step: the loss is {number(points[-1][1])}")
    if run.error is not None:
        said = textwrap.shorten(ending(run.error), 120, placeholder=" …")
        step = history.step_of_pass(max(0, len(run.passes) - 1))
        yield Event(step, "crash", f"the program ends with {said}")


def _findings(diagnosis: Diagnosis) -> Iterator[Event]:
    for each in diagnosis.findings:
        if each.step is not None:
            kind = "cause" if each.caused_by is None else "symptom"
            yield Event(each.step, kind, each.title, each.where, each.rule)


def _invalid(diagnosis: Diagnosis, history: History) -> Iterator[Event]:
    incident, bad = diagnosis.case.incident, diagnosis.case.first_bad
    if bad is not None:
        step = history.step_of_pass(bad.step)
        yield Event(step, "first", f"first invalid value: {origin(bad)}", bad.where)
    if incident is None or history.bad is None:
        return
    step = history.bad
    if bad is None:
        what = "loss" if incident.kind == "loss" else "gradient"
        yield Event(step, "first", f"first invalid value: the {what} is not finite", incident.where)
    spoiled = _bad_gradients(history, step)
    if spoiled is not None:
        at, names, total = spoiled
        yield Event(at, "spread", f"passed on to the gradients of {names} of {total} layers")
    later = [value for at, value in history.loss.points if at > step]
    invalid = sum(1 for value in later if not math.isfinite(value))
    if invalid:
        all_of = "all" if invalid == len(later) else f"{invalid} of"
        text = f"the loss is not finite in {all_of} {count(len(later), 'later step')}"
        how = "passed on through the weights" if spoiled else "made anew, the weights are finite"
        yield Event(step + 1, "spread", f"{how}: {text}")


def _bad_gradients(history: History, start: int) -> tuple[int, int, int] | None:
    """The first step from ``start`` on with gradients that are not finite: it, how many, of all."""
    for step in (start, start + 1):
        row = history.rows.get(step)
        if row is not None:
            bad = sum(1 for value in row.gradients.values() if not math.isfinite(value))
            if bad:
                return step, bad, len(row.gradients)
    return None


def _clips(history: History) -> Iterator[Event]:
    if history.clipped:
        step, norm = history.clipped[0]
        often = f"{count(len(history.clipped), 'update')} of {history.steps}"
        norm_then = f"first with a gradient norm of {number(norm)}"
        yield Event(step, "clip", f"gradients clipped in {often}, {norm_then}")
