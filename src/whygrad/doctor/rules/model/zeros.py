"""Parameters that are zero, get a gradient of zero, and so stay zero for ever.

The gradient of a product is the other factor: where both are zero (two factors of a matrix, both
matrices of an adapter), neither ever moves.  A single zero is none of this: it gets a gradient.
"""

from __future__ import annotations

import numpy as np

from whygrad.doctor.evidence.case import Case
from whygrad.recording.record import Course, Parameter
from whygrad.recording.replay.recipes import tensor_like

__all__ = ["stuck_at_zero"]


def stuck_at_zero(case: Case, course: Course) -> list[Parameter]:
    """Parameters that are zero from the first step to the last, and would learn from other values.

    Shown by the first step once more, with random values in the place of each in turn: others of
    them get a gradient then.
    """
    trace = case.trace(course.first)
    if trace is None or not trace.reproduced or course.last is None or course.last is course.first:
        return []
    array, ends = trace.engine.array, (trace.snapshot, course.last)
    zero = [
        each
        for each in course.parameters
        if id(each.tensor) in trace.gradients
        and not np.any(trace.gradients[id(each.tensor)])
        and all(
            id(each.tensor) in end.values and not np.any(array(end.values[id(each.tensor)]))
            for end in ends
        )
    ]
    if len(zero) < 2 or not case.budget.allows(trace.snapshot, len(zero)):
        return []
    random = np.random.default_rng(0)
    woken: dict[int, Parameter] = {}
    for one in zero:
        name = id(one.tensor)
        like = array(trace.snapshot.values[name])
        drawn = (case.limit("random") * random.standard_normal(like.shape)).astype(like.dtype)
        values = {**trace.snapshot.values, name: tensor_like(trace.engine, drawn)}
        again = trace.again(values=values)
        woken |= {
            id(each.tensor): each
            for each in zero
            if each is not one and np.any(again.gradients.get(id(each.tensor), 0))
        }
    weights = [each for each in zero if each.tensor.ndim > 1]
    return (weights or zero) if woken else []
