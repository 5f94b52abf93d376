"""Read a step: which tensor is the prediction, which the target, which call is the loss.

Found from the calls themselves.  The prediction is what the model returned; the loss begins where
something from outside the model (a tensor without gradient that no parameter leads to) meets it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from whygrad.doctor.record import Mark
from whygrad.doctor.replay import Trace, Traced
from whygrad.doctor.tape import Produced
from whygrad.doctor.vocabulary import LOSSES, RESHAPING

__all__ = ["Reading", "read"]


@dataclass(eq=False)
class Reading:
    """One step, understood as far as it could be."""

    trace: Trace
    models: list[Mark] = field(default_factory=list)  # modules with parameters the program called
    inputs: list[Any] = field(default_factory=list)  # tensors given to them
    outputs: list[Any] = field(default_factory=list)  # tensors they returned
    losses: list[Traced] = field(default_factory=list)  # calls of loss functions
    meeting: Traced | None = None  # the call where prediction and target meet
    prediction: Any = None  # the tensor that meets the target
    prediction_source: Produced | None = None
    target: Any = None

    @property
    def loss_call(self) -> Traced | None:
        """The call of a loss function, or where prediction and target meet in one by hand."""
        return self.losses[-1] if self.losses else self.meeting

    @property
    def reduction(self) -> str | None:
        """``mean``, ``sum`` or ``none`` of the loss function, or of the sum by hand."""
        call = self.loss_call
        if call is not None and call.op in LOSSES:
            return str(call.kwargs.get("reduction", "mean"))
        root = _without_scaling(self.trace)
        return None if root is None or root.op not in ("sum", "mean") else root.op


def read(trace: Trace) -> Reading:
    """Understand a step."""
    reading = Reading(trace)
    tensor = trace.engine.tensor
    for mark in trace.marks():
        if mark.depth == 0 and next(mark.module.parameters(), None) is not None:
            reading.models.append(mark)
            reading.inputs += _values(trace, mark.inputs, tensor)
            reading.outputs += _values(trace, mark.outputs, tensor)
    model_outputs = {
        each.call for mark in reading.models for each in _sources(mark.outputs)
    }
    reading.losses = [each for each in trace.calls if each.op in LOSSES]
    if reading.losses:
        _meet(reading, reading.losses[-1])
    else:
        _find_meeting(reading, model_outputs)
    return reading


def _find_meeting(reading: Reading, model_outputs: set[int]) -> None:
    """In a loss by hand: the last call that takes a learned tensor and a given one of its size."""
    trace = reading.trace
    learned: set[int] = set()
    for each in trace.calls:
        if any(source is not None and source.call in learned for source in each.sources) or any(
            given.requires_grad for given in each.inputs
        ):
            learned.add(each.number)
    after: set[int] = set(model_outputs)
    for each in trace.calls:
        if any(source is not None and source.call in after for source in each.sources):
            after.add(each.number)
    for each in trace.calls:
        if model_outputs and each.number not in after:
            continue
        if len(each.inputs) < 2 or each.number in model_outputs:
            continue
        kinds = [_is_learned(trace, each, place, learned) for place in range(len(each.inputs))]
        if any(kinds) and not all(kinds):
            _meet(reading, each)
            if model_outputs:
                return


def _is_learned(trace: Trace, call: Traced, place: int, learned: set[int]) -> bool:
    source = call.sources[place]
    return call.inputs[place].requires_grad if source is None else source.call in learned


def _meet(reading: Reading, call: Traced) -> None:
    """Note which input of ``call`` is the prediction and which the target."""
    reading.meeting = call
    for place, given in enumerate(call.inputs[:2]):
        if given.requires_grad and reading.prediction is None:
            reading.prediction = given
            reading.prediction_source = call.sources[place]
        elif not given.requires_grad:
            reading.target = given


def _without_scaling(trace: Trace) -> Traced | None:
    """The call that made the loss, behind factors and signs."""
    call = trace.root
    while call is not None and call.op in ("mul", "div", "neg", *RESHAPING) and call.sources:
        call = trace.made_by(call.sources[0])
    return call


def _values(trace: Trace, encoded: Any, kind: type) -> list[Any]:
    if isinstance(encoded, (tuple, list)) and type(encoded) is not Produced:
        return [each for member in encoded for each in _values(trace, member, kind)]
    value = trace.value(encoded)
    return [value] if isinstance(value, kind) else []


def _sources(encoded: Any) -> list[Produced]:
    if type(encoded) is Produced:
        return [encoded]
    if isinstance(encoded, (tuple, list)):
        return [each for member in encoded for each in _sources(member)]
    return []
