"""The same model with a sound loss: experiments on a run whose own loss is broken.

If the loss is NaN from the first step on, nothing can be learned about the learning rate from it.
But the model can be asked: with the mean squared error in the place of the loss, would it train at
this rate?  And would its sigmoids still be flat once everything else is mended?
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from whygrad.doctor.evidence.case import Case
from whygrad.ops.families import SATURATING
from whygrad.recording.calls import Produced
from whygrad.recording.layers import look
from whygrad.recording.ranges import rms
from whygrad.recording.record import Course, Snapshot
from whygrad.recording.replay import Trace
from whygrad.recording.replay.reading import Reading
from whygrad.recording.replay.trainer import Objective
from whygrad.recording.replay.trial import Trial

__all__ = ["AfterFixes", "after_fixes", "sound_trial"]


def sound_trial(case: Case, course: Course) -> Trial | None:
    """Experiments with a squared error: from the first state, which no broken step has touched."""
    for snapshot in (course.first, course.bad, course.last):
        if snapshot is None or not _finite(snapshot):
            continue
        reading = case.reading(snapshot)
        objective = None if reading is None else _objective(reading)
        if objective is not None:
            return case.trial(course, snapshot, objective)
    return None


@dataclass(frozen=True)
class AfterFixes:
    """The state of the squashing activations after a short training with everything mended."""

    rate: float  # times the program's
    saturated: float  # the largest fraction of a layer's outputs at the flat ends
    ratio: float  # of the gradient's size at the first layer to that at the last
    loss: tuple[float, float]

    @property
    def concern(self) -> bool:
        return self.saturated > 0.5 or self.ratio < 1e-3

    def __str__(self) -> str:
        verdict = "saturation remains a concern" if self.concern else "saturation is no concern"
        return (
            f"after the fixes (sound loss, cleared gradients, {self.rate:g} × the rate) {verdict}: "
            f"{self.saturated:.0%} of the sigmoid or tanh outputs are at their flat ends, the "
            f"first layer's gradient is {self.ratio:.2g} × the last one's"
        )


def after_fixes(trial: Trial, factor: float) -> AfterFixes | None:
    """Train on with a sound loss at a rate that works, then look at the activations.

    None if the model has none that saturate.
    """
    descent = trial.descend(factor)
    if descent is None or not math.isfinite(descent.end):
        return None
    trace = trial.replay(descent.values, look=True)
    flat = [
        look(each.op.rstrip("_"), trace.array(each.outputs[0])).saturated
        for each in trace.calls
        if each.op in SATURATING
    ]
    sizes = [rms(trace.gradients[name]) for name in _weights(trace) if name in trace.gradients]
    if not flat or len(sizes) < 2 or not sizes[-1] > 0:
        return None
    return AfterFixes(factor, max(flat), sizes[0] / sizes[-1], (descent.start, descent.end))


def _weights(trace: Trace) -> list[int]:
    """The matrices among the parameters, in the order in which the step uses them."""
    found: list[int] = []
    names = {id(copy): name for name, copy in trace.parameters.items()}
    for call in trace.calls:
        for each in call.inputs:
            name = names.get(id(each))
            if name is not None and name not in found and each.ndim > 1:
                found.append(name)
    return found


def _objective(reading: Reading) -> Objective | None:
    """The squared error of what the model returned against some target of its shape."""
    source = _output(reading)
    made = reading.trace.made_by(source)
    if source is None or made is None:
        return None
    output = made.outputs[source.place]
    if not (hasattr(output, "requires_grad") and output.requires_grad):
        return None
    if not np.isfinite(reading.trace.array(output)).all():
        return None

    target = _target(reading, output)

    def objective(trace: Trace) -> Any:
        found = trace.made_by(source)
        assert found is not None
        output = found.outputs[source.place]
        namespace: Any = trace.engine.namespace
        return ((output - namespace.as_tensor(target).to(output.dtype)) ** 2).mean()

    return objective


def _output(reading: Reading) -> Produced | None:
    for mark in reversed(reading.models):
        if type(mark.outputs) is Produced:
            return mark.outputs
    return reading.prediction_source


def _target(reading: Reading, output: Any) -> np.ndarray[Any, Any]:
    """A tensor of the program's that has the shape of the output and is no part of the step."""
    trace = reading.trace
    shape = tuple(output.shape)
    log = trace.snapshot.log
    for each in log.bystanders() if log is not None else ():
        if tuple(each.shape) == shape and each.is_floating_point() and not each.requires_grad:
            values = trace.array(each)
            if np.isfinite(values).all() and values.std() > 0:
                return np.array(values)
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


def _finite(snapshot: Snapshot) -> bool:
    return all(np.isfinite(snapshot.engine.array(each)).all() for each in snapshot.values.values())
