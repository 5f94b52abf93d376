"""Values that never reach the loss and are differentiated all the same.

``where(mask, sqrt(x), 0)`` computes the root of everything.  Backward sends zeros to the elements
that were left out, and zero times an infinite slope is NaN.
"""

from __future__ import annotations

import numpy as np

from whygrad.doctor.mechanism.domains import Array, singular
from whygrad.ops.families import CHOICES, GETITEM, MASKED_FILL, MASKED_SELECT, WHERE
from whygrad.recording.calls import Produced
from whygrad.recording.replay import Trace, Traced

__all__ = ["selection"]

_SELECTING = CHOICES | MASKED_SELECT | GETITEM


def selection(trace: Trace, call: Traced) -> Traced | None:
    """The call that leaves out the elements at which ``call`` has no finite slope.

    None if they go on another way as well: then they are not left out.
    """
    chosen: Traced | None = None
    there = singular(trace, call)
    shape = call.after[0].shape
    waiting = [Produced(call.number, 0)]
    seen: set[Produced] = set()
    while waiting:
        source = waiting.pop(0)
        if source in seen:
            continue
        seen.add(source)
        for each in trace.consumers(source):
            if each.op in _SELECTING and _leaves_out(trace, each, source, there):
                chosen = chosen or each
            elif each.after and each.after[0].shape == shape and len(each.outputs) == 1:
                waiting.append(Produced(each.number, 0))
            elif any(getattr(result, "requires_grad", False) for result in each.outputs):
                return None
    return chosen


def _leaves_out(trace: Trace, call: Traced, source: Produced, there: Array | None) -> bool:
    """Whether a selection takes none of the singular elements."""
    places = [place for place, each in enumerate(call.sources) if each == source]
    masks = [place for place, each in enumerate(call.before) if each.dtype == "bool"]
    if not masks or not places or masks[0] in places:
        return False
    taken = trace.array(call.inputs[masks[0]])
    given = call.inputs[places[0]]
    other = len(call.args) > 2 and call.args[2] is given  # where(mask, one, other)
    if call.op in MASKED_FILL or (call.op in WHERE and other):
        taken = ~taken
    if there is None:
        return True
    try:
        taken, there = np.broadcast_arrays(taken, there)
    except ValueError:
        return True
    return not bool((taken & there).any())
