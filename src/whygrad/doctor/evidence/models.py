"""Models as a run knows them: their parameters, and which others are made like them."""

from __future__ import annotations

from typing import Any

from whygrad.doctor.evidence.case import Case
from whygrad.recording.record import Parameter

__all__ = ["are_alike", "holds", "known_of", "trained_like"]


def known_of(case: Case, module: Any) -> list[Parameter]:
    known = [case.run.parameters.get(id(each)) for each in module.parameters()]
    return [each for each in known if each is not None]


def holds(module: Any, held: set[int]) -> bool:
    """Whether a parameter of a model is one of these."""
    return any(id(each) in held for each in module.parameters())


def are_alike(one: Any, other: Any) -> bool:
    """Whether two models are of the same kind, with parameters of the same shapes."""
    shapes = [[tuple(each.shape) for each in model.parameters()] for model in (one, other)]
    return type(one) is type(other) and shapes[0] == shapes[1]


def trained_like(case: Case, module: Any, held: set[int]) -> list[Any]:
    """The models like this one that hold a parameter of these."""
    roots = [root for _, root, _ in case.run.roots]
    return [each for each in roots if holds(each, held) and are_alike(each, module)]
