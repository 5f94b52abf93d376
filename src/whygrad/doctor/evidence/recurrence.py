"""Steps of a sequence: what is left of the gradient when it has gone back through time.

A recurrent layer is one call of the engine (``nn.RNN``) or the same call at the same line many
times (``nn.RNNCell``, or a loop by hand).  Either way the gradient of the first step of the
sequence can be set against that of the last one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from whygrad.doctor.evidence.anatomy import layers_of, size_of
from whygrad.doctor.evidence.case import Case
from whygrad.ops.families import PLAIN_SEQUENCES, SQUASHERS
from whygrad.recording.ranges import rms
from whygrad.recording.replay import Trace, Traced
from whygrad.recording.replay.recipes import swapped

__all__ = ["Recurrence", "recurrences"]

_SHORTEST = 10


@dataclass(frozen=True)
class Recurrence:
    """One layer that goes through a sequence."""

    call: Traced  # the first of its calls
    length: int
    first: float  # the size of the gradient at the first step of the sequence …
    last: float  # … and at the one where it is largest
    weights: list[int]  # those that lead from step to step, by id of the leaf

    @property
    def ratio(self) -> float:
        return self.first / self.last if self.last > 0 else 1.0


def recurrences(case: Case, trace: Trace) -> list[Recurrence]:
    """The recurrent layers of a step whose sequences are long enough to matter."""
    names = {id(copy): name for name, copy in trace.parameters.items()}
    groups: dict[Any, list[Traced]] = defaultdict(list)
    for call in trace.calls:
        if 0 in call.gradients and (call.op in SQUASHERS or call.op.endswith("_cell")):
            groups[call.op, call.where].append(call)
    found = []
    for calls in groups.values():
        in_sequence = trace.descends(calls[-1], calls[0]) and len(calls) >= _SHORTEST
        weights = _square(case, trace, calls, names) if in_sequence else []
        if weights:
            sizes = [size_of(each.gradients[0]) for each in calls]
            found.append(Recurrence(calls[0], len(calls), sizes[0], max(sizes), weights))
    for call in trace.calls:
        if call.op in PLAIN_SEQUENCES:
            sizes = _over_time(trace, call)
            weights = _square_inputs(call, names)
            if weights and len(sizes) >= _SHORTEST:
                found.append(Recurrence(call, len(sizes), sizes[0], max(sizes), weights))
    return found


def _square(case: Case, trace: Trace, calls: list[Traced], names: dict[int, int]) -> list[int]:
    """Square weights that all of the calls share, directly or through layers called as often."""
    found = set(_square_inputs(calls[-1], names))
    layers = layers_of(case, trace)
    for layer in layers:
        uses = sum(each.name == layer.name for each in layers)
        if uses >= _SHORTEST and len(layer.shape) == 2 and layer.shape[0] == layer.shape[1]:
            found.add(layer.name)
    return sorted(found)


def _square_inputs(call: Traced, names: dict[int, int]) -> list[int]:
    known = [each for each in call.inputs if id(each) in names and each.ndim == 2]
    return [names[id(each)] for each in known if each.shape[0] == each.shape[1]]


def _over_time(trace: Trace, call: Traced) -> list[float]:
    """The size of the gradient of a layer's input, step by step of the sequence."""
    held: list[Any] = []

    def probing(inner: Callable[..., Any]) -> Callable[..., Any]:
        def probed(given: Any, *rest: Any, **named: Any) -> Any:
            held.append(given.detach().requires_grad_())
            return inner(held[0], *rest, **named)

        return probed

    snapshot = swapped(trace.snapshot, {call.number: probing})
    assert trace.budget is not None
    trace.budget.replay(snapshot)
    if not held or held[0].grad is None or held[0].ndim != 3:
        return []
    gradient: np.ndarray[Any, Any] = trace.array(held[0].grad)
    batch_first = bool(call.args[-1]) if isinstance(call.args[-1], bool) else False
    steps = np.moveaxis(gradient, 1 if batch_first else 0, 0)
    return [rms(each) for each in steps]
