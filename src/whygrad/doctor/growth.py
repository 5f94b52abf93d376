"""Gradients that grow on their way back, because one step after the other multiplies them.

It is in the first step already, before any update: a weight that is applied again and again (a
recurrence), or many layers of the same kind, each making the gradient a little larger.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

from whygrad.doctor.case import Case
from whygrad.doctor.record import Course, Parameter
from whygrad.doctor.replay import Trace, Traced
from whygrad.doctor.vocabulary import LINEAR

__all__ = ["Growth", "growth"]


@dataclass(frozen=True)
class Growth:
    """The gradient at the end of a chain of multiplications, and at its beginning."""

    chain: list[Traced]  # in the order of the forward pass
    late: float  # the gradient's size at the end of the chain, where backward comes in
    early: float  # and at the beginning, where it goes out
    weight: Parameter | None  # the weight that all of them use, if it is one

    @property
    def factor(self) -> float:
        return self.early / self.late

    @property
    def per_link(self) -> float:
        return float(self.factor ** (1.0 / max(1, len(self.chain) - 1)))


def growth(case: Case, course: Course, *, links: int = 5, factor: float = 1e3) -> Growth | None:
    """The chain that makes the gradient grow most in the first step, if it is a lot."""
    trace = case.trace(course.first)
    if trace is None or not trace.exact:
        return None
    found = [
        each
        for each in (*_recurrences(case, trace), _layers(trace))
        if each is not None and len(each.chain) >= links and each.factor >= factor
    ]
    return max(found, key=lambda each: each.factor, default=None)


def _recurrences(case: Case, trace: Trace) -> list[Growth | None]:
    """One chain for each weight that is applied to its own earlier results."""
    uses: dict[int, list[Traced]] = {}
    leaves = {id(copy): name for name, copy in trace.parameters.items()}
    for call in trace.calls:
        for given in call.inputs if call.op in LINEAR else ():
            if id(given) in leaves and given.ndim > 1:
                uses.setdefault(leaves[id(given)], []).append(call)
    return [
        _measured(chain, case.run.parameters.get(name))
        for name, chain in uses.items()
        if len(chain) > 2 and trace.descends(chain[-1], chain[0])
    ]


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
    return found if max(jumps, default=0.0) < 30.0 else None


def _measured(chain: list[Traced], weight: Parameter | None) -> Growth | None:
    late, early = _size(chain[-1]), _size(chain[0])
    if not (late > 0 and math.isfinite(late) and math.isfinite(early)):
        return None
    return Growth(chain, late, early, weight)


def _size(call: Traced) -> float:
    """The root mean square of the gradient of a call's result."""
    found = call.gradients.get(0)
    return 0.0 if found is None else math.hypot(found.mean, found.std)
