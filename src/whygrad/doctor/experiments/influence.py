"""What an answer depends on: a step run again with a part of its input changed.

Shapes do not tell which axis a layer mixes, and names do not either.  A replay does: where one
sample of sixteen is another one, a sixteenth of every tensor may differ, and where more does, a
call has carried something from that sample to others.  The same holds for places of a sequence.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from whygrad.doctor.evidence.provenance import given_inputs
from whygrad.ops.families import BATCH_NORM
from whygrad.recording.calls import Produced
from whygrad.recording.ranges import Array
from whygrad.recording.replay import Trace, Traced
from whygrad.recording.replay.reading import Reading
from whygrad.recording.replay.recipes import passed_on, swapped, tensor_like

__all__ = ["Comparison", "Given", "compared", "given_to_models", "seen_places"]

_ROUNDING = 1e-4  # of the largest value: sums in another order differ by less
_MANY = 1.5  # times the share that was changed: more than the layout of a tensor explains


@dataclass(eq=False)
class Given:
    """A tensor that a model was given, and the arguments that it is."""

    source: Produced | None
    tensor: Any
    values: Array
    places: list[tuple[int, int | str]]


def given_to_models(reading: Reading) -> Iterator[Given]:
    """What the models of a step were given, where calls take it as it is."""
    begin = min((mark.before for mark in reading.models), default=0)
    for source, tensor in given_inputs(reading):
        places: list[tuple[int, Any]] = [
            (call.number, place)
            for call in reading.trace.calls
            if call.number >= begin
            for place, each in (*enumerate(call.args), *call.kwargs.items())
            if each is tensor
        ]
        if places:
            yield Given(source, tensor, reading.trace.array(tensor), places)


@dataclass(eq=False)
class Comparison:
    """A step twice: as it was, and with a share of its input changed."""

    plain: Trace
    changed: Trace
    share: float

    def differing(self, call: Traced, place: int = 0) -> float:
        """The share of a result's elements that are others now."""
        again = self.changed.call(call.number)
        if again is None or place >= len(call.outputs) or place >= len(again.outputs):
            return 0.0
        one, other = call.outputs[place], again.outputs[place]
        if not isinstance(one, self.plain.engine.tensor) or one.shape != other.shape:  # type: ignore[attr-defined]
            return 0.0
        return float(_differ(self.plain.array(one), self.plain.array(other)).mean())

    def spreads(self, call: Traced, place: int = 0) -> bool:
        """Whether more of a result differs than what was changed."""
        return self.differing(call, place) > _MANY * self.share

    def confined(self, call: Traced) -> bool:
        """Whether what goes into a call differs in what was changed only."""
        for source in call.sources:
            made = self.plain.made_by(source)
            if made is not None and source is not None and self.spreads(made, source.place):
                return False
        return True

    def result(self, source: Produced | None) -> tuple[Array, Array] | None:
        """A result as it was, and as it is now."""
        pair = self.plain.value(source), self.changed.value(source)
        if not all(isinstance(each, self.plain.engine.tensor) for each in pair):
            return None
        one, other = (self.plain.array(each) for each in pair)
        return (one, other) if one.shape == other.shape else None

    def rows(self, source: Produced | None) -> Any:
        """Which rows of a result are others now; None if it is not known."""
        pair = self.result(source)
        if pair is None or not pair[0].ndim:
            return None
        return _differ(*pair).reshape(len(pair[0]), -1).any(axis=1)

    def moved(self, one: Array, other: Array) -> Any:
        """Where two arrays differ by more than rounding."""
        return _differ(one, other)


def _differ(one: Array, other: Array) -> Any:
    if one.dtype.kind not in "fc" or not one.size:
        return one != other
    finite = np.abs(one[np.isfinite(one)])
    scale = float(finite.max()) if finite.size else 1.0
    with np.errstate(invalid="ignore"):  # masked scores are minus infinity in both
        return (np.abs(one - other) > _ROUNDING * scale) & (one != other)


def compared(
    reading: Reading, given: list[Given], values: Mapping[int, Array], share: float
) -> Comparison | None:
    """The step with other values for these inputs, by their place in the list.

    Batch normalisation mixes the samples on purpose, so in both runs it hands on what it gets.
    """
    trace = reading.trace
    snapshot = trace.snapshot
    mixing = [number for number, call in snapshot.calls.items() if call.op in BATCH_NORM]
    plain = trace
    budget = trace.budget
    if budget is None or not trace.reproduced:
        return None
    if mixing:
        snapshot = swapped(snapshot, dict.fromkeys(mixing, passed_on))
        plain = budget.replay(snapshot, backward=False)
    instead: dict[int, dict[int | str, Any]] = {}
    for place, each in enumerate(given):
        if place in values:
            tensor = tensor_like(trace.engine, values[place])
            for number, at in each.places:
                instead.setdefault(number, {})[at] = tensor
    changed = budget.replay(snapshot, instead=instead, backward=False)
    if plain.error is not None or changed.error is not None:
        return None
    return Comparison(plain, changed, share)


def seen_places(reading: Reading) -> Iterator[tuple[int, Array]]:
    """Of each axis of a model's numbers but the first, the places that the loss depends on.

    By the gradient of the loss for what the model was given: exactly zero for all samples is a
    place that nothing is computed from.
    """
    trace = reading.trace
    for given in given_to_models(reading):
        if given.values.dtype.kind != "f" or given.values.ndim < 2 or trace.budget is None:
            continue
        leaf = tensor_like(trace.engine, given.values).requires_grad_()
        instead: dict[int, dict[int | str, Any]] = {}
        for number, at in given.places:
            instead.setdefault(number, {})[at] = leaf
        again = trace.budget.replay(trace.snapshot, instead=instead)
        if again.error is not None or leaf.grad is None:
            continue
        gradient = trace.array(leaf.grad)
        for axis in range(1, gradient.ndim):
            others = tuple(each for each in range(gradient.ndim) if each != axis)
            yield axis, (gradient != 0).any(axis=others)
