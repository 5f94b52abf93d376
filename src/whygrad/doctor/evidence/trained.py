"""What a model was trained on: lines whose gradients an update used, and models that begin anew."""

from __future__ import annotations

from typing import Any

from whygrad.doctor.evidence.case import Case
from whygrad.source import Where

__all__ = ["begins_anew", "differentiated_lines", "training_lines"]


def differentiated_lines(case: Case) -> set[Where]:
    """The lines that call a model and that a backward() came through, whatever it was for."""
    run = case.run
    marks = (*run.inference_marks, *run.beside)
    return {*run.training_lines.values(), *(mark.where for mark in marks if mark.trains)}


def training_lines(case: Case) -> set[Where]:
    """Of these, the lines whose gradients an update used.

    Gradients are also taken to see what a model looks at, or to mislead it, of samples that it is
    not trained on.
    """
    run = case.run
    steps = [step for course in case.courses for step in course.steps]
    used = {each.number for step in steps for each in step.passes if each.cleared_at is None}
    found = {where for where, passes in run.differentiated.items() if passes & used}
    found |= {mark.where for mark in run.inference_marks if mark.trains}
    return found | {mark.where for mark in run.beside if mark.trains and mark.passes in used}


def begins_anew(case: Case, module: Any) -> bool:
    """Whether a model got its first weights back, or others at random, after it was trained."""
    if any(each.thing is module and each.initial for each in case.run.restored):
        return True
    known = [case.run.parameters.get(id(each)) for each in module.parameters()]
    return any(each is not None and each.redrawn for each in known)
