"""Read a step: which tensor is the prediction, which the target, which call is the loss.

Found from the calls themselves.  What is *learned* depends on a tensor that requires grad, what is
*given* does not: the batch, labels, masks, the outputs of a frozen network.  A loss begins where a
learned tensor meets a given one.  A loss function of the library says so by its name; in a loss by
hand the meeting is looked for outside of the model first, then inside it, and a difference counts
before a choice by labels, and that before a product (which may be a mask or a weight).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from whygrad.ops import families as ops
from whygrad.recording.calls import Produced
from whygrad.recording.record import Mark
from whygrad.recording.replay import Trace, Traced

__all__ = ["Reading", "Term", "read", "reduction_of"]

_COMPARING = ops.DIFFERENCES | ops.LIKENESSES
_WEIGHING = ops.ADD | ops.SCALINGS | ops.MATRIX_PRODUCTS | ops.WHERE | ops.XLOGY | ops.EINSUM
_SCALED = ops.SCALINGS | ops.NEG | ops.RESHAPING
_MEETINGS = (_COMPARING, ops.INDEXED, _WEIGHING)  # the clearest first


@dataclass(eq=False)
class Term:
    """One part of a loss: a prediction that meets a target."""

    call: Traced
    prediction: Any
    source: Produced | None  # of the prediction
    target: Any = None
    target_source: Produced | None = None


@dataclass(eq=False)
class Reading:
    """One step, understood as far as it could be."""

    trace: Trace
    models: list[Mark] = field(default_factory=list)  # modules with parameters the program called
    inputs: list[Any] = field(default_factory=list)  # tensors given to them
    outputs: list[Any] = field(default_factory=list)  # tensors they returned
    losses: list[Traced] = field(default_factory=list)  # calls of loss functions
    terms: list[Term] = field(default_factory=list)  # where predictions and targets meet, in order
    term: Term | None = None  # the one that the fields below speak of

    @property
    def meeting(self) -> Traced | None:
        """The call where prediction and target meet."""
        return None if self.term is None else self.term.call

    @property
    def prediction(self) -> Any:
        """The tensor that meets the target."""
        return None if self.term is None else self.term.prediction

    @property
    def prediction_source(self) -> Produced | None:
        return None if self.term is None else self.term.source

    @property
    def target(self) -> Any:
        return None if self.term is None else self.term.target

    @property
    def loss_call(self) -> Traced | None:
        """The call of a loss function, or where prediction and target meet in one by hand."""
        return self.losses[-1] if self.losses and self.term is None else self.meeting

    @property
    def reduction(self) -> str | None:
        """``mean``, ``sum`` or ``none`` of the loss function, or of the sum by hand."""
        call = self.loss_call
        if call is not None and call.op in ops.LOSSES:
            return reduction_of(call)
        root = _without_scaling(self.trace)
        if root is None or root.op not in ops.TOTALS:
            return None
        return "sum" if root.op in ops.SUM else "mean"


def reduction_of(loss: Traced) -> str:
    """How a loss function sums up, also as it was said in older programs."""
    if loss.kwargs.get("reduce") is False:
        return "none"
    if loss.kwargs.get("size_average") is False:
        return "sum"
    return str(loss.kwargs.get("reduction", "mean"))


def read(trace: Trace) -> Reading:
    """Understand a step."""
    reading = Reading(trace)
    tensor = trace.engine.tensor
    for mark in trace.marks():
        if mark.depth == 0 and next(iter(mark.module.parameters()), None) is not None:
            reading.models.append(mark)
            reading.inputs += _values(trace, mark.inputs, tensor)
            reading.outputs += _values(trace, mark.outputs, tensor)
    reading.losses = [each for each in trace.calls if each.op in ops.LOSSES]
    learned = _learned(trace)
    named = [term for call in reading.losses if (term := _term(call, learned)) is not None]
    by_hand = _by_hand(reading, learned)
    reading.terms = sorted((*named, *by_hand), key=lambda each: each.call.number)
    reading.term = named[-1] if named else _clearest(by_hand)
    return reading


def _learned(trace: Trace) -> set[int]:
    """The numbers of the calls whose results depend on a tensor that requires grad."""
    return {
        each.number
        for each in trace.calls
        if any(getattr(result, "requires_grad", False) for result in each.outputs)
    }


def _term(call: Traced, learned: set[int]) -> Term | None:
    """Prediction and target among the first two tensors of a call."""
    term: Term | None = None
    for given, source in zip(call.inputs[:2], call.sources[:2]):
        if _is_learned(given, source, learned) and term is None:
            term = Term(call, given, source)
    if term is None:
        return None
    for given, source in zip(call.inputs, call.sources):
        if given is not term.prediction and not _is_learned(given, source, learned):
            term.target, term.target_source = given, source
            break
    return term


def _by_hand(reading: Reading, learned: set[int]) -> list[Term]:
    """The meetings in what the program wrote itself: outside of its modules, if there are any."""
    trace = reading.trace
    spans = [(mark.before, mark.after) for mark in reading.models]
    known = {each.number for each in reading.losses}
    inside: list[Term] = []
    outside: list[Term] = []
    for call in trace.calls:
        if call.number in known or not any(call.op in each for each in _MEETINGS):
            continue
        term = _term(call, learned)
        if term is None or term.target is None or not _is_meeting(trace, term):
            continue
        within = any(before <= call.number < after for before, after in spans)
        (inside if within else outside).append(term)
    return outside or ([] if reading.losses else inside)


def _is_meeting(trace: Trace, term: Term) -> bool:
    """Not every product of a learned tensor and a given one: layers, masks and factors are none."""
    call = term.call
    if term.source is None and call.op not in _COMPARING:
        return False  # a bare parameter times the data is a layer
    if call.op in ops.LINEAR or term.target.numel() < 2 <= term.prediction.numel():
        return False
    kind = str(term.target.dtype).rpartition(".")[2]
    if call.op in ops.INDEXED:
        return kind in ("int64", "int32", "int16", "int8", "uint8")
    return kind != "bool"


def _clearest(terms: list[Term]) -> Term | None:
    """Of the meetings in a loss by hand, the one that is the least likely to be something else."""
    for kinds in _MEETINGS:
        found = [each for each in terms if each.call.op in kinds]
        if found:
            return found[-1] if kinds is _COMPARING else found[0]
    return None


def _is_learned(tensor: Any, source: Produced | None, learned: set[int]) -> bool:
    if source is None:
        return bool(tensor.requires_grad)
    return source.call in learned and bool(tensor.requires_grad)


def _without_scaling(trace: Trace) -> Traced | None:
    """The call that made the loss, behind factors and signs."""
    call = trace.root
    while call is not None and call.op in _SCALED and call.sources:
        call = trace.made_by(call.sources[0])
    return call


def _values(trace: Trace, encoded: Any, kind: type) -> list[Any]:
    if isinstance(encoded, (tuple, list)) and type(encoded) is not Produced:
        return [each for member in encoded for each in _values(trace, member, kind)]
    value = trace.value(encoded)
    return [value] if isinstance(value, kind) else []
