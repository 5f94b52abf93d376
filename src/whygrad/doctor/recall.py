"""A step that went by unseen, put together from the recipe of an earlier one.

While the doctor's eyes are closed nothing is on the tape, but what models and losses are given is
held until the next step.  A step like all the others has the same calls: with these inputs, these
targets and the parameters of today, its recipe is the latest one.  Whether that is true shows in
the replay: the loss must come out as the program saw it.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any

from whygrad.doctor.engines import Engine
from whygrad.doctor.record import Snapshot
from whygrad.doctor.tape import Call, Produced
from whygrad.doctor.vocabulary import LOSSES

__all__ = ["Given", "recalled"]


@dataclass(slots=True)
class Given:
    """What the models and losses of one pass were called with, in order."""

    models: list[tuple[Any, ...]] = field(default_factory=list)
    losses: list[tuple[tuple[Any, ...], dict[str, Any]]] = field(default_factory=list)


def recalled(recipe: Snapshot, given: Given, step: int, value: float) -> Snapshot:
    """The recipe with the inputs, targets and parameters of another step."""
    engine = recipe.engine
    swaps: dict[Any, Any] = {}
    models = [mark.inputs for mark in recipe.marks if mark.depth == 0 and mark.recorded]
    losses = [(call.args, call.kwargs) for call in recipe.calls.values() if call.op in LOSSES]
    pairs = zip(models, given.models) if len(models) >= len(given.models) else ()
    for old, new in pairs:
        swaps |= _exchanged(engine, zip(old or (), new))
    if len(losses) >= len(given.losses):
        for (old, named), (new, newly_named) in zip(losses, given.losses):
            same = [(named[name], newly_named[name]) for name in named.keys() & newly_named.keys()]
            swaps |= _exchanged(engine, (*zip(old, new), *same))
    calls = {number: _swapped_call(call, swaps) for number, call in recipe.calls.items()}
    values = {name: engine.copy(leaf) for name, leaf in recipe.leaves.items()}
    return replace(recipe, step=step, value=value, values=values, calls=calls)


def _exchanged(engine: Engine, pairs: Iterable[tuple[Any, Any]]) -> dict[Any, Any]:
    """The tensors that come from the data: what a parameter was made into is made again."""
    return {
        _key(old): new
        for old, new in pairs
        if isinstance(new, engine.tensor) and not new.requires_grad  # type: ignore[attr-defined]
    }


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
