"""Parameters that are used and learn nothing, because no optimizer holds them.

An optimizer holds tensors, not names.  It does not notice when the model is built anew, when a
layer sits in a plain list, or when ``w = w - step`` makes a tensor that only has the old name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.experiments.remedies import Remedy
from whygrad.doctor.experiments.repairs import unlearned
from whygrad.doctor.rules.cuts import CUTS
from whygrad.doctor.rules.rule import Finding, Proof, rule
from whygrad.doctor.rules.words import few, listed
from whygrad.doctor.source.lines import assigned, raised
from whygrad.recording.record import Course, Parameter
from whygrad.source import Where

__all__: list[str] = []


@rule(
    thresholds={
        "unlearned": (0.3, "of what ignoring the input costs: below it the run did without them"),
        "updates": (2, "of an optimizer, after a pass: one alone is no training, but a check"),
        "depth": (3, "of lists in lists that are looked into for layers"),
        "members": (1000, "of a list that are looked at"),
        "passes": (3, "after which an update by hand may have failed for good"),
    },
    cleared=lambda case: _all_held(case),
)
def parameter_not_in_optimizer(case: Case) -> Iterator[Finding]:
    """Parameters get gradients but no optimizer changes them.

    The loss depends on these parameters and backward() fills their .grad, but the optimizer was
    never given them: it holds others, perhaps those of an earlier model, or could not see them
    because they are in a plain list.

    Measured: Parameters that got gradients, belong to no optimizer and never changed, next to
    the optimizer's own that got none; layers called in a model that are not in its
    parameters(); updates that compute a new tensor instead of changing the parameter.
    Fix: Give the optimizer the parameters of the model that is trained.
    Guardrail: assert {id(p) for p in model.parameters()} <= {id(p) for group in
    optimizer.param_groups for p in group['params']}
    """
    found = _empty(case) or _replaced(case)
    if found is not None:
        yield found
        return
    left_out = [
        each
        for each in case.parameters()
        if each.reached
        and each.requires_grad
        and not case.is_held(each)
        and not each.changed
        and _is_parameter(case, each)
    ]
    courses = [each for each in case.courses if _passes(each) >= case.limit("updates")]
    if not left_out or not courses or case.run.crowded:  # another optimizer may have them
        return
    course = courses[0]
    holding = (_holds_others(case, each, left_out) for each in courses)
    found = (
        next((each for each in holding if each is not None), None)
        or _hidden(case, course, left_out)
        or _forgotten(case, course, left_out)
    )
    if found is not None:
        yield found


def _passes(course: Course) -> int:
    """The updates that passes belong to; others have their gradients from the program."""
    return sum(bool(each.passes) for each in course.steps)


def _empty(case: Case) -> Finding | None:
    """The optimizer was given nothing at all, and refused."""
    error = case.run.error
    if error is None or "empty parameter list" not in str(error).lower():
        return None
    lines = raised(error)
    return parameter_not_in_optimizer.finding(
        "the optimizer was given no parameter at all",
        where=lines[-1] if lines else None,
        proof=Proof.RAISED,
        fix="parameters() is a generator, empty once it was walked: keep list(model.parameters()), "
        "and hold layers as attributes or in nn.ModuleList so that it finds them.",
    )


def _is_parameter(case: Case, parameter: Parameter) -> bool:
    """Whether it is meant to be learned: an input that wants a gradient is not."""
    if parameter.module is not None:
        return True
    kind: Any = None if case.run.engine is None else case.run.engine.namespace.nn.Parameter
    return (kind is not None and isinstance(parameter.tensor, kind)) or (
        _attribute(case, parameter.tensor) is not None
    )


def _attribute(case: Case, tensor: Any) -> tuple[Any, str] | None:
    """The module and attribute that hold a tensor, or a layer with it, outside ``parameters()``."""
    for _, root, _ in case.run.roots:
        for module in root.modules():
            for name, value in vars(module).items():
                if not name.startswith("_") and _holds(case, value, tensor):
                    return module, name
    return None


def _holds(case: Case, value: Any, tensor: Any, depth: int = 0) -> bool:
    if value is tensor:
        return True
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)) and depth < case.limit("depth"):
        return any(
            _holds(case, each, tensor, depth + 1) for each in value[: int(case.limit("members"))]
        )
    if depth and hasattr(value, "parameters") and hasattr(value, "named_modules"):
        return any(each is tensor for each in value.parameters())
    return False


def _holds_others(case: Case, course: Course, left_out: list[Parameter]) -> Finding | None:
    """The optimizer has parameters that nobody uses, and those that are used it has not."""
    trained = [each for each in course.parameters if each.requires_grad] or course.parameters
    before = any(each is not course for each in case.courses)  # another may have reached them
    unused = [
        each
        for each in trained
        if (before or not each.reached)
        and not _is_cut_off(each)
        and all(step.gradients.get(each.name) is None for step in course.steps)
    ]
    shapes = Counter(tuple(each.tensor.shape) for each in left_out)
    same = sum((shapes & Counter(tuple(each.tensor.shape) for each in unused)).values())
    none_used = len(unused) == len(trained)
    if not unused or not (none_used or same):
        return None
    frozen = not any(each.requires_grad for each in unused)
    what = "all of them frozen" if frozen else "that no loss depends on"
    return parameter_not_in_optimizer.finding(
        f"{course.optimizer.kind} holds {len(unused)} parameters{',' * frozen} {what}",
        f"{len(left_out)} parameters ({_listed(left_out)}) got gradients, are in no optimizer "
        f"and never changed in {len(course.steps)} updates",
        where=course.optimizer.made_at,
        proof=Proof.RECORDED,
        parameters=[each.name for each in left_out],
        places=_made_here(left_out),
        fix="Make the optimizer after the model is complete: rebuilt, replaced or copied layers "
        "have parameters of their own, which the optimizer made before does not know.",
        remedy=_handed_over(course, left_out),
    )


def _hidden(case: Case, course: Course, left_out: list[Parameter]) -> Finding | None:
    """Layers or tensors that ``parameters()`` does not see."""
    held = [(each, found) for each in left_out if (found := _attribute(case, each.tensor))]
    if not held:
        return None
    module, name = held[0][1]
    kind = type(vars(module)[name]).__name__
    parameters = [each for each, _ in held]
    modules = {"list": "List", "tuple": "List", "dict": "Dict"}.get(kind)
    better = "nn.Parameter(…)"
    if modules is not None:
        better = f"nn.Module{modules}(…), or nn.ParameterList for tensors."
    what = f"self.{name} of {type(module).__name__} is a plain {kind}"
    return parameter_not_in_optimizer.finding(
        f"{what}, which parameters() does not look into",
        f"{len(parameters)} tensors in it got gradients and never changed in "
        f"{len(course.steps)} updates",
        where=assigned(module, name) or course.optimizer.made_at,
        proof=Proof.RECORDED,
        parameters=[each.name for each in parameters],
        places=[("the optimizer was made here", course.optimizer.made_at)],
        fix=f"self.{name} = {better}",
        remedy=_handed_over(course, parameters),
    )


def _forgotten(case: Case, course: Course, left_out: list[Parameter]) -> Finding | None:
    """Part of what is trained was not handed over, and the run does not learn without it."""
    modules = [each for each in course.parameters if each.module is not None]
    if not modules or not unlearned(case, course, case.limit("unlearned")):
        return None
    if any(map(_is_cut_off, course.parameters)):
        return None  # it does not learn for another reason
    repeated = _given_what_another_has(case)
    if repeated is not None:
        course = repeated
    kind, names = course.optimizer.kind, _listed(left_out)
    others = f"{kind} holds {len(course.parameters)} others"
    fix = f"{_handing_over(case, course, left_out)} If they are meant to stay, freeze them."
    places = _made_here(left_out)
    if repeated is not None:
        others = (
            f"this {kind} was given {len(course.parameters)}, and an optimizer made before it "
            "holds every one of them"
        )
        fix = f"Give this {kind} the parameters that are in no optimizer: {names}."
        known = min(course.parameters[0].optimizers)
        holders = [each.optimizer for each in case.run.courses if each.optimizer.number == known]
        places += [("holds the same parameters", each.made_at) for each in holders]
    return parameter_not_in_optimizer.finding(
        f"{len(left_out)} parameters ({names}) require grad, got gradients, are in "
        f"no optimizer and never changed in {len(course.steps)} updates",
        others,
        where=course.optimizer.made_at,
        proof=Proof.INFERRED,
        parameters=[each.name for each in left_out],
        places=places,
        fix=fix,
        remedy=_handed_over(course, left_out),
    )


def _handed_over(course: Course, left_out: list[Parameter]) -> Remedy:
    """The optimizer with these parameters as well."""
    names = [id(each.tensor) for each in left_out]
    return Remedy(course.first, mended={"also": names})


def _handing_over(case: Case, course: Course, left_out: list[Parameter]) -> str:
    """How an optimizer gets the parameters that it lacks."""
    kind, made_at = course.optimizer.kind, course.optimizer.made_at
    late = [each for each in left_out if _is_later(each.made_at, made_at)]
    if late and late[0].made_at is not None:
        return (
            f"Make the optimizer after line {late[0].made_at.line}: {_listed(late)} did not exist "
            "when it was made."
        )
    wanted = {id(each.tensor) for each in (*course.parameters, *left_out)}
    models = [
        (name, held)
        for name, root, _ in case.run.roots
        if (held := {id(each) for each in root.parameters()} & wanted)
    ]
    if any(held == wanted for _, held in models):
        return f"Hand over the whole model: optim.{kind}(model.parameters(), …)."
    names = few([f"*{name}.parameters()" for name, _ in models if name.isidentifier()])
    every = f": optim.{kind}([{', '.join(names)}], …)" if len(names) > 1 else ""
    return f"Hand over {_listed(left_out)} as well{every}."


def _is_later(one: Where | None, other: Where | None) -> bool:
    """Whether a line stands behind another one of the same function."""
    same = one is not None and other is not None and one.code is other.code
    return same and one is not None and other is not None and one.line > other.line


def _is_cut_off(parameter: Parameter) -> bool:
    """Whether the loss does depend on it, by a way that its gradient does not find back."""
    because = parameter.none_because
    return because is not None and because.cause in CUTS


def _given_what_another_has(case: Case) -> Course | None:
    """The course of an optimizer whose parameters are all held by earlier ones."""
    for course in case.courses:
        number = course.optimizer.number
        if course.parameters and all(
            any(other < number for other in each.optimizers) for each in course.parameters
        ):
            return course
    return None


def _replaced(case: Case) -> Finding | None:
    """``w = w - lr * w.grad`` makes a new tensor; the parameter stays what it was."""
    idle = [each for each in case.parameters() if each.replaced and each.reached]
    idle = [each for each in idle if not each.changed and not each.optimizers]
    passes = len(case.run.passes)
    lines: Counter[Where] = Counter()
    for each in idle:
        where, times = max(each.replaced.items(), key=lambda item: item[1])
        if times >= max(1, passes - 1) or (
            case.run.error is not None and passes <= case.limit("passes")
        ):
            lines[where] += 1
    if not lines or case.courses:
        return None
    where = min(lines, key=lambda each: each.line)
    name = idle[0].name
    failed = case.run.error
    return parameter_not_in_optimizer.finding(
        f"this line computes a new tensor from {name} and its gradient; {name} itself never "
        f"changed in {passes} passes",
        f"the next update failed: {type(failed).__name__}: {failed}" if failed else None,
        where=where,
        step=0 if passes < 2 else 1,
        proof=Proof.RECORDED,
        parameters=[each.name for each in idle],
        fix=f"Change the leaf in place: with torch.no_grad(): {name} -= lr * {name}.grad",
    )


def _made_here(parameters: list[Parameter]) -> list[tuple[str, Where | None]]:
    return [("trained, but not by the optimizer", parameters[0].made_at)]


def _listed(parameters: list[Parameter]) -> str:
    return listed(each.name for each in parameters)


def _all_held(case: Case) -> str | None:
    wanted = [each for each in case.parameters() if each.reached and each.module is not None]
    if wanted and case.courses and all(map(case.is_held, wanted)):
        return f"all {len(wanted)} parameters with gradients are in an optimizer"
    return None
