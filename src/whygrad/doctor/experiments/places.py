"""The places of a sequence in another order: does a model notice?

The inner places of what a model was given are exchanged, the same way for all samples and all
inputs of that layout, and the step is run again without anything that is dropped at random.  The
first and the last place stay: many a model answers from one of these.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from whygrad.doctor.experiments.influence import Given, given_to_models
from whygrad.doctor.experiments.repairs import without_dropout
from whygrad.ops.families import ATTENTION
from whygrad.recording.ranges import Array
from whygrad.recording.record import Snapshot
from whygrad.recording.replay import Trace
from whygrad.recording.replay.reading import Reading, Term
from whygrad.recording.replay.recipes import swapped, tensor_like

__all__ = ["Exchange", "exchanged"]

_FEWEST = 4  # places: of fewer there are no two inner ones
_ROUNDING = 1e-3  # of the largest answer: sums in another order differ by less
_APART = 0.2  # of the elements: less of a change might not be noticed by any model


@dataclass(frozen=True)
class Exchange:
    """A step with places exchanged, and the answers of a term before and after."""

    given: Given
    before: Array
    after: Array  # for each place of the first order, where there is an answer for each

    @property
    def is_noticed(self) -> bool:
        scale = float(np.abs(self.before).max(initial=0.0))
        return bool(np.abs(self.before - self.after).max(initial=0.0) > _ROUNDING * scale)


def exchanged(reading: Reading, term: Term) -> Exchange | None:
    """None where there is no sequence, or the step cannot be run again."""
    trace, given = reading.trace, list(given_to_models(reading))
    budget = trace.budget
    first = next((each for each in given if _is_sequence(each)), None)
    if first is None or budget is None or not trace.reproduced:
        return None
    length = first.values.shape[1]
    order = np.r_[0, np.arange(length - 2, 0, -1), length - 1]
    if (first.values != first.values[:, order]).mean() < _APART:
        return None
    instead: dict[int, dict[int | str, Any]] = {}
    for each in given:
        if each.values.shape[:2] == first.values.shape[:2]:
            tensor = tensor_like(trace.engine, each.values[:, order])
            for number, at in each.places:
                instead.setdefault(number, {})[at] = tensor
    calm = _calm(trace.snapshot)
    plain = budget.replay(calm, backward=False)
    changed = budget.replay(calm, instead=instead, backward=False)
    pair = [_answers(each, term, first.values.shape[:2]) for each in (plain, changed)]
    one, other = pair
    if one is None or other is None or one.shape != other.shape:
        return None
    if one.shape[:2] == first.values.shape[:2]:
        other = other[:, order]
    return Exchange(first, one, other)


def _is_sequence(given: Given) -> bool:
    values = given.values
    tokens = values.dtype.kind in "iu" and values.ndim == 2
    return (tokens or values.ndim == 3) and values.shape[1] >= _FEWEST and not _learned(given)


def _learned(given: Given) -> bool:
    return bool(getattr(given.tensor, "requires_grad", False))


def _answers(trace: Trace, term: Term, layout: tuple[int, ...]) -> Array | None:
    value = trace.value(term.source)
    if trace.error is not None or not isinstance(value, trace.engine.tensor):
        return None
    array = np.asarray(trace.array(value), dtype=np.float64)
    if array.shape[:1] == (layout[0] * layout[1],):
        array = array.reshape(*layout, -1)
    elif array.ndim == 3 and (array.shape[0], array.shape[2]) == layout:
        array = np.moveaxis(array, 1, 2)
    return array if array.shape[:1] == layout[:1] and np.isfinite(array).all() else None


def _calm(snapshot: Snapshot) -> Snapshot:
    """The step with nothing dropped at random, in attention neither."""
    attention = [number for number, call in snapshot.calls.items() if call.op in ATTENTION]
    return without_dropout(swapped(snapshot, dict.fromkeys(attention, _undropped)))


def _undropped(inner: Callable[..., Any]) -> Callable[..., Any]:
    def call(*given: Any, **named: Any) -> Any:
        if "training" in named:
            named["training"] = False
        if "dropout_p" in named:
            named["dropout_p"] = 0.0
        return inner(*given, **named)

    return call
