"""One layer in all places of a list: what looks like many layers has the weights of one.

``[nn.Linear(8, 8)] * 4`` makes one layer and names it four times.  Weights that are used again are
sound where they are meant to be, so the list has to be written in a form that makes one object of
what looks like several, and nothing near it may say that the weights are shared.  Members that are
called on the same input say it by themselves: they can only give the same answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.rules.rule import Finding, Proof, rule
from whygrad.doctor.source.copies import (
    OneObject,
    in_one_function,
    lists_of_one_object,
    says_shared,
)
from whygrad.recording.calls import Produced, members
from whygrad.recording.record import Course

__all__: list[str] = []

_CONTAINERS = ("ModuleList", "Sequential", "ModuleDict")


@rule(
    thresholds={"places": (2, "of a list that one layer stands in")},
)
def shared_layer(case: Case, course: Course) -> Iterator[Finding]:
    """One layer stands in all places of a list of layers.

    A list that is multiplied, or filled with one variable, holds the same object several times.
    The model has the weights of a single layer: layers that follow one another are the same map
    again and again, and heads or members of an ensemble all give the same answer.

    Measured: A container of the model has one object with parameters in several of its places, the
    program writes it as `[layer] * n` or `[layer for _ in range(n)]`, and a training pass calls it
    several times. Left alone is what is said to be shared.
    Fix: Make a new layer for each place: nn.ModuleList([nn.Linear(8, 8) for _ in range(4)]), or
    copy.deepcopy(layer).
    Guardrail: assert len({id(layer) for layer in layers}) == len(layers)
    """
    for container, layer, places in _repeated(case):
        if places < case.limit("places") or not _is_trained(course, layer):
            continue
        told = _written(case, container, layer)
        together = _on_the_same_input(course, layer)
        if told is None or says_shared(told.where):
            continue
        amount = sum(each.numel() for each in layer.parameters())
        yield shared_layer.finding(
            f"the {places} places of a {type(container).__name__} hold one "
            f"{type(layer).__name__}, with {amount} weights in all",
            f"{told.text} makes one layer and names it {places} times",
            f"{together} of them are called on the same input, and all give the same answer"
            if together > 1
            else None,
            where=told.where,
            proof=Proof.RECORDED if together > 1 else Proof.INFERRED,
            parameters=[each.name for each in course.parameters
                        if any(each.tensor is one for one in layer.parameters())],
        )  # fmt: skip
        return


def _repeated(case: Case) -> Iterator[tuple[Any, Any, int]]:
    """Containers of a model, with a member that stands in several places, and in how many."""
    for _, root, _ in case.run.roots:
        for module in root.modules():
            if type(module).__name__ not in _CONTAINERS:
                continue
            held = [each for each in module._modules.values() if each is not None]
            for layer in {id(each): each for each in held}.values():
                places = sum(each is layer for each in held)
                if places > 1 and next(iter(layer.parameters()), None) is not None:
                    yield module, layer, places


def _is_trained(course: Course, layer: Any) -> bool:
    trained = {id(each.tensor) for each in course.parameters}
    return all(id(each) in trained for each in layer.parameters())


def _written(case: Case, container: Any, layer: Any) -> OneObject | None:
    """The list in the program that the container was filled with."""
    made = case.run.made.get(id(container)) or case.run.made.get(id(layer))
    file = case.run.script if made is None else made.file
    if file is None:
        return None
    lists = [each for each in lists_of_one_object(file)
             if made is not None and in_one_function(each.where, made)]  # fmt: skip
    own = [each for each in lists if each.kind == type(layer).__name__]
    return next(iter(own or lists), None)


def _on_the_same_input(course: Course, layer: Any) -> int:
    """How often a training pass calls a layer on one input."""
    for snapshot in (course.first, course.last):
        calls: dict[tuple[Produced | int, ...], int] = {}
        for mark in () if snapshot is None else snapshot.marks:
            if mark.module is layer:
                given = tuple(
                    each if type(each) is Produced else id(each) for each in members(mark.inputs)
                )
                calls[given] = calls.get(given, 0) + 1
        if calls and max(calls.values()) > 1:
            return max(calls.values())
    return 0
