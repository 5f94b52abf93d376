"""An answer that is taken from behind the end of a sequence.

Shorter sequences are filled up.  A recurrent layer goes on through the filling, and its last step
is what is left of the sequence after that.  Many a program lives with it, so the repair is tried:
the same batch, with the state at the last place of each sequence in place of the last of all.  The
question is whether what was read gets to the answer at all, so learning one batch by heart decides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.evidence.sequences.filling import filling_of
from whygrad.doctor.experiments.influence import given_to_models
from whygrad.doctor.experiments.repairs import unlearned, without_dropout
from whygrad.doctor.rules.rule import Finding, Proof, rule
from whygrad.ops import families as ops
from whygrad.recording.calls import Produced
from whygrad.recording.ranges import Array
from whygrad.recording.record import Course
from whygrad.recording.replay import Trace, Traced
from whygrad.recording.replay.reading import Reading
from whygrad.recording.replay.recipes import Wrapper, swapped, tensor_like
from whygrad.recording.replay.trainer import is_below
from whygrad.recording.replay.trial import Trial

__all__: list[str] = []


@dataclass(frozen=True)
class _Taken:
    """The call that takes the last step of a recurrent layer, or the layer whose state is taken."""

    call: Traced
    layer: Traced
    is_state: bool


@rule(
    thresholds={
        "unlearned": (0.8, "of what ignoring the input costs: below it the run did without"),
        "better": (0.2, "of the loss of one batch that is reached with the last place of each"),
        "updates": (100, "in which one batch is to be learned by heart"),
        "behind": (0.3, "of the samples whose last place is filling"),
    },
)
def filled_end(case: Case, course: Course) -> Iterator[Finding]:
    """The answer is taken from the filling behind a sequence.

    Sequences of different lengths are filled up to one length. The last step of a recurrent layer
    has then gone through the filling, and what was read before has faded: the shorter a sequence
    is, the more.

    Measured: The input of a step ends with runs of filling of different lengths, and the last step
    of a recurrent layer, or its last state, is all that is used. The run learned little; with the
    state at the last place of each sequence one batch is learned by heart, and as it was it is not.
    Fix: Take the last real place: out[torch.arange(len(x)), lengths - 1], or give the layer
    pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False).
    Guardrail: assert torch.allclose(model(x), model(F.pad(x, (0, 5))), atol=1e-4)
    """
    reading = case.reading(course.first)
    if reading is None or not reading.trace.reproduced:
        return
    filling = _filling(case, reading)
    taken = None if filling is None else _taken(reading.trace, filling.shape)
    if filling is None or taken is None or not unlearned(case, course, case.limit("unlearned")):
        return
    last = (~filling).sum(axis=1) - 1
    snapshot = reading.trace.snapshot
    mended = swapped(snapshot, {taken.call.number: _at(reading.trace, last, taken.is_state)})
    steps = min(int(case.limit("updates")), len(course.steps))
    plain, better = (
        Trial(course, without_dropout(each), case.budget).descend(steps=steps)
        for each in (snapshot, mended)
    )
    if plain is None or better is None or not is_below(better.end, case.limit("better"), plain.end):
        return
    yield filled_end.finding(
        f"{int(filling[:, -1].sum())} of {len(filling)} sequences of the first batch end with "
        f"filling, {int(filling.sum(axis=1).max())} places at most",
        f"of what {taken.layer.op} computes, only the last of {filling.shape[1]} places is used",
        f"one batch, to be learned by heart, goes {plain}; with the last place of each sequence "
        f"{better}",
        where=_line(taken, reading.trace),
        proof=Proof.TRIED,
    )


def _filling(case: Case, reading: Reading) -> Array | None:
    """The filling at the end of what the model is given."""
    for each in given_to_models(reading):
        found = filling_of(each.values)
        if found is not None and found[:, -1].mean() >= case.limit("behind") > found[:, 0].mean():
            return found
    return None


def _taken(trace: Trace, layout: tuple[int, ...]) -> _Taken | None:
    for layer in trace.calls:
        if layer.op not in ops.SEQUENCES or tuple(layer.outputs[0].shape)[:2] != layout:
            continue
        steps = trace.consumers(Produced(layer.number, 0))
        states = [it for place in range(1, len(layer.outputs))
                  for it in trace.consumers(Produced(layer.number, place))]  # fmt: skip
        if not states and len(steps) == 1 and _is_last(steps[0]):
            return _Taken(steps[0], layer, False)
        plain = len(layer.outputs) > 1 and layer.outputs[1].shape[0] == 1
        if states and not steps and plain:
            return _Taken(layer, layer, True)
    return None


def _is_last(call: Traced) -> bool:
    """Whether a call is ``x[:, -1]``, perhaps with all that is behind it."""
    index = call.args[1] if call.op in ops.BRACKETS and len(call.args) > 1 else None
    if not isinstance(index, tuple) or len(index) < 2:
        return False
    whole = all(each == slice(None) or each is Ellipsis for each in (index[0], *index[2:]))
    return whole and isinstance(index[1], int) and index[1] == -1


def _at(trace: Trace, last: Array, is_state: bool) -> Wrapper:
    """A wrapper: the places ``last`` of a result, in place of the last one of all."""
    rows = tensor_like(trace.engine, np.arange(len(last)))
    places = tensor_like(trace.engine, last.astype(np.int64))

    def of_steps(inner: Callable[..., Any]) -> Callable[..., Any]:
        return lambda steps, *rest, **named: steps[rows, places]

    def of_layer(inner: Callable[..., Any]) -> Callable[..., Any]:
        def run(*given: Any, **named: Any) -> Any:
            steps, state, *others = inner(*given, **named)
            return (steps, steps[rows, places][None].reshape(state.shape), *others)

        return run

    return of_layer if is_state else of_steps


def _line(taken: _Taken, trace: Trace) -> Any:
    """The line that takes the step or the state."""
    used = trace.consumers(Produced(taken.layer.number, 1)) if taken.is_state else []
    return used[0].where if used else taken.call.where
