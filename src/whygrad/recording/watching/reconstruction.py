"""A step that was skipped, put together from the recipe of an earlier one.

While the wrappers are idle no call is recorded, but what models are given is held until the next
update, and other data are in the program's variables.  A step like all the others has the same
calls: with these inputs, these targets and the parameters of today, its recipe is the latest one.
Whether that is true shows in the replay: the loss must come out as the program saw it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from types import FrameType
from typing import Any

from whygrad.ops.families import LINEAR, LOSSES
from whygrad.recording.calls import Produced, RecordedCall
from whygrad.recording.engines import Engine
from whygrad.recording.ranges import rms
from whygrad.recording.record import Snapshot
from whygrad.recording.replay import goes_bad
from whygrad.recording.variables import key_of, today

__all__ = ["Given", "data_now", "reconstructed"]


@dataclass(slots=True)
class Given:
    """What one pass was given."""

    models: list[tuple[Any, ...]] = field(default_factory=list)  # of a skipped one, in order
    inputs: list[float] = field(default_factory=list)  # rms of what its models got …
    targets: list[float] = field(default_factory=list)  # … and of what its losses compare with


def reconstructed(
    recipe: Snapshot, given: Given, frame: FrameType | None, step: int, value: float
) -> Snapshot:
    """The recipe with the data and the parameters of another step, which is at ``frame``, if known.

    What a model was given is known for certain, whatever was in variables.  But if it was not
    finite and the step itself had computed it, from data that were, that computation is wanted.
    """
    engine = recipe.engine
    fresh = {} if frame is None else today(frame, engine.tensor, recipe.variables)
    certain = _given_then_and_now(recipe, given)
    swaps = fresh | certain
    values = {name: engine.copy(leaf) for name, leaf in recipe.leaves.items()}
    now = replace(recipe, step=step, value=value, values=values)
    unsound = {key for key, each in swaps.items() if _computed_and_unsound(recipe, key, each)}
    if unsound:
        rest = {key: each for key, each in swaps.items() if key not in unsound}
        whole = replace(now, calls=_with(recipe, rest))
        if goes_bad(whole):
            return whole
    return replace(now, calls=_with(recipe, swaps))


def data_now(recipe: Snapshot, frame: FrameType) -> tuple[list[Any], list[Any]]:
    """What layers outside of modules, and losses, get in the step that is at ``frame``.

    As far as variables hold it: inputs, and targets.
    """
    fresh = today(frame, recipe.engine.tensor, recipe.variables)
    layers = [call for call in recipe.calls.values() if call.op in LINEAR and not call.module]
    losses = [call for call in recipe.calls.values() if call.op in LOSSES]
    inputs = [key_of(each) for call in layers for each in call.args]
    targets = [key_of((*call.args[1:2], call.kwargs.get("target"))[0]) for call in losses]
    return (
        [fresh[key] for key in inputs if key in fresh],
        [fresh[key] for key in targets if key in fresh],
    )


def _given_then_and_now(recipe: Snapshot, given: Given) -> dict[Any, Any]:
    """What models get in this step, by the keys of what they got in the recipe."""
    engine = recipe.engine
    swaps: dict[Any, Any] = {}
    marks = [mark for mark in recipe.marks if mark.passes == recipe.step]
    models = [mark.inputs for mark in marks if mark.depth == 0 and mark.recorded]
    if len(models) >= len(given.models):
        for old, new in zip(models, given.models):
            swaps |= _exchanged(engine, zip(old or (), new))
    return swaps


def _exchanged(engine: Engine, pairs: Iterable[tuple[Any, Any]]) -> dict[Any, Any]:
    """The tensors that come from the data: what a parameter was made into is made again."""
    return {
        key_of(old): new
        for old, new in pairs
        if isinstance(new, engine.tensor) and not new.requires_grad  # type: ignore[attr-defined]
    }


def _computed_and_unsound(recipe: Snapshot, key: Any, tensor: Any) -> bool:
    computed = isinstance(key, Produced) and key.call in recipe.calls
    return computed and not math.isfinite(rms(recipe.engine.array(tensor)))


def _with(recipe: Snapshot, swaps: dict[Any, Any]) -> dict[int, RecordedCall]:
    def today(each: Any) -> Any:
        return swaps.get(key_of(each), each)

    return {number: call.with_arguments(today) for number, call in recipe.calls.items()}
