"""A policy that is compared with itself, in place of the one that acted.

The ratio of two probabilities of an action, clamped, keeps an update near the policy that acted.
It is 1 at the first update after acting and moves away from it with the next ones.  With one update
for each round of acting it is always 1, and that is no fault: what is reported was computed anew
since the program acted, or is the very result it is divided by, without its history.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from whygrad.doctor.evidence.provenance import chosen_draws
from whygrad.doctor.source.loops import loops_around
from whygrad.doctor.source.reader import covers
from whygrad.ops import families as ops
from whygrad.recording.calls import Produced
from whygrad.recording.replay import Trace, Traced
from whygrad.source import Where

__all__ = ["Ratio", "ratio_of_one"]


class Ratio(NamedTuple):
    """The clamped quotient of two probabilities that are the same."""

    where: Where
    again: Where | None  # where the old one is computed anew, if it is known to be


def ratio_of_one(trace: Trace) -> Ratio | None:
    """The ratio of a step, if it is exactly 1 everywhere."""
    for call in trace.calls:
        difference = trace.made_by(call.sources[0]) if call.op in ops.EXP and call.sources else None
        if difference is None or difference.op not in ops.SUB or len(difference.inputs) != 2:
            continue
        new, old = (trace.array(each) for each in difference.inputs)
        learned = [each.requires_grad for each in difference.inputs]
        if learned != [True, False] or new.size < 2 or not np.array_equal(new, old):
            continue
        if any(each.op in ops.CLAMPS for each in trace.consumers(Produced(call.number, 0))):
            return Ratio(call.where, _computed_again(trace, difference))
    return None


def _computed_again(trace: Trace, difference: Traced) -> Where | None:
    """The line with the old probability, in the loop of the updates: the action is from before."""
    made = trace.made_by(difference.sources[1])
    if made is not None and made.op in ops.DETACHES and made.sources[0] == difference.sources[0]:
        return made.where
    drawn = [where for call in chosen_draws(trace) for where in _made_at(trace, call.kept[1:])]
    loops = loops_around(difference.where)
    for where in _made_at(trace, difference.kept[1:]):
        inside = bool(loops) and covers(loops[0].node, where.line)
        if inside and drawn and not any(covers(loops[0].node, each.line) for each in drawn):
            return where
    return None


def _made_at(trace: Trace, values: Iterable[Any]) -> Iterator[Where]:
    """Where the program computed what a step was given, without gradients."""
    log = trace.snapshot.log
    for kept in values:
        made = trace.made_by(kept) if type(kept) is Produced else None
        numbers = set() if made is None else {made.number, *trace.ancestors(made)}
        calls = [each for each in trace.calls if each.number in numbers]
        for each in (kept, *(one for call in calls for one in call.kept)):
            origin = None if log is None or type(each) is Produced else log.origin(each)
            if origin is not None and origin.learned:
                yield origin.where
