"""What is asked of the learner's predictions and repairs, as plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from whygrad.learn.lab.child import Learner


def prediction(learner: Learner, program: str, numbers: dict[str, float]) -> Any:
    """What the learner says a program does; whygrad is not there while they say it."""
    return learner.plain(getattr(learner.module("predictions"), program)(**numbers))


def silent(learner: Learner) -> Any:
    return learner.plain(list(learner.module("predictions").SILENT))


def decayed(learner: Learner, x: list[float], k: float) -> dict[str, Any]:
    leaf = _leaf(x)
    loss = learner.module("repairs").decayed(leaf, k)
    return {
        "y": learner.plain(loss),
        "x": learner.plain(leaf),
        "x.grad": learner.plain(leaf.grad),
    }


def scaled(learner: Learner, x: list[float], k: float, c: float) -> dict[str, Any]:
    leaf = _leaf(x)
    loss = learner.module("repairs").scaled(leaf, k, c)
    value = learner.plain(loss)
    if loss.requires_grad:
        loss.backward()
    return {"y": value, "x": learner.plain(leaf), "x.grad": learner.plain(leaf.grad)}


def _leaf(numbers: list[float]) -> Any:
    import whygrad  # here, so that predictions are made without it

    return whygrad.tensor(numbers, dtype=whygrad.float64, requires_grad=True)
