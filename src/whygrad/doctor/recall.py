"""A step that went by unseen, put together from the recipe of an earlier one.

While the doctor's eyes are closed nothing is on the tape, but what models and losses are given is
held until the next step.  A step like all the others has the same calls: with these inputs, these
targets and the parameters of today, its recipe is the latest one.  Whether that is true shows in
the replay: the loss must come out as the program saw it.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any

from whygrad.doctor.record import Snapshot
from whygrad.doctor.tape import Call, Produced
from whygrad.doctor.vocabulary import LOSSES

__all__ = ["Given", "recalled"]


@dataclass(slots=True)
class Given:
    """What the models and losses of one pass were called with, in order."""

    models: list[tuple[Any, ...]] = field(default_factory=list)
    losses: list[tuple[Any, ...]] = field(default_factory=list)


def recalled(recipe: Snapshot, given: Given, step: int, value: float) -> Snapshot:
    """The recipe with the inputs, targets and parameters of another step."""
    engine = recipe.engine
    swaps: dict[Any, Any] = {}
    models = [mark.inputs for mark in recipe.marks if mark.depth == 0 and mark.recorded]
    losses = [call.args for call in recipe.calls.values() if call.op in LOSSES]
    for before, now in ((models, given.models), (losses, given.losses)):
        if len(before) < len(now):
            continue
        for old, new in zip(before, now):
            for each, replacement in zip(old or (), new):
                if isinstance(replacement, engine.tensor) and not replacement.requires_grad:  # type: ignore[attr-defined]
                    swaps[_key(each)] = replacement
    calls = {number: _swapped_call(call, swaps) for number, call in recipe.calls.items()}
    values = {name: engine.copy(leaf) for name, leaf in recipe.leaves.items()}
    return replace(recipe, step=step, value=value, values=values, calls=calls)


def _key(argument: Any) -> Any:
    return argument if isinstance(argument, Produced) else id(argument)


def _swapped_call(call: Call, swaps: dict[Any, Any]) -> Call:
    changed = copy(call)
    changed.args = _swapped(call.args, swaps)
    changed.kwargs = _swapped(call.kwargs, swaps)
    return changed


def _swapped(value: Any, swaps: dict[Any, Any]) -> Any:
    if isinstance(value, Produced):
        return swaps.get(value, value)
    if isinstance(value, (list, tuple)):
        return type(value)(_swapped(each, swaps) for each in value)
    if isinstance(value, dict):
        return {name: _swapped(each, swaps) for name, each in value.items()}
    return swaps.get(id(value), value)
