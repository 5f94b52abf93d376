"""What is asked of the learner's ``Value``, as plain data."""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from whygrad.learn.lab.child import Learner


def fields(learner: Learner, data: float) -> dict[str, Any]:
    value = learner.module("value").Value(data)
    return {
        "data": learner.plain(value.data),
        "grad": learner.plain(value.grad),
        "len(_prev)": len(list(value._prev)),
        "_op": learner.plain(value._op),
        "callable(_backward)": callable(value._backward),
    }


def operation(learner: Learner, source: str, inputs: dict[str, float]) -> dict[str, Any]:
    """One operation: its result, and what it left in the graph."""
    values, out = _evaluated(learner, source, inputs)
    held = {id(each) for each in out._prev}
    return {
        "type": type(out).__name__,
        "data": learner.plain(out.data),
        "new": all(out is not each for each in values.values()),
        "inputs": {name: learner.plain(each.data) for name, each in values.items()},
        "in _prev": sorted(name for name, each in values.items() if id(each) in held),
        "has _op": isinstance(out._op, str) and bool(out._op),
    }


def expression(learner: Learner, source: str, inputs: dict[str, float]) -> dict[str, Any]:
    """The value of an expression and, after ``backward()``, the gradients."""
    values, out = _evaluated(learner, source, inputs)
    out.backward()
    grads = {f"{name}.grad": learner.plain(each.grad) for name, each in values.items()}
    return {"y.data": learner.plain(out.data), **grads}


def turns(learner: Learner, source: str, inputs: dict[str, float], names: list[str]) -> list[str]:
    """The order in which ``backward()`` calls the ``_backward`` of these values."""
    nodes = _names_after(learner, source, inputs)
    called: list[str] = []
    for name in names:

        def noted(name: str = name, own: Any = nodes[name]._backward) -> None:
            called.append(name)
            own()

        try:
            nodes[name]._backward = noted
        except AttributeError:  # an engine whose values cannot be changed so
            return []
    nodes["y"].backward()
    return called


def refusal(learner: Learner, source: str, inputs: dict[str, float]) -> str | None:
    """The name of the exception that an expression raises."""
    learner.module("value")  # trouble of another kind shows here
    try:
        _evaluated(learner, source, inputs)
    except Exception as error:
        if isinstance(error, NotImplementedError):
            raise
        return type(error).__name__
    return None


def chain(learner: Learner, depth: int) -> dict[str, Any]:
    """A sum of many terms, each added to the last."""
    x = learner.module("value").Value(1.0)
    y = x
    for _ in range(depth):
        y = y + x
    y.backward()
    return {"y.data": learner.plain(y.data), "x.grad": learner.plain(x.grad)}


def tests(learner: Learner) -> list[dict[str, Any]]:
    """Every function ``test_…`` of the learner's test file: did it pass?"""
    module = learner.module("test_value")
    results = []
    for name, function in list(vars(module).items()):
        if name.startswith("test") and callable(function):
            result: dict[str, Any] = {"name": name, "passed": True, "error": "", "line": None}
            try:
                function()
            except BaseException as error:
                lines = [
                    entry.lineno
                    for entry in traceback.extract_tb(error.__traceback__)
                    if entry.filename.endswith("test_value.py")
                ]
                result["passed"] = False
                result["error"] = f"{type(error).__name__}: {error}".rstrip(": ")[:500]
                result["line"] = lines[-1] if lines else None
            results.append(result)
    return results


def _evaluated(
    learner: Learner, source: str, inputs: dict[str, float]
) -> tuple[dict[str, Any], Any]:
    names = _names_after(learner, source, inputs)
    return {name: names[name] for name in inputs}, names["y"]


def _names_after(learner: Learner, source: str, inputs: dict[str, float]) -> dict[str, Any]:
    """Every name, after a program on these inputs has run."""
    kind = learner.module("value").Value
    names: dict[str, Any] = {"Value": kind, **{name: kind(data) for name, data in inputs.items()}}
    exec(source, names)
    return names
