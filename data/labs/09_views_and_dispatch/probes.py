"""What is asked of the learner's tables and functions, as plain data.

whygrad is imported where it is needed, not at the top: the tables are read without it.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from whygrad.learn.lab.child import Learner


def predictions(learner: Learner, table: str) -> dict[str, Any]:
    entries = dict(getattr(learner.module("predictions"), table))
    return {name: _plain(learner, value) for name, value in entries.items()}


def relation(learner: Learner, first: str, second: str) -> Any:
    import whygrad

    names: dict[str, Any] = {"wg": whygrad, "x": whygrad.arange(24.0).reshape(4, 6)}
    a, b = eval(first, names), eval(second, names)
    return learner.plain(learner.module("asking").relation(a, b))


def saved_by(
    learner: Learner, function: str, inputs: list[list[list[float]]], needs_grad: list[bool]
) -> Any:
    import whygrad

    names: dict[str, Any] = {"wg": whygrad, "F": whygrad.nn.functional}
    tensors = [
        whygrad.tensor(each, requires_grad=needs)
        for each, needs in zip(inputs, needs_grad, strict=True)
    ]
    return learner.plain(learner.module("asking").saved_by(eval(function, names), *tensors))


def keys_of(learner: Learner, function: str, arguments: list[str], no_grad: bool) -> list[str]:
    import whygrad

    names: dict[str, Any] = {"wg": whygrad}
    tensors = [eval(each, names) for each in arguments]
    with whygrad.no_grad() if no_grad else contextlib.nullcontext():
        found = learner.module("asking").keys_of(eval(function, names), *tensors)
    return sorted(map(str, found))


def _plain(learner: Learner, value: Any) -> Any:
    if isinstance(value, (set, frozenset, list, tuple)):
        return sorted(map(str, value))
    return learner.plain(value)
