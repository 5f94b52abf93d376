"""What is asked of the learner's differences; functions arrive as the text of an expression.

They use methods that both whygrad's ``Value`` and the learner's own of lab 1 have.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from whygrad import Value  # noqa: F401  loaded before the clock runs

if TYPE_CHECKING:
    from whygrad.learn.lab.child import Learner


def log_sigmoid(learner: Learner, x: float) -> Any:
    module = learner.module("differences")
    return learner.plain(module.log_sigmoid(module.Value(x)).data)


def slope(learner: Learner, source: str, x: float, epsilon: float | None = None) -> Any:
    """The learner's difference, with its own epsilon if none is given."""
    further = () if epsilon is None else (epsilon,)
    difference = learner.module("differences").centred_difference
    return learner.plain(difference(_function(source, "x"), x, *further))


def asked_at(learner: Learner, source: str, x: float, epsilon: float) -> list[float]:
    """At which points the learner's difference asks for the function."""
    f, points = _function(source, "x"), []

    def watched(value: Any) -> Any:
        points.append(float(value.data))
        return f(value)

    learner.module("differences").centred_difference(watched, x, epsilon)
    return points


def backward(learner: Learner, source: str, points: list[float]) -> Any:
    """The gradient at several points, one after the other, of the same function."""
    f, gradient = _function(source, "x"), learner.module("differences").backward_gradient
    return [learner.plain(gradient(f, x)) for x in points]


def compare(learner: Learner, source: str, points: list[float], epsilon: float) -> Any:
    module = learner.module("differences")
    return learner.plain(module.compare(_function(source, "x"), points, epsilon))


def each_input(learner: Learner, source: str, inputs: dict[str, float], epsilon: float) -> Any:
    """The slopes, and the inputs as they are afterwards."""
    numbers = list(inputs.values())
    module = learner.module("differences")
    slopes = learner.plain(module.each_input(_function(source, *inputs), numbers, epsilon))
    return {"slopes": slopes, "inputs": learner.plain(numbers)}


def worse(learner: Learner) -> Any:
    return learner.plain(learner.module("differences").WORSE)


def _function(source: str, *names: str) -> Callable[..., Any]:
    return eval(f"lambda {', '.join(names)}: {source}")
