"""Experiments on a recorded step: the same model and optimizer, with one thing changed.

A rule that suspects the scale of the data need not trust a threshold.  It trains the model again
for a few dozen steps on a batch of the run, once as it was and once with the data standardised: if
only the second learns, the scale was what kept the first from it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from whygrad.doctor.recording.record import Course, Snapshot
from whygrad.doctor.replay import replay
from whygrad.doctor.replay.condense import condensed
from whygrad.doctor.replay.optimizers import copied_optimizer
from whygrad.doctor.replay.reading import Reading
from whygrad.ops.families import BINARY_LOSSES, CLASS_LOSSES, CROSS_ENTROPY

__all__ = ["chance", "standardized", "tensor_like", "train_again"]

Instead = Mapping[int, Mapping[int | str, Any]]


def train_again(
    course: Course, snapshot: Snapshot, steps: int, instead: Instead | None = None
) -> list[float]:
    """The losses of training anew, from the first weights, on the batch of ``snapshot`` alone.

    Ends with NaN when a loss or a gradient is not finite; empty if the optimizer cannot be copied.
    """
    snapshot = condensed(snapshot)
    engine = snapshot.engine
    start = course.first.values if course.first is not None else snapshot.values
    weights = {
        name: engine.copy(start.get(name, value)).requires_grad_()
        for name, value in snapshot.values.items()
    }
    optimizer = copied_optimizer(engine, course, weights, 1.0, {})
    losses: list[float] = []
    if optimizer is None:
        return losses
    for number in range(steps):
        trace = replay(snapshot, values=weights, instead=instead, look=False)
        losses.append(trace.loss)
        if trace.error is not None or not math.isfinite(trace.loss):
            return [*losses[:-1], math.nan]
        gradients = trace.gradients
        if any(not np.isfinite(each).all() for each in gradients.values()):
            return [*losses, math.nan]
        with engine.unwatched():
            for name, weight in weights.items():
                weight.grad = tensor_like(engine, gradients[name]) if name in gradients else None
            _set_rate(optimizer, course, number)
            optimizer.step()
    return losses


def _set_rate(optimizer: Any, course: Course, number: int) -> None:
    """Follow the schedule of the run."""
    rates = course.steps[min(number, len(course.steps) - 1)].rates
    for group, rate in zip(getattr(optimizer, "param_groups", ()), rates):
        group["lr"] = rate


def tensor_like(engine: Any, array: np.ndarray[Any, Any]) -> Any:
    """A tensor of the engine with these values."""
    with engine.unwatched():
        return engine.namespace.tensor(np.ascontiguousarray(array))


def standardized(array: np.ndarray[Any, Any], axis: int) -> np.ndarray[Any, Any]:
    """Each feature along ``axis`` with mean 0 and standard deviation 1."""
    others = tuple(each for each in range(array.ndim) if each != axis % array.ndim)
    values = array.astype(np.float64)
    mean = values.mean(axis=others, keepdims=True)
    std = values.std(axis=others, keepdims=True)
    # A column that is constant up to rounding has no spread to divide by.
    std = np.where(std <= 1e-6 * (np.abs(mean) + 1e-30), 1.0, std)
    return ((values - mean) / std).astype(array.dtype)


def chance(reading: Reading) -> float | None:
    """The loss of the best answer that ignores the input; None if that cannot be said."""
    call = reading.loss_call
    if call is None or reading.target is None or reading.prediction is None:
        return None
    engine = reading.trace.engine
    target = engine.array(reading.target)
    if call.op in CLASS_LOSSES and target.dtype.kind in "iu":
        _, counts = np.unique(target[target >= 0], return_counts=True)
        if not counts.size:
            return None
        share = counts / counts.sum()
        return float(-(share * np.log(share)).sum())
    if target.dtype.kind != "f" or not np.isfinite(target).all():
        return None
    if call.op in BINARY_LOSSES:
        share = np.clip(target.mean(), 1e-6, 1 - 1e-6)
        return float(-share * np.log(share) - (1 - share) * np.log(1 - share))
    prediction = engine.array(reading.prediction)
    if prediction.shape != target.shape or not target.ndim or call.op in CROSS_ENTROPY:
        return None
    mean = target.mean(axis=0, keepdims=True) + np.zeros_like(target)
    place = next(
        (place for place, each in enumerate(call.args) if each is reading.prediction), None
    )
    if place is None:
        return None
    constant: Instead = {call.number: {place: tensor_like(engine, mean.astype(prediction.dtype))}}
    found = replay(reading.trace.snapshot, instead=constant, backward=False, look=False)
    return found.loss if math.isfinite(found.loss) else None
