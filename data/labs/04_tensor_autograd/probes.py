"""What is asked of the learner's rules and Tensor; an array travels as shape and numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from whygrad.learn.lab.child import Learner


def rule(learner: Learner, name: str, arguments: list[Any], count: int) -> dict[str, Any]:
    """What a rule returns, and whether it changed what it was given."""
    given = [_argument(each) for each in arguments]
    result = getattr(learner.module("rules"), name)(*given)
    if count > 1 and (not isinstance(result, (list, tuple)) or len(result) != count):
        return {"results": None, "changed": False}
    results = [_described(learner, each) for each in (result if count > 1 else [result])]
    before = [_argument(each) for each in arguments]
    changed = not all(np.array_equal(one, other) for one, other in zip(before, given))
    return {"results": results, "changed": changed}


def expression(
    learner: Learner, source: str, leaves: dict[str, Any], labels: list[int] | None = None
) -> dict[str, Any]:
    """The value of an expression of Tensors and, after ``backward()``, the gradients."""
    kind = learner.module("tensor").Tensor
    tensors = {name: kind(_argument(each)) for name, each in leaves.items()}
    names: dict[str, Any] = dict(tensors)
    if labels is not None:
        names["labels"] = np.array(labels)
    out = eval(source, names)
    out.backward()
    results = [out.data, *(each.grad for each in tensors.values())]
    return {"results": [_described(learner, each) for each in results], "changed": False}


def _argument(value: Any) -> Any:
    if isinstance(value, dict):
        return np.array(value["values"], dtype=value["dtype"]).reshape(value["shape"])
    return tuple(value) if isinstance(value, list) else value


def _described(learner: Learner, value: Any) -> dict[str, Any]:
    return {"values": learner.plain(value), "shape": list(np.shape(value))}
