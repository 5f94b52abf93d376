"""The loss that any model should get below: that of the best answer that ignores the input."""

from __future__ import annotations

import math

import numpy as np

from whygrad.ops.families import BINARY_LOSSES, CLASS_LOSSES, CROSS_ENTROPY
from whygrad.recording.ranges import Array
from whygrad.recording.replay.reading import Reading, reduction_of
from whygrad.recording.replay.recipes import tensor_like

__all__ = ["chance"]


def chance(reading: Reading) -> float | None:
    """The loss of the best answer that ignores the input; None if that cannot be said.

    Where it costs nothing there is nothing to learn, or something else is learned.
    """
    found = _chance(reading)
    return found if found is not None and found > 0 else None


def _chance(reading: Reading) -> float | None:
    call = reading.loss_call
    if call is None or reading.target is None or reading.prediction is None:
        return None
    engine = reading.trace.engine
    target = engine.view(reading.target)
    if call.op in CLASS_LOSSES and target.dtype.kind in "iu":
        left_out = call.kwargs.get("ignore_index", -100)
        labels, counts = np.unique(target[(target >= 0) & (target != left_out)], return_counts=True)
        weight = _given(reading, 2, "weight")
        if not counts.size or (weight is not None and weight.size <= labels[-1]):
            return None
        weights = counts if weight is None else counts * weight.ravel()[labels]
        share = weights[weights > 0] / weights.sum()
        return _summed_up(reading, float(-(share * np.log(share)).sum()), float(weights.sum()))
    if target.dtype.kind != "f" or not np.isfinite(target).all():
        return None
    if call.op in BINARY_LOSSES:
        positive = _given(reading, 6, "pos_weight")
        if _given(reading, 2, "weight") is not None or (positive is not None and positive.size > 1):
            return None
        yes = float(target.mean()) * (1.0 if positive is None else float(positive.item()))
        no = 1 - float(target.mean())
        share = min(max(yes / (yes + no), 1e-6), 1 - 1e-6)
        return _summed_up(
            reading, float(-yes * np.log(share) - no * np.log(1 - share)), target.size
        )
    prediction = engine.view(reading.prediction)
    if prediction.shape != target.shape or not target.ndim or call.op in CROSS_ENTROPY:
        return None
    mean = target.mean(axis=0, keepdims=True) + np.zeros_like(target)
    place = next(
        (place for place, each in enumerate(call.args) if each is reading.prediction), None
    )
    if place is None:
        return None
    constant = {call.number: {place: tensor_like(engine, mean.astype(prediction.dtype))}}
    found = reading.trace.again(instead=constant, backward=False)
    return found.loss if math.isfinite(found.loss) else None


def _given(reading: Reading, place: int, name: str) -> Array | None:
    """The weights that a loss was given."""
    call = reading.loss_call
    found = None if call is None else call.argument(place, name, None)
    return None if found is None else reading.trace.array(found).astype(np.float64)


def _summed_up(reading: Reading, each: float, count: float) -> float | None:
    """The loss of so many elements, as the program sums it up; None for a sum that it divides."""
    call = reading.loss_call
    if call is None or reduction_of(call) != "sum":
        return each
    own = reading.trace.array(call.outputs[0])
    whole = own.size == 1 and abs(reading.trace.loss) >= abs(own.item())  # and terms beside it
    return each * count if whole else None
