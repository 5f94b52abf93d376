"""Where numbers come upon weights, and targets upon predictions: of which size they are there."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from whygrad.doctor.evidence.provenance import data_input
from whygrad.ops.families import CONVOLUTIONS, DIFFERENCES, DISTANCE_LOSSES
from whygrad.recording.replay import Trace, Traced
from whygrad.recording.replay.reading import Reading
from whygrad.recording.replay.recipes import tensor_like

__all__ = ["Meeting", "first_layers", "target_of"]

_DISTANCES = DISTANCE_LOSSES | DIFFERENCES


@dataclass(eq=False)
class Meeting:
    """A call in which the data come upon the first weights, or a target upon the prediction."""

    call: Traced
    place: int  # of the data among the arguments
    values: np.ndarray[Any, Any]  # in float64
    axis: int  # that of the features; beyond the last one if there is one feature

    @property
    def size(self) -> float:
        return float(np.sqrt(np.mean(np.square(self.values))))

    @property
    def ends(self) -> tuple[float, float]:
        return float(self.values.min()), float(self.values.max())

    def features(self) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """Mean and standard deviation of each feature."""
        others = tuple(axis for axis in range(self.values.ndim) if axis != self.axis)
        return (
            self.values.mean(axis=others, keepdims=True),
            self.values.std(axis=others, keepdims=True),
        )

    def is_tiny(self, limit: float) -> bool:
        return 0 < float(np.abs(self.values).max()) < limit

    def is_flat(self, limit: float, most: float) -> bool:
        """Whether more than ``most`` of the features are all but constant over the samples."""
        mean, std = self.features()
        flat = float(np.mean((std > 0) & (std < limit * np.abs(mean))))
        return len(self.values) > 1 and flat > most

    def instead(self, trace: Trace, rounding: float) -> dict[int, Any]:
        """The same call with each feature at mean 0 and standard deviation 1."""
        mean, std = self.features()
        # A column that is constant up to rounding has no spread to divide by.
        least = rounding * (np.abs(mean) + sys.float_info.min)
        better = (self.values - mean) / np.where(std <= least, 1.0, std)
        own = trace.array(self.call.args[self.place]).dtype
        return {self.call.number: {self.place: tensor_like(trace.engine, better.astype(own))}}


def _meeting(trace: Trace, call: Traced, given: Any) -> Meeting | None:
    """Where numbers, not labels, are an argument of a call."""
    place = next((place for place, each in enumerate(call.args) if each is given), None)
    values = trace.array(given)
    numbers = values.dtype.kind == "f" and values.size and np.isfinite(values).all()
    if place is None or not numbers:
        return None
    if call.op in _DISTANCES:
        axis = max(1, values.ndim - 1)
    else:
        axis = 1 if call.op in CONVOLUTIONS else values.ndim - 1 if place == 0 else 0
    return Meeting(call, place, values.astype(np.float64), axis)


def first_layers(trace: Trace) -> list[Meeting]:
    """Where data that nothing was learned about go into weights."""
    given = [(call, data) for call in trace.calls if (data := data_input(call)) is not None]
    found = [_meeting(trace, call, data) for call, data in given if data.ndim > 1]
    return [each for each in found if each is not None]


def target_of(reading: Reading) -> Meeting | None:
    """Where a target of numbers, not labels, meets the prediction."""
    call = reading.loss_call
    if call is None or call.op not in _DISTANCES or reading.target is None:
        return None
    return _meeting(reading.trace, call, reading.target)
