"""What is asked of the learner's network; an array travels as its shape and its numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from whygrad.learn.lab.child import Learner


def shapes(learner: Learner) -> Any:
    return learner.plain(learner.module("network").SHAPES)


def call(learner: Learner, function: str, arrays: dict[str, Any]) -> dict[str, Any]:
    """What a function of the network returns, and whether it changed what it was given."""
    given = [_array(each) for each in arrays.values()]
    result = getattr(learner.module("network"), function)(*given)
    if not isinstance(result, dict):
        return {"results": None, "changed": False}
    results = {str(name): _described(learner, each) for name, each in result.items()}
    before = [_array(each) for each in arrays.values()]
    changed = not all(np.array_equal(one, other) for one, other in zip(before, given))
    return {"results": results, "changed": changed}


def _array(value: dict[str, Any]) -> Any:
    return np.array(value["values"], dtype=float).reshape(value["shape"])


def _described(learner: Learner, value: Any) -> dict[str, Any]:
    return {"values": learner.plain(value), "shape": list(np.shape(value))}
