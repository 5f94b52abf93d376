"""A column of predictions against a row of targets: every prediction meets every target."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.evidence.flow import first_readings, shape_of
from whygrad.doctor.experiments.changes import mended, reshaped
from whygrad.doctor.rules.rule import Finding, Proof, once, rule
from whygrad.ops import families as ops
from whygrad.recording.replay import Trace, Traced
from whygrad.recording.replay.reading import Reading, Term

__all__ = ["loss_broadcast"]

Shape = tuple[int, ...]

_MEETING = ops.DIFFERENCES | ops.SCALINGS | ops.XLOGY
_SELECTING = ops.WHERE | ops.BRACKETS | ops.MASKED_SELECT
# What stands between a difference and its sum where an error is measured, and not a likeness.
_MEASURING = (
    ops.RESHAPING | _SELECTING | ops.POWERS | ops.ABS | ops.SCALINGS | ops.REVERSED_DIV | ops.NEG
    | ops.SHIFTS | ops.SQRT | ops.LOGARITHMS | ops.COSH | ops.NORM | ops.TOTALS | ops.LOWER_CLAMPS
    | ops.RELU | ops.ORDERINGS
)  # fmt: skip
# What treats each element alone, or only arranges them.
_ALONE = (ops.ELEMENTWISE - ops.LOSSES) | ops.CAT | ops.STACK | ops.DETACHES | ops.LIKES
# Ops in which more data may be the weights of the errors, and need not be a target.
_WEIGHING = _SELECTING | ops.SCALINGS | ops.REVERSED_DIV | ops.ORDERINGS | ops.MASKED_FILL


@rule(cleared=lambda case: _same_shapes(case))
def loss_broadcast(case: Case) -> Iterator[Finding]:
    """The loss compares every prediction with every target.

    Predictions of shape [N, 1] and targets of shape [N] broadcast to N × N: each prediction is
    compared with all targets, not with its own. The best that such a loss allows is the mean of
    the targets for every input.

    Measured: The shapes of prediction and target where they meet in the loss.
    Fix: Bring both to one shape: prediction.squeeze(1), or target.unsqueeze(1).
    Guardrail: assert prediction.shape == target.shape, (prediction.shape, target.shape)
    """
    yield from once(
        _about_shapes(reading.trace, term)
        for reading in first_readings(case)
        for term in reading.terms
        if _broadcasts(reading, term)
    )
    yield from _raised(case)


def _raised(case: Case) -> Iterator[Finding]:
    """The same shapes where they cannot be broadcast, or where the loss refuses to."""
    failure = case.run.failure
    if failure is None or failure.op not in ops.ELEMENTWISE_LOSSES | ops.DIFFERENCES:
        return
    shapes = [shape_of(each) for each in failure.args[:2] if hasattr(each, "shape")]
    if len(shapes) == 2 and len(shapes[0]) != len(shapes[1]) and _same_numbers(*shapes):
        given = f"{failure.op} was given {list(shapes[0])} and {list(shapes[1])}"
        yield loss_broadcast.raised(case, failure, given)


def _same_numbers(one: Shape, other: Shape) -> bool:
    """Whether two shapes differ only in axes of length 1."""
    return [each for each in one if each > 1] == [each for each in other if each > 1] != []


def _is_crossed(one: Shape, other: Shape) -> bool:
    """Two shapes that hold the same numbers and broadcast to more of them: [N, 1] and [N]."""
    if len(one) == len(other) or not _same_numbers(one, other):
        return False
    try:
        size = math.prod(np.broadcast_shapes(one, other))
    except ValueError:
        return False
    return size > max(math.prod(one), math.prod(other))


def _broadcasts(reading: Reading, term: Term) -> bool:
    if term.target is None:
        return False
    call = term.call
    one, other = shape_of(term.prediction), shape_of(term.target)
    if call.op in ops.ELEMENTWISE_LOSSES:
        return _is_crossed(one, other)
    if call.op not in _MEETING or not _is_crossed(one, other):
        return False
    return _is_measured(reading.trace, call, _is_on_purpose(reading, term))


def _is_on_purpose(reading: Reading, term: Term) -> bool:
    """Whether the step itself put the axis in, as in ``x[:, None] - y``; not so in the model."""
    one, source = term.prediction, term.source
    if one.ndim < term.target.ndim:
        one, source = term.target, term.target_source
    while not any(one is each for each in reading.outputs):
        made = reading.trace.made_by(source)
        if made is None or made.op not in ops.RESHAPING | ops.GETITEM or not made.inputs:
            return False
        if made.inputs[0].ndim < one.ndim:
            return True
        one, source = made.inputs[0], made.sources[0]
    return False


def _is_measured(trace: Trace, call: Traced, on_purpose: bool) -> bool:
    """Whether the results go element by element into a mean or sum, as errors do.

    All pairs may be meant: then something picks among them or weighs them pair by pair, or the
    axis was put in on purpose, for a kernel.
    """
    reached = {call.number}
    pairs = call.outputs[0].numel()
    for each in trace.calls:
        places = [n for n, source in enumerate(each.sources) if source and source.call in reached]
        if not places:
            continue
        if each.op not in _MEASURING and (on_purpose or not _treats_each_alone(each)):
            return False
        reached.add(each.number)
        if _meets_more_data(each, places, pairs):
            return False
    return True


def _treats_each_alone(call: Traced) -> bool:
    """Whether each element of the result comes from one place of the inputs."""
    if call.op in ops.EXTREMES:  # of two tensors, not of one along an axis
        return len(call.inputs) == 2
    return call.op in _ALONE


def _meets_more_data(call: Traced, places: list[int], pairs: int) -> bool:
    """A target further on: then the broadcasting before it belongs to the model.

    Weights are no target, unless there is one for each pair: then the pairs are meant.
    """
    if call.op in ops.RESHAPING:
        return False
    most = pairs - 1 if call.op in _WEIGHING else 1
    return any(
        n not in places and not given.requires_grad and given.numel() > most
        for n, given in enumerate(call.inputs)
    )


def _about_shapes(trace: Trace, term: Term) -> Finding:
    call = term.call
    one, other = shape_of(term.prediction), shape_of(term.target)
    result = np.broadcast_shapes(one, other)
    rows = max(one[0], other[0])
    return loss_broadcast.finding(
        f"the prediction has shape {list(one)}, the target {list(other)}",
        f"{call.op} at {call.spot} makes {list(result)} of them: "
        f"{math.prod(result)} comparisons instead of {math.prod(one)}",
        where=call.where,
        step=trace.snapshot.step,
        proof=Proof.REPLAYED,
        fix=(
            f"prediction.squeeze(-1) at {call.spot}, so that both are [{rows}]"
            if len(one) > len(other)
            else f"target.squeeze(-1) at {call.spot}, so that both are [{rows}]"
        ),
        remedy=mended(trace.snapshot, {call.number: reshaped}),
    )


def _same_shapes(case: Case) -> str | None:
    for reading in first_readings(case):
        if reading.target is not None:
            one, other = shape_of(reading.prediction), shape_of(reading.target)
            if _is_crossed(one, other):
                return None  # on purpose, as it seems; no reason to say so
            return f"prediction {list(one)} and target {list(other)} meet in the loss"
    return None
