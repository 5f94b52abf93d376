"""Values that never reach the loss and are differentiated all the same.

``where(mask, sqrt(x), 0)`` computes the root of everything.  Backward sends zeros to the elements
that were left out, and zero times an infinite slope is NaN.
"""

from __future__ import annotations

import numpy as np

from whygrad.doctor.mechanism.shared import Array
from whygrad.doctor.recording.calls import Produced
from whygrad.doctor.replay import Trace, Traced

__all__ = ["selection"]

_SELECTING = frozenset(("where", "masked_fill", "masked_fill_", "masked_select", "getitem"))


def selection(trace: Trace, call: Traced) -> Traced | None:
    """The call that leaves out the elements at which ``call`` has no finite slope."""
    singular = _singular(trace, call)
    shape = call.after[0].shape
    waiting = [Produced(call.number, 0)]
    seen: set[Produced] = set()
    while waiting:
        source = waiting.pop(0)
        if source in seen:
            continue
        seen.add(source)
        for each in trace.consumers(source):
            if each.op in _SELECTING and _leaves_out(trace, each, source, singular):
                return each
            if each.after and each.after[0].shape == shape and len(each.outputs) == 1:
                waiting.append(Produced(each.number, 0))
    return None


def _leaves_out(trace: Trace, call: Traced, source: Produced, singular: Array | None) -> bool:
    """Whether a selection takes none of the singular elements."""
    places = [place for place, each in enumerate(call.sources) if each == source]
    masks = [place for place, each in enumerate(call.before) if each.dtype == "bool"]
    if not masks or not places or masks[0] in places:
        return False
    taken = trace.array(call.inputs[masks[0]])
    given = call.inputs[places[0]]
    other = len(call.args) > 2 and call.args[2] is given  # where(mask, one, other)
    if call.op.startswith("masked_fill") or (call.op == "where" and other):
        taken = ~taken
    if singular is None:
        return True
    try:
        taken, singular = np.broadcast_arrays(taken, singular)
    except ValueError:
        return True
    return not bool((taken & singular).any())


def _singular(trace: Trace, call: Traced) -> Array | None:
    """Where the value or the slope of an elementwise call is not finite."""
    values = [trace.array(each) for each in call.inputs]
    unsound: Array = ~np.isfinite(trace.array(call.outputs[0]))
    if call.op in ("sqrt", "rsqrt", "log", "log2", "log10", "pow"):
        return np.asarray(unsound | (values[0] <= 0))
    if call.op in ("div", "rdiv"):
        return np.asarray(unsound | (values[-1] == 0))
    return unsound if unsound.any() else None
