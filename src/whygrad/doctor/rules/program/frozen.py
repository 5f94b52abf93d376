"""Parameters that are to be trained and are frozen.

Frozen on purpose is common and fine: a backbone, a teacher, a copy.  What is not fine has a
mechanism of its own: what was to be loaded is random (:mod:`..frozen_random`), nothing is left to
train, a module was told what only its parameters understand, a tensor never required grad, or
nothing is learned until the frozen part is trained as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.experiments.remedies import SHOWN, Remedy
from whygrad.doctor.experiments.repairs import repair, unlearned
from whygrad.doctor.rules.frozen_random import never_filled
from whygrad.doctor.rules.program.gradient_flow import NO_HISTORY, groups
from whygrad.doctor.rules.rule import Finding, Proof, rule
from whygrad.doctor.rules.words import as_code, listed
from whygrad.doctor.source.lines import set_on
from whygrad.recording.record import Course, Parameter
from whygrad.recording.replay.recipes import differentiable

__all__: list[str] = []


@rule(
    thresholds={
        "unlearned": (0.6, "of what ignoring the input costs: above it nothing was learned"),
        "unlearned half": (0.2, "the same, where only the biases of a layer are trained"),
        "better": (0.4, "of the loss that is reached frozen: so low it must get when trained"),
        "varied": (0.9, "of the values are different: random ones, not a pattern"),
    },
    cleared=lambda case: _none_frozen(case),
)
def frozen_parameter(case: Case) -> Iterator[Finding]:
    """Parameters that are to be trained are frozen.

    requires_grad is False for parameters that the program goes on to train. The optimizer skips
    them without a word, and they stay what they were.

    Measured: Parameters of an optimizer with requires_grad=False, where all of them are, where
    a module (which ignores it) was told requires_grad = True, where a plain tensor was handed
    to the optimizer, or where nothing is learned until they are trained as well. Or: a frozen
    module that was to be loaded and has random weights, because no name matched, because another
    one was loaded, or because they were drawn again afterwards.
    Fix: Call requires_grad_(True) on the module before the optimizer is used.
    Guardrail: assert all(p.requires_grad for p in model.parameters())  # before training it all
    """
    for course in case.courses:
        told = never_filled(case, course)
        if told is not None:
            yield frozen_parameter.finding(*told[0], **told[1])
            return
    for course in case.run.courses:
        frozen = [each for each in course.parameters if not each.requires_grad]
        if not frozen or course.optimizer.thing is None or not case.run.passes:
            continue
        found = (
            _told_the_module(case, course, frozen)
            or _all_frozen(case, course, frozen)
            or _plain_tensors(case, course, frozen)
            or _needed(case, course, frozen)
        )
        if found is not None:
            yield found
            return


def _told_the_module(case: Case, course: Course, frozen: list[Parameter]) -> Finding | None:
    """``module.requires_grad = True`` sets an attribute that nobody reads."""
    chosen = {id(each.tensor) for each in frozen}
    for name, root, _ in case.run.roots:
        for path, module in root.named_modules():
            told = vars(module).get("requires_grad")
            inside = {id(each) for each in module.parameters()} & chosen
            if told is not True or not inside:
                continue
            made = frozen[0].frozen_at or frozen[0].made_at
            file = case.run.script or (None if made is None else made.file)
            owner = path.rpartition(".")[2] or name
            where = None if file is None else set_on(file, "requires_grad", owner)
            return frozen_parameter.finding(
                f"{path or name}.requires_grad = True sets a plain attribute of the module: "
                f"its {len(inside)} parameters still have requires_grad=False",
                where=where or frozen[0].frozen_at,
                proof=Proof.RECORDED,
                parameters=[each.name for each in frozen],
                places=[("frozen here", frozen[0].frozen_at)],
                fix=f"{as_code(path)}.requires_grad_(True)  # with the underscore: all parameters",
                remedy=_thawed(course, frozen),
            )
    return None


def _all_frozen(case: Case, course: Course, frozen: list[Parameter]) -> Finding | None:
    """Everything that this optimizer could change is frozen, and it goes on all the same."""
    if len(frozen) < len(course.parameters):
        return None
    idle = course.steps and all(size is None for size in course.steps[-1].gradients.values())
    failed = [each for each in case.run.passes if NO_HISTORY in str(each.error)]
    if not (idle or failed):
        return None
    if any(each.reached and not each.optimizers for each in case.parameters()):
        return None  # what is to be trained is not frozen: no optimizer has it
    done = len(course.steps)
    where = frozen[-1].frozen_at or frozen[-1].made_at or course.optimizer.made_at
    return frozen_parameter.finding(
        f"all {len(frozen)} parameters of {course.optimizer.kind} have requires_grad=False: "
        "there is nothing it could change",
        f"{done} updates were made before they were frozen" if failed and done else None,
        where=where,
        step=failed[0].number if failed else 0,
        proof=Proof.RECORDED,
        parameters=[each.name for each in frozen],
        places=[("backward() failed here", failed[0].where)] if failed else [],
        fix="Evaluate under torch.no_grad(), which ends, instead of freezing the parameters."
        if failed and done
        else "Freeze before the new layers are made, or only the part that is to stay: "
        "model.backbone.requires_grad_(False).",
        remedy=_thawed(course, frozen),
    )


def _plain_tensors(case: Case, course: Course, frozen: list[Parameter]) -> Finding | None:
    """A tensor that never required grad was handed to the optimizer."""
    engine = case.run.engine
    kind: Any = None if engine is None else engine.namespace.nn.Parameter
    plain = [
        each
        for each in frozen
        if kind is not None and not isinstance(each.tensor, kind) and each.frozen_at is None
    ]
    if not plain or any(each.changed for each in plain):
        return None
    return frozen_parameter.finding(
        f"{listed([each.name for each in plain])} was given to {course.optimizer.kind}, but "
        "was made without requires_grad=True and never had a gradient",
        where=plain[0].made_at or course.optimizer.made_at,
        proof=Proof.RECORDED,
        parameters=[each.name for each in plain],
        places=[("handed to the optimizer here", course.optimizer.made_at)],
        fix=f"Make it with requires_grad=True: {plain[0].name}.requires_grad_() before the loop.",
        remedy=_thawed(course, plain),
    )


def _thawed(course: Course, frozen: list[Parameter]) -> Remedy | None:
    """The first step with these parameters trained."""
    first = course.first
    leaves = {id(each.tensor): each.tensor for each in frozen}
    return None if first is None else Remedy(first, differentiable(first, leaves))


def _needed(case: Case, course: Course, frozen: list[Parameter]) -> Finding | None:
    """Frozen at their random values, and nothing is learned unless they are trained as well."""
    untrained = [each for each in frozen if not (each.changed or each.reached)]
    if _are_loaded(case, untrained) or _others_are_left_out(case, course):
        return None
    halves = _half_frozen(case, untrained)
    untrained = halves or untrained
    part = case.limit("unlearned half" if halves else "unlearned")
    snapshot = course.first
    if not untrained or snapshot is None or not unlearned(case, course, part):
        return None
    leaves = {id(each.tensor): each.tensor for each in untrained}
    thawed = differentiable(snapshot, leaves)
    arms = repair(case, course, snapshot, case.limit("better"), repaired=thawed)
    if arms is None:
        return None
    names = list(groups(case, untrained))
    return frozen_parameter.finding(
        f"{listed(names)}: requires_grad=False from the start, and never trained in this run",
        arms.told("if they are trained as well"),
        where=untrained[0].frozen_at or untrained[0].made_at,
        proof=Proof.INFERRED,
        parameters=[each.name for each in untrained],
        fix=f"Train {listed(names)} as well: requires_grad_(True) before the optimizer is made.",
        remedy=SHOWN,
    )


def _are_loaded(case: Case, frozen: list[Parameter]) -> bool:
    """Whether a state was put into some of them: they are to stay what it made them."""
    chosen = {id(each.tensor) for each in frozen}
    return any(
        each.kind == "module"
        and bool(each.matched)
        and any(id(one) in chosen for one in each.thing.parameters())
        for each in case.run.restored
    )


def _others_are_left_out(case: Case, course: Course) -> bool:
    """Whether what is not frozen has gradients, and no optimizer to use them."""
    leaves = set() if course.first is None else course.first.leaves.keys()
    known = [case.run.parameters.get(each) for each in leaves]
    return any(each is not None and each.reached and not each.optimizers for each in known)


def _half_frozen(case: Case, untrained: list[Parameter]) -> list[Parameter]:
    """Weights that were made as constants at random, by layers whose biases are trained.

    Fixed features and pretrained weights stand alone, or beside other weights that are trained.
    """
    known = {id(each.tensor): each for each in untrained}
    found = []
    for _, root, _ in case.run.roots:
        for module in root.modules():
            own = list(module.parameters(recurse=False))
            trained = [each for each in own if each.requires_grad]
            if not trained or any(each.ndim > 1 for each in trained):
                continue
            found += [known[id(each)] for each in own if id(each) in known and each.ndim > 1]
    # The line that made them says requires_grad=False.
    made = [each for each in found if each.frozen_at in (None, each.made_at)]
    return [each for each in made if _is_random(case, each)]


def _is_random(case: Case, parameter: Parameter) -> bool:
    """Whether the values are all different and lie on both sides of zero."""
    engine = case.run.engine
    if engine is None:
        return False
    values = engine.array(parameter.tensor)
    return bool(
        np.unique(values).size > case.limit("varied") * values.size
        and values.min() < 0 < values.max()
    )


def _none_frozen(case: Case) -> str | None:
    held = [each for course in case.courses for each in course.parameters]
    if held and all(each.requires_grad for each in held):
        return f"all {len(held)} parameters of the optimizers require grad"
    return None
