"""Values and gradients that grow because one step after the other multiplies them.

It is in the first step already, before any update: a weight that is applied again and again (a
recurrence), or many layers of the same kind, each making its values and the gradient a little
larger.  Or it is there as soon as the first update has moved a weight that a sequence applies to
its own results many times.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from whygrad.doctor.evidence.anatomy import size_of
from whygrad.doctor.evidence.case import Case
from whygrad.ops.families import LINEAR, RESHAPING, SEQUENCES
from whygrad.recording.record import Course, Parameter, Snapshot
from whygrad.recording.replay import Trace, Traced

__all__ = ["Growth", "Runaway", "growth", "runaway"]

_LONG = 10  # steps of a sequence: fewer do not turn a small factor into a large one
_HUGE = 1e6


@dataclass(frozen=True)
class Growth:
    """The gradient at the end of a chain of multiplications, and at its beginning."""

    chain: list[Traced]  # in the order of the forward pass
    late: float  # the gradient's size at the end of the chain, where backward comes in
    early: float  # and at the beginning, where it goes out
    weight: Parameter | None  # the weight that all of them use, if it is one
    forward: float = 1.0  # how many times larger the values are at the end than at the beginning

    @property
    def factor(self) -> float:
        return self.early / self.late

    @property
    def compound(self) -> float:
        """Both ways together: values that grow make the gradient that sets out larger as well."""
        return self.factor * max(1.0, self.forward)

    @property
    def per_link(self) -> float:
        return float(self.factor ** (1.0 / max(1, len(self.chain) - 1)))


def growth(
    case: Case,
    course: Course,
    snapshot: Snapshot | None = None,
    *,
    links: int = 5,
    factor: float = 1e3,
) -> Growth | None:
    """The chain that makes the gradient grow most, in the first step or another, if it is a lot."""
    trace = case.trace(snapshot or course.first)
    if trace is None or not trace.reproduced:
        return None
    found = [
        each
        for each in (*_recurrences(case, trace), _layers(trace))
        if each is not None and len(each.chain) >= links and each.compound >= factor
    ]
    # One weight that explains it says more than the depth of everything around it.
    return max(found, key=lambda each: (each.weight is not None, each.compound), default=None)


def _recurrences(case: Case, trace: Trace) -> list[Growth | None]:
    """One chain for each weight that is applied to its own earlier results."""
    uses: dict[int, list[Traced]] = {}
    for call in trace.calls:
        for name in _weights(trace, call) if call.op in LINEAR else ():
            uses.setdefault(name, []).append(call)
    return [
        _measured(chain, case.run.parameters.get(name))
        for name, chain in uses.items()
        if len(chain) > 2 and trace.descends(chain[-1], chain[0])
    ]


def _weights(trace: Trace, call: Traced) -> dict[int, Any]:
    """The matrices among what a call is given that are parameters, as they are or transposed."""
    leaves = {id(copy): name for name, copy in trace.parameters.items()}
    found = {}
    for given, source in zip(call.inputs, call.sources):
        leaf = given
        made = trace.made_by(source)
        while made is not None and made.op in RESHAPING and made.inputs:
            leaf, made = made.inputs[0], trace.made_by(made.sources[0])
        if made is None and id(leaf) in leaves and leaf.ndim > 1:
            found[leaves[id(leaf)]] = leaf
    return found


def _layers(trace: Trace) -> Growth | None:
    """The layers that stand one after the other, each with weights of its own."""
    chain: list[Traced] = []
    for call in trace.calls:
        if call.op in LINEAR and (not chain or trace.descends(call, chain[-1])):
            chain.append(call)
    if len(chain) < 3 or len({call.where for call in chain}) > len(chain):
        return None
    # One layer that is off by far is a matter of its initial values, not of depth.
    found = _measured(chain, None)
    if found is None:
        return None
    jumps = [_size(early) / _size(late) for early, late in pairwise(chain) if _size(late) > 0]
    jumps += [_made(late) / _made(early) for early, late in pairwise(chain) if _made(early) > 0]
    return found if max(jumps, default=0.0) < 30.0 else None


def _measured(chain: list[Traced], weight: Parameter | None) -> Growth | None:
    late, early = _size(chain[-1]), _size(chain[0])
    if not (late > 0 and math.isfinite(late) and math.isfinite(early)):
        return None
    before, after = _made(chain[0]), _made(chain[-1])
    grown = after / before if before > 0 and math.isfinite(after) else 1.0
    return Growth(chain, late, early, weight, grown)


def _size(call: Traced) -> float:
    """The root mean square of the gradient of a call's result."""
    return size_of(call.gradients[0]) if 0 in call.gradients else 0.0


def _made(call: Traced) -> float:
    """The root mean square of a call's result."""
    return size_of(call.after[0]) if call.after else 0.0


@dataclass(frozen=True)
class Runaway:
    """A sequence whose values left float32, although what went into it was ordinary."""

    call: Traced  # the first that could not hold them
    length: int  # how often the weight is applied
    given: float  # the largest value that the sequence began with
    weight: Parameter | None
    whole: bool = False  # whether one module of the library goes through all of it


def runaway(case: Case, course: Course) -> Runaway | None:
    """The sequence that an update has made run away, if that is how the course broke."""
    bad = case.first_bad
    if bad is None or bad.kind != "forward" or bad.call is None or bad.trace is None:
        return None
    if bad.trace.snapshot is not course.bad:
        return None
    trace, call = bad.trace, bad.call
    weights = _weights(trace, call).items()
    square = [name for name, each in weights if each.ndim == 2 and each.shape[0] == each.shape[1]]
    if not square:
        return None
    weight = case.run.parameters.get(square[-1])
    if call.op in SEQUENCES:
        length = max(call.before[0].shape[:2])
        return _ordinary(Runaway(call, length, call.before[0].largest, weight, True))
    chain = [
        each for each in trace.calls if each.op in LINEAR and square[-1] in _weights(trace, each)
    ]
    if len(chain) < 2 or not trace.descends(call, chain[0]):
        return None
    kinds = {mark.kind for mark in trace.marks() if mark.path == call.module}
    whole = bool(kinds & {"RNN", "LSTM", "GRU"})
    return _ordinary(Runaway(call, len(chain), chain[0].after[0].largest, weight, whole))


def _ordinary(found: Runaway) -> Runaway | None:
    return found if found.length >= _LONG and found.given < _HUGE else None
