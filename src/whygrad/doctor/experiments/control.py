"""A control for repairs that give a model more room: does it find something, or learn by heart?

A model with more room gets a lower loss on the samples that it is trained on, even where all that
is left to learn is noise.  So it is trained a second time in a world where the model that it is to
replace is right: the targets are drawn from that model's own answers, with noise as large as its
errors.  Nothing is to be found there.  Only a repair that gets much lower with the real targets has
found what the model was missing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from whygrad.ops.families import BINARY_CROSS_ENTROPY, BINARY_WITH_LOGITS, CLASS_LOSSES
from whygrad.recording.ranges import Array
from whygrad.recording.record import Snapshot
from whygrad.recording.replay.reading import Reading
from whygrad.recording.replay.recipes import swapped, tensor_like

__all__ = ["control_step"]

Values = Mapping[int, Any]


def control_step(reading: Reading, latest: Values, snapshot: Snapshot) -> Snapshot | None:
    """``snapshot``, a form of the step that was read, with targets after the ``latest`` weights.

    None for a loss whose answers cannot be drawn.
    """
    call = reading.meeting
    if call is None or reading.target is None:
        return None
    place = next((at for at, each in enumerate(call.args) if each is reading.target), None)
    learned = next((at for at, each in enumerate(call.args) if each is reading.prediction), None)
    if place is None or learned is None:
        return None
    later = reading.trace.again(values=latest, backward=False)
    same = later.call(call.number)
    if same is None or later.error is not None:
        return None
    engine = reading.trace.engine
    target = reading.trace.array(reading.target)
    drawn = _drawn(call.op, engine.array(same.args[learned]), target)
    if drawn is None:
        return None
    other = tensor_like(engine, drawn.astype(target.dtype))

    def wrapper(inner: Callable[..., Any]) -> Callable[..., Any]:
        def changed(*given: Any, **named: Any) -> Any:
            return inner(*given[:place], other, *given[place + 1 :], **named)

        return changed

    return swapped(snapshot, {call.number: wrapper})


def _drawn(op: str, answers: Array, target: Array) -> Array | None:
    """Targets as the model would have them."""
    random = np.random.default_rng(0)
    if op in CLASS_LOSSES and answers.ndim == 2 and target.dtype.kind in "iu":
        scores = answers + random.gumbel(size=answers.shape)
        return np.asarray(scores.argmax(axis=1))
    if op in BINARY_WITH_LOGITS and answers.shape == target.shape:
        return np.asarray(random.logistic(size=answers.shape) < answers)
    if op in BINARY_CROSS_ENTROPY and answers.shape == target.shape:
        return np.asarray(random.random(answers.shape) < answers)
    if answers.shape == target.shape and target.ndim and target.dtype.kind == "f":
        return np.asarray(answers + random.permutation(target - answers))
    return None
