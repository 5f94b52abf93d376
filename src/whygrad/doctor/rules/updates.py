"""Gradients that are computed and not used: no update, the wrong parameters, the wrong order.

What an update finds is written down at every step: the size of each gradient, whether it was added
to one that an earlier update had used, and whether it was cleared before any update saw it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from whygrad.autograd.source import Where
from whygrad.doctor.case import Case
from whygrad.doctor.listing import assigned
from whygrad.doctor.record import Course, Parameter, Pass
from whygrad.doctor.repairs import unlearned
from whygrad.doctor.rule import Finding, rule

__all__: list[str] = []

_NO_LEARNING = (
    "class-imbalance", "constant-output", "loss-plateau", "lr-too-low", "shuffled-labels",
    "under-trained", "vanishing-gradient",
)  # fmt: skip


@rule(
    id="missing-zero-grad",
    severity=2,
    title="Gradients are not cleared between updates",
    meaning=(
        "backward() adds to .grad. Without zero_grad() each update uses the sum of all gradients "
        "since the beginning: the steps grow, point to where the loss used to fall, and overshoot."
    ),
    measured=(
        "Before each backward(), whether gradients that an update has used already are still "
        "there. Several backward() calls before one step() are accumulation and are fine."
    ),
    fix="Call optimizer.zero_grad() once per update, before loss.backward().",
    guardrail="optimizer.step(); optimizer.zero_grad(set_to_none=True)  # always together",
    explains=(
        "clipping-hides-cause", "exploding-gradient", "loss-plateau", "lr-too-high", "oscillation",
        "overflow-in-exp", "saturated-activation", "dead-relu", "under-trained", "constant-output",
    ),
    thresholds={"updates": 2, "fraction": 0.25},
    cleared=lambda case: _all_cleared(case),
)  # fmt: skip
def missing_zero_grad(case: Case) -> Iterator[Finding]:
    for course in case.courses:
        stale = [step for step in course.steps if step.contaminated]
        few = len(stale) < case.limit("updates")
        if few or len(stale) < case.limit("fraction") * len(course.steps):
            continue
        first = stale[0]
        where = first.passes[-1].where if first.passes else first.where
        places = [("updated here", first.where)] if first.where is not None else []
        places += [("cleared here, too rarely", each) for each in case.run.zeroings[:1]]
        growth = _growth(course)
        yield missing_zero_grad.finding(
            where=where,
            step=first.index,
            confidence=0.97,
            evidence=[
                f"at {len(stale)} of {len(course.steps)} updates the gradients of earlier updates "
                "were still in .grad and were used again",
                *([growth] if growth else []),
            ],
            places=places,
            fix=_clear_by_hand(course) if course.optimizer.thing is None else missing_zero_grad.fix,
        )
        return


@rule(
    id="missing-step",
    severity=2,
    title="The computed gradients never change the parameters",
    meaning=(
        "backward() fills .grad and does no more. Parameters change only when step() runs while "
        "the gradients are there: not if it is never called, and not if they were cleared before."
    ),
    measured=(
        "Optimizers whose parameters got gradients and that made no update; updates that found "
        "every gradient missing or zero although a backward() came before; passes whose gradients "
        "were cleared unused."
    ),
    fix="loss.backward(); optimizer.step(); optimizer.zero_grad(), in this order, every step.",
    guardrail="before = weight.clone(); optimizer.step(); assert not torch.equal(before, weight)",
    explains=_NO_LEARNING,
    thresholds={"passes": 3, "wasted": 0.5},
    cleared=lambda case: _all_used(case),
)
def missing_step(case: Case) -> Iterator[Finding]:
    passes = [each for each in case.run.passes if each.error is None]
    if len(passes) < case.limit("passes"):
        return
    for course in case.run.courses:
        if course.optimizer.thing is not None:
            found = _never(case, course, passes) or _in_vain(course) or _rarely(case, course, passes)
            if found is not None:
                yield found
                return


@rule(
    id="parameter-not-in-optimizer",
    severity=2,
    title="Parameters get gradients but no optimizer changes them",
    meaning=(
        "The loss depends on these parameters and backward() fills their .grad, but the optimizer "
        "was never given them: it holds others, perhaps those of an earlier model, or could not "
        "see them because they are in a plain list."
    ),
    measured=(
        "Parameters that got gradients, belong to no optimizer and never changed, next to the "
        "optimizer's own that got none; layers called in a model that are not in its parameters(); "
        "updates that compute a new tensor instead of changing the parameter."
    ),
    fix="Give the optimizer the parameters of the model that is trained.",
    guardrail="assert {id(p) for p in model.parameters()} <= "
    "{id(p) for group in optimizer.param_groups for p in group['params']}",
    explains=("detached-graph", "disconnected-parameter", "missing-step", *_NO_LEARNING),
    thresholds={"unlearned": 0.3, "updates": 2},
    cleared=lambda case: _all_held(case),
)
def parameter_not_in_optimizer(case: Case) -> Iterator[Finding]:
    found = _replaced(case)
    if found is not None:
        yield found
        return
    left_out = [
        each
        for each in case.parameters()
        if each.reached
        and each.requires_grad
        and not each.optimizers
        and not each.changed
        and _is_parameter(case, each)
    ]
    courses = [each for each in case.courses if len(each.steps) >= case.limit("updates")]
    if not left_out or not courses:
        return
    course = courses[0]
    found = (
        _holds_others(case, course, left_out)
        or _hidden(case, course, left_out)
        or _forgotten(case, course, left_out)
    )
    if found is not None:
        yield found


# --- zero_grad ------------------------------------------------------------------------------------


def _growth(course: Course) -> str | None:
    """How the gradients grew while they were added up."""
    sizes = [max((each or 0.0) for each in step.gradients.values()) for step in course.steps[:40]
             if step.gradients]  # fmt: skip
    if len(sizes) < 3 or not sizes[0] > 0 or not max(sizes) > 2 * sizes[0]:
        return None
    return f"the largest gradient (rms) went from {sizes[0]:.3g} to {max(sizes):.3g}"


def _clear_by_hand(course: Course) -> str:
    name = course.parameters[-1].name if course.parameters else "w"
    return f"Clear every gradient after the update: {name}.grad = None (or {name}.grad.zero_())."


def _all_cleared(case: Case) -> str | None:
    updates = sum(len(course.steps) for course in case.courses)
    return f"gradients were clear before each of {updates} updates" if updates else None


# --- step -----------------------------------------------------------------------------------------


def _never(case: Case, course: Course, passes: list[Pass]) -> Finding | None:
    """The optimizer made no update at all."""
    idle = [each for each in course.parameters if each.reached and not each.changed]
    if course.steps or not idle:
        return None
    busy = {each.optimizer.number for each in case.courses}
    if any(busy & set(each.optimizers) for each in idle):
        return None
    last = passes[-1]
    constant = len({round(each.value, 6) for each in passes}) == 1
    made = course.optimizer.made_at
    return missing_step.finding(
        where=last.where,
        step=0,
        confidence=0.95,
        parameters=[each.name for each in idle],
        evidence=[
            f"{len(passes)} backward() calls and no {course.optimizer.kind}.step(): "
            f"{len(idle)} parameters got gradients and never changed",
            *([f"the loss is {last.value:.4g} every time"] if constant else []),
        ],
        places=[] if made is None else [("the optimizer was made here", made)],
        fix="Call optimizer.step() after loss.backward(); a scheduler's step() only sets the rate.",
    )


def _in_vain(course: Course) -> Finding | None:
    """Every update found no gradient, although there had been some."""
    steps = [step for step in course.steps if step.passes]
    reached = [each for each in course.parameters if each.reached]
    if len(steps) < 2 or not reached or any(size for step in steps for size in step.gradients.values()):
        return None
    step = steps[-1]
    pass_ = step.passes[-1]
    if step.where is None or pass_.cleared_at is None:
        return None
    early = step.where.file == pass_.where.file and step.where.line < pass_.where.line
    order = "step() runs before backward()" if early else "zero_grad() stands between the two"
    return missing_step.finding(
        where=step.where if early else pass_.cleared_at,
        step=0,
        confidence=0.95,
        parameters=[each.name for each in reached],
        evidence=[
            f"all {len(steps)} updates found every gradient missing or zero, although backward() "
            f"had filled {len(reached)} of them: {order}"
        ],
        places=[("gradients are computed here", pass_.where), ("cleared here", pass_.cleared_at),
                ("used here", step.where)],
    )  # fmt: skip


def _rarely(case: Case, course: Course, passes: list[Pass]) -> Finding | None:
    """Most gradients are cleared before an update uses them, all by the same two lines."""
    if len(case.run.courses) > 1 or not course.steps:
        return None
    wasted = [each for each in passes if each.cleared_at is not None]
    used = {each.where for step in course.steps for each in step.passes if not each.cleared_at}
    same = [each for each in wasted if each.where in used]
    if len(same) <= case.limit("wasted") * len(passes):
        return None
    place, _ = Counter(each.cleared_at for each in same).most_common(1)[0]
    step = course.steps[0]
    return missing_step.finding(
        where=step.where,
        step=same[0].number,
        confidence=0.85,
        evidence=[
            f"{len(passes)} backward() calls, {len(course.steps)} updates: the gradients of "
            f"{len(same)} calls were cleared before an update could use them"
        ],
        places=[(label, where) for label, where in (("cleared here", place),
                ("computed here", same[0].where)) if where is not None],
        fix="Move optimizer.step() into the loop, right after loss.backward().",
    )  # fmt: skip


def _all_used(case: Case) -> str | None:
    updates = sum(len(course.steps) for course in case.courses)
    changed = sum(each.changed for each in case.parameters())
    return f"{updates} updates changed {changed} parameters" if updates and changed else None


# --- the optimizer's parameters -------------------------------------------------------------------


def _is_parameter(case: Case, parameter: Parameter) -> bool:
    """Whether it is meant to be learned: an input that wants a gradient is not."""
    if parameter.module is not None:
        return True
    kind: Any = None if case.run.engine is None else case.run.engine.namespace.nn.Parameter  # type: ignore[attr-defined]
    return (kind is not None and isinstance(parameter.tensor, kind)) or (
        _attribute(case, parameter.tensor) is not None
    )


def _attribute(case: Case, tensor: Any) -> tuple[Any, str] | None:
    """The module and attribute that hold a tensor, or a layer with it, outside ``parameters()``."""
    for _, root, _ in case.run.roots:
        for module in root.modules():
            for name, value in vars(module).items():
                if not name.startswith("_") and _holds(value, tensor):
                    return module, name
    return None


def _holds(value: Any, tensor: Any, depth: int = 0) -> bool:
    if value is tensor:
        return True
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)) and depth < 3:
        return any(_holds(each, tensor, depth + 1) for each in value[:1000])
    if depth and hasattr(value, "parameters") and hasattr(value, "named_modules"):
        return any(each is tensor for each in value.parameters())
    return False


def _holds_others(case: Case, course: Course, left_out: list[Parameter]) -> Finding | None:
    """The optimizer has parameters that nobody uses, and those that are used it has not."""
    unused = [
        each
        for each in course.parameters
        if not each.reached
        and each.requires_grad
        and all(step.gradients.get(each.name) is None for step in course.steps)
    ]
    shapes = Counter(tuple(each.tensor.shape) for each in left_out)
    same = sum((shapes & Counter(tuple(each.tensor.shape) for each in unused)).values())
    none_used = len(unused) == len(course.parameters)
    if not unused or not (none_used or same):
        return None
    return parameter_not_in_optimizer.finding(
        where=course.optimizer.made_at,
        step=0,
        confidence=0.95,
        parameters=[each.name for each in left_out],
        evidence=[
            f"{course.optimizer.kind} holds {len(unused)} parameters that no loss depends on",
            f"{len(left_out)} parameters ({_listed(left_out)}) got gradients, are in no optimizer "
            f"and never changed in {len(course.steps)} updates",
        ],
        places=_made_here(left_out),
        fix="Make the optimizer after the model is complete: rebuilt, replaced or copied layers "
        "have parameters of their own, which the optimizer made before does not know.",
    )


def _hidden(case: Case, course: Course, left_out: list[Parameter]) -> Finding | None:
    """Layers or tensors that ``parameters()`` does not see."""
    held = [(each, found) for each in left_out if (found := _attribute(case, each.tensor))]
    if not held:
        return None
    module, name = held[0][1]
    kind = type(vars(module)[name]).__name__
    parameters = [each for each, _ in held]
    plain = kind not in ("list", "tuple", "dict")
    what = f"self.{name} of {type(module).__name__} is a plain {kind}"
    return parameter_not_in_optimizer.finding(
        where=assigned(module, name) or course.optimizer.made_at,
        step=0,
        confidence=0.95,
        parameters=[each.name for each in parameters],
        evidence=[
            f"{what}, which parameters() does not look into",
            f"{len(parameters)} tensors in it got gradients and never changed in "
            f"{len(course.steps)} updates",
        ],
        places=[] if course.optimizer.made_at is None else [
            ("the optimizer was made here", course.optimizer.made_at)],
        fix=f"self.{name} = nn.Parameter(…)" if plain else
        f"self.{name} = nn.Module{'Dict' if kind == 'dict' else 'List'}(…), or nn.ParameterList "
        "for tensors.",
    )  # fmt: skip


def _forgotten(case: Case, course: Course, left_out: list[Parameter]) -> Finding | None:
    """Part of what is trained was not handed over, and the run does not learn without it."""
    modules = [each for each in course.parameters if each.module is not None]
    if not modules or not unlearned(case, course, case.limit("unlearned")):
        return None
    return parameter_not_in_optimizer.finding(
        where=course.optimizer.made_at,
        step=0,
        confidence=0.8,
        parameters=[each.name for each in left_out],
        evidence=[
            f"{len(left_out)} parameters ({_listed(left_out)}) require grad, got gradients, are in "
            f"no optimizer and never changed in {len(course.steps)} updates",
            f"{course.optimizer.kind} holds {len(course.parameters)} others",
        ],
        places=_made_here(left_out),
        fix=f"Hand over {_listed(left_out)} as well: optim.{course.optimizer.kind}"
        "([*first.parameters(), *second.parameters()]). If they are meant to stay, freeze them.",
    )


def _replaced(case: Case) -> Finding | None:
    """``w = w - lr * w.grad`` makes a new tensor; the parameter stays what it was."""
    idle = [each for each in case.parameters() if each.replaced and each.reached]
    idle = [each for each in idle if not each.changed and not each.optimizers]
    passes = len(case.run.passes)
    lines: Counter[Where] = Counter()
    for each in idle:
        where, times = max(each.replaced.items(), key=lambda item: item[1])
        if times >= max(1, passes - 1) or (case.run.error is not None and passes <= 3):
            lines[where] += 1
    if not lines or case.courses:
        return None
    where = min(lines, key=lambda each: each.line)
    name = idle[0].name
    failed = case.run.error
    return parameter_not_in_optimizer.finding(
        where=where,
        step=0 if passes < 2 else 1,
        confidence=0.93,
        parameters=[each.name for each in idle],
        evidence=[
            f"this line computes a new tensor from {name} and its gradient; {name} itself never "
            f"changed in {passes} passes",
            *([f"the next update failed: {type(failed).__name__}: {failed}"] if failed else []),
        ],
        fix=f"Change the leaf in place: with torch.no_grad(): {name} -= lr * {name}.grad",
    )


def _made_here(parameters: list[Parameter]) -> list[tuple[str, Where]]:
    where = parameters[0].made_at
    return [] if where is None else [("trained, but not by the optimizer", where)]


def _listed(parameters: list[Parameter], most: int = 4) -> str:
    names = [each.name for each in parameters]
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def _all_held(case: Case) -> str | None:
    wanted = [each for each in case.parameters() if each.reached and each.module is not None]
    if wanted and case.courses and all(each.optimizers for each in wanted):
        return f"all {len(wanted)} parameters with gradients are in an optimizer"
    return None
