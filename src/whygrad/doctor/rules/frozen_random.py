"""Frozen weights that were to be loaded and are random.

A part is frozen to keep what it has learned elsewhere.  The program says so itself: it loads a
state, or copies values.  Whether they are in the part that is used was seen: no name of the state
matched, it went into another object that nobody calls, or the weights were drawn again after it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.rules.rule import Proof
from whygrad.recording.calls import members
from whygrad.recording.checkpoints import Restored
from whygrad.recording.record import Course, Parameter
from whygrad.source import Where

__all__ = ["never_filled"]

_NAMES = (
    "Make the names fit (cut a prefix such as 'module.' off from each key), and look at the "
    "missing_keys that load_state_dict() returns."
)
_THIS_ONE = "Load the state into the module that is used, or use the one that was loaded."
Told = tuple[list[str], dict[str, Any]]  # the evidence, and the rest of a finding


def never_filled(case: Case, course: Course) -> Told | None:
    """Frozen parameters that a course computes with, and that never got what they were to get."""
    frozen = _frozen(case, course)
    if not frozen:
        return None
    return _drawn_again(frozen) or _no_name(case, frozen) or _another_object(case, frozen)


def _frozen(case: Case, course: Course) -> list[Parameter]:
    """Parameters that the steps of a course use, that are frozen and are what they were."""
    if course.first is None:
        return []
    calls = [(call.args, call.kwargs) for call in course.first.calls.values()]
    used = {id(each) for each in members(calls)}
    marks = {id(one): mark.module for mark in course.first.marks if mark.depth == 0
             for one in mark.module.parameters()}  # fmt: skip
    return [
        each
        for each in case.parameters()
        if each.module is not None
        and (id(each.tensor) in used or id(each.tensor) in marks)
        and not (each.requires_grad or each.changed or each.reached or each.given)
    ]


def _facts(frozen: list[Parameter], where: Where, proof: Proof, fix: str) -> dict[str, Any]:
    names = [each.name for each in frozen]
    return {
        "where": where,
        "proof": proof,
        "parameters": names,
        "fix": fix,
        "places": [("frozen here", frozen[0].frozen_at), ("made here", frozen[0].made_at)],
    }


def _drawn_again(frozen: list[Parameter]) -> Told | None:
    """Values were copied into them, and then random numbers were written over these."""
    lost = [(each, each.lost) for each in frozen if each.lost is not None]
    if not lost:
        return None
    known, (given, drawn) = lost[0]
    fix = f"Draw the initial weights first, and fill {known.name} after that."
    facts = _facts([each for each, _ in lost], drawn, Proof.RECORDED, fix)
    facts["places"] = [("filled here, before that", given), *facts["places"]]
    return (
        [
            f"{known.name} was given values at line {given.line}, and random numbers were written "
            f"over them at line {drawn.line}",
            "it is frozen: what is used in training is random and stays so",
        ],
        facts,
    )


def _no_name(case: Case, frozen: list[Parameter]) -> Told | None:
    """A state was put into them of which no name matched: with strict=False that is no error."""
    for each in case.run.restored:
        if each.kind != "module" or each.matched != 0:
            continue
        inside = _inside(each.thing, frozen)
        filled = any(_fills(other, inside) for other in case.run.restored)
        if not inside or filled:
            continue
        return (
            [
                f"load_state_dict() at line {each.where.line} found none of its "
                f"{sum(1 for _ in each.thing.parameters())} parameters in the state",
                f"{len(inside)} of them are frozen: what is used is random and stays so",
            ],
            _facts(inside, each.where, Proof.RECORDED, _NAMES),
        )
    return None


def _another_object(case: Case, frozen: list[Parameter]) -> Told | None:
    """A state was put into an object of the same shapes that no pass and no evaluation uses."""
    for each in case.run.restored:
        if each.kind != "module" or not each.matched or each.own:
            continue
        shapes = [tuple(one.shape) for one in each.thing.parameters()]
        if any(id(one) in case.run.parameters for one in each.thing.parameters()):
            continue
        twin = _twin(case, each.thing, shapes, frozen)
        if twin is None or any(_fills(other, twin) for other in case.run.restored):
            continue
        return (
            [
                f"the state that is loaded at line {each.where.line} goes into a "
                f"{type(each.thing).__name__} that nothing is computed with",
                f"another one of the same shapes is used, with {len(twin)} frozen parameters that "
                "nothing was loaded into: they are random and stay so",
            ],
            _facts(twin, each.where, Proof.INFERRED, _THIS_ONE),
        )
    return None


def _inside(module: Any, frozen: list[Parameter]) -> list[Parameter]:
    own = {id(each) for each in module.parameters()}
    return [each for each in frozen if id(each.tensor) in own]


def _fills(restored: Restored, parameters: list[Parameter]) -> bool:
    """Whether a state was put into one of these, by name."""
    return bool(restored.matched) and bool(_inside(restored.thing, parameters))


def _twin(
    case: Case, loaded: Any, shapes: list[tuple[int, ...]], frozen: list[Parameter]
) -> list[Parameter] | None:
    """The frozen parameters of a module that is like the one that was loaded."""
    for _, root, _ in case.run.roots:
        for module in root.modules():
            if type(module) is type(loaded) and module is not loaded:
                own = list(module.parameters())
                inside = _inside(module, frozen)
                alike = [tuple(each.shape) for each in own] == shapes
                if alike and len(inside) == len(own) and not _same_values(case, own, loaded):
                    return inside
    return None


def _same_values(case: Case, own: list[Any], loaded: Any) -> bool:
    """Whether a module is a copy of the one that was loaded."""
    assert case.run.engine is not None
    array = case.run.engine.array
    return all(np.array_equal(array(a), array(b)) for a, b in zip(own, loaded.parameters()))
