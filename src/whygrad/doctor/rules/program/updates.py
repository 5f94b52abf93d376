"""Gradients that are computed and not used, or used twice: clearing and updating, and their order.

What an update finds is written down at every step: the size of each gradient, whether it was added
to one that an earlier update had used, and whether it was cleared before any update saw it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.experiments.remedies import Remedy
from whygrad.doctor.rules.rule import Finding, Proof, rule
from whygrad.doctor.source.lines import loss_assigned
from whygrad.doctor.source.loops import loops_around
from whygrad.doctor.source.reader import covers
from whygrad.doctor.source.statements import sets_gradients
from whygrad.recording.record import Course, Pass, Snapshot

__all__: list[str] = []


@rule(
    thresholds={
        "updates": (2, "that used gradients again: once may be deliberate"),
        "fraction": (0.25, "of all updates: fewer are accumulation over a last, short round"),
        "shown": (40, "updates from the start whose largest gradient is quoted"),
    },
    cleared=lambda case: _all_cleared(case),
)
def missing_zero_grad(case: Case, course: Course) -> Iterator[Finding]:
    """Gradients are not cleared between updates.

    backward() adds to .grad. Without zero_grad() each update uses the sum of all gradients
    since the beginning: the steps grow, point to where the loss used to fall, and overshoot.

    Measured: Before each backward(), whether gradients that an update has used already are
    still there. Several backward() calls before one step() are accumulation and are fine.
    Fix: Call optimizer.zero_grad() once per update, before loss.backward().
    Guardrail: optimizer.step(); optimizer.zero_grad(set_to_none=True)  # always together
    """
    stale = [step for step in course.steps if step.contaminated]
    few = len(stale) < case.limit("updates")
    if few or len(stale) < case.limit("fraction") * len(course.steps):
        return
    if sets_gradients(course.steps[-1].where, course.optimizer.made_at):
        return
    first = stale[0]
    where = first.passes[-1].where if first.passes else first.where
    places = [("updated here", first.where)]
    places += [("cleared here, too rarely", each) for each in case.run.zeroings[:1]]
    yield missing_zero_grad.finding(
        f"at {len(stale)} of {len(course.steps)} updates the gradients of earlier updates "
        "were still in .grad and were used again",
        _growth(case, course),
        where=where,
        step=first.number,
        proof=Proof.RECORDED,
        places=places,
        fix=_clear_by_hand(course) if course.optimizer.thing is None else missing_zero_grad.fix,
        remedy=Remedy(course.first, as_it_is={"accumulate": True}),
    )


@rule(
    thresholds={
        "passes": (3, "backward() calls: fewer may be a try-out"),
        "wasted": (0.5, "of the passes: some gradients may be looked at and dropped"),
        "dropped": (3, "losses between two updates that no backward() sees, at the least"),
    },
    cleared=lambda case: _all_used(case),
)
def missing_step(case: Case) -> Iterator[Finding]:
    """The computed gradients never change the parameters.

    backward() fills .grad and does no more. Parameters change only when step() runs while the
    gradients are there: not if it is never called, and not if they were cleared before.

    Measured: Optimizers whose parameters got gradients and that made no update; updates that
    found every gradient missing or zero although a backward() came before; passes whose
    gradients were cleared unused; losses of a loop over batches of which backward(), behind the
    loop, sees the last alone; updates of a program that never calls backward().
    Fix: loss.backward(); optimizer.step(); optimizer.zero_grad(), in this order, every step.
    Guardrail: before = weight.clone(); optimizer.step(); assert not torch.equal(before, weight)
    """
    if not case.run.passes:
        yield from _without_backward(case)
        return
    passes = [each for each in case.run.passes if each.error is None]
    if len(passes) < case.limit("passes"):
        return
    for course in case.run.courses:
        if course.optimizer.thing is not None:
            found = (
                _never(case, course, passes)
                or _in_vain(course)
                or _rarely(case, course, passes)
                or _behind_the_loop(case, course)
            )
            if found is not None:
                yield found
                return


# --- zero_grad ------------------------------------------------------------------------------------


def _growth(case: Case, course: Course) -> str | None:
    """How the gradients grew while they were added up."""
    early = course.steps[: int(case.limit("shown"))]
    sizes = [max(each or 0.0 for each in step.gradients.values())
             for step in early if step.gradients]  # fmt: skip
    if len(sizes) < 2 or not sizes[0] > 0 or not max(sizes) > 2 * sizes[0]:
        return None
    return f"the largest gradient (rms) went from {sizes[0]:.3g} to {max(sizes):.3g}"


def _clear_by_hand(course: Course) -> str:
    name = course.parameters[-1].name if course.parameters else "w"
    return f"Clear every gradient after the update: {name}.grad = None (or {name}.grad.zero_())."


def _all_cleared(case: Case) -> str | None:
    steps = [step for course in case.courses for step in course.steps]
    if not steps or any(step.contaminated for step in steps):
        return None
    return f"gradients were clear before each of {len(steps)} updates"


# --- step -----------------------------------------------------------------------------------------


def _without_backward(case: Case) -> Iterator[Finding]:
    """Updates, and never a gradient: nobody asked for one."""
    for course in case.courses:
        held = [each for each in course.parameters if each.requires_grad]
        sizes = [size for step in course.steps for size in step.gradients.values()]
        if any(each is not None for each in sizes) or len(course.steps) < case.limit("passes"):
            continue
        own = {id(each.tensor) for each in held}
        fed = [each.module for each in case.run.fed.values() if each.recorded]
        asked = any(own & {id(one) for one in module.parameters()} for module in fed)
        if not asked and not case.run.figures and not case.run.evaluations:
            continue  # no answer is asked for: a schedule is drawn, or an optimizer tried out
        if any(each.changed for each in held):
            continue
        step = course.steps[-1]
        yield missing_step.finding(
            f"{course.optimizer.kind}.step() ran {len(course.steps)} times, and the program never "
            f"called backward(): none of {len(held)} parameters has ever had a gradient",
            where=step.where,
            proof=Proof.RECORDED,
            parameters=[each.name for each in held],
            places=[("the optimizer was made here", course.optimizer.made_at)],
            fix="Call loss.backward() before optimizer.step(); in a closure, before it returns.",
            remedy="there is no gradient to train with",
        )
        return


def _never(case: Case, course: Course, passes: list[Pass]) -> Finding | None:
    """The optimizer made no update at all."""
    idle = [each for each in course.parameters if each.reached and not each.changed]
    if course.steps or not idle:
        return None
    busy = {each.optimizer.number for each in case.courses}
    if any(busy & set(each.optimizers) for each in idle):
        return None
    last = passes[-1]
    constant = len({f"{each.value:.6g}" for each in passes}) == 1
    return missing_step.finding(
        f"{len(passes)} backward() calls and no {course.optimizer.kind}.step(): "
        f"{len(idle)} parameters got gradients and never changed",
        f"the loss is {last.value:.4g} every time" if constant else None,
        where=last.where,
        proof=Proof.RECORDED,
        parameters=[each.name for each in idle],
        places=[("the optimizer was made here", course.optimizer.made_at)],
        fix="Call optimizer.step() after loss.backward(); a scheduler's step() only sets the rate.",
        remedy=Remedy(passes[0].snapshot, as_it_is={"factor": 0.0}),
    )


def _in_vain(course: Course) -> Finding | None:
    """Every update found no gradient, although there had been some."""
    steps = [step for step in course.steps if step.passes]
    reached = [each for each in course.parameters if each.reached]
    if (
        len(steps) < 2
        or not reached
        or any(size for step in steps for size in step.gradients.values())
    ):
        return None
    step = steps[-1]
    pass_ = step.passes[-1]
    if step.where is None or pass_.cleared_at is None:
        return None
    early = step.where.file == pass_.where.file and step.where.line < pass_.where.line
    order = "step() runs before backward()" if early else "zero_grad() stands between the two"
    return missing_step.finding(
        f"all {len(steps)} updates found every gradient missing or zero, although backward() "
        f"had filled {len(reached)} of them: {order}",
        where=step.where if early else pass_.cleared_at,
        proof=Proof.RECORDED,
        parameters=[each.name for each in reached],
        places=[
            ("gradients are computed here", pass_.where),
            ("cleared here", pass_.cleared_at),
            ("used here", step.where),
        ],
        remedy=Remedy(course.first, as_it_is={"factor": 0.0}),
    )


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
        f"{len(passes)} backward() calls, {len(course.steps)} updates: the gradients of "
        f"{len(same)} calls were cleared before an update could use them",
        where=step.where,
        step=same[0].number,
        proof=Proof.INFERRED,
        places=[("cleared here", place), ("computed here", same[0].where)],
        fix="Move optimizer.step() into the loop, right after loss.backward().",
    )


def _behind_the_loop(case: Case, course: Course) -> Finding | None:
    """backward() stands behind the loop over batches: of its losses all but the last are lost."""
    first, last = course.first, course.last
    if first is None or last is None or first is last:
        return None
    lost = [_dropped(each) for each in (first, last)]
    step = course.steps[0]
    if min(lost) < case.limit("dropped") or first.loss is None or not step.passes:
        return None
    made, backward = first.calls[first.loss.call].where, step.passes[-1].where
    inner, assigned = next(iter(loops_around(made)), None), loss_assigned(backward)
    if inner is None or covers(inner.node, backward.line):
        return None  # the same round
    if assigned is None or assigned.line != made.line:
        return None  # another function, or a loss that was chosen or added up
    return missing_step.finding(
        f"{lost[0] + 1} losses are computed at line {made.line} before the first update, and "
        f"{lost[1] + 1} before a later one; backward() gets the last of them, after the loop",
        f"{len(course.steps)} updates in the whole run",
        where=backward,
        proof=Proof.RECORDED,
        places=[("computed here, in the loop", made), ("updated here", step.where)],
        fix=f"Indent backward() and step() into the loop that begins on line {inner.node.lineno}.",
    )


def _dropped(snapshot: Snapshot) -> int:
    """How many losses like the one that was differentiated the step has computed beside it."""
    if snapshot.loss is None:
        return 0
    made = snapshot.calls[snapshot.loss.call]
    return sum(
        each.op == made.op and each.recorded and each.where == made.where for each in snapshot.loose
    )


def _all_used(case: Case) -> str | None:
    updates = sum(len(course.steps) for course in case.courses)
    held = {
        id(each): each for course in case.courses for each in course.parameters
        if each.requires_grad
    }.values()  # fmt: skip
    wasted = sum(each.cleared_at is not None for each in case.run.passes)
    if not held or not all(each.changed for each in held):
        return None
    if wasted > case.limit("wasted") * len(case.run.passes):
        return None
    return f"{updates} updates changed each of {len(held)} parameters"
