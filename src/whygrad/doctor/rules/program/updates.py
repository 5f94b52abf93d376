"""Gradients that are computed and not used, or used twice: clearing and updating, and their order.

What an update finds is written down at every step: the size of each gradient, whether it was added
to one that an earlier update had used, and whether it was cleared before any update saw it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.rules.rule import Finding, Proof, rule
from whygrad.recording.record import Course, Pass

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
    )


@rule(
    thresholds={
        "passes": (3, "backward() calls: fewer may be a try-out"),
        "wasted": (0.5, "of the passes: some gradients may be looked at and dropped"),
    },
    cleared=lambda case: _all_used(case),
)
def missing_step(case: Case) -> Iterator[Finding]:
    """The computed gradients never change the parameters.

    backward() fills .grad and does no more. Parameters change only when step() runs while the
    gradients are there: not if it is never called, and not if they were cleared before.

    Measured: Optimizers whose parameters got gradients and that made no update; updates that
    found every gradient missing or zero although a backward() came before; passes whose
    gradients were cleared unused.
    Fix: loss.backward(); optimizer.step(); optimizer.zero_grad(), in this order, every step.
    Guardrail: before = weight.clone(); optimizer.step(); assert not torch.equal(before, weight)
    """
    passes = [each for each in case.run.passes if each.error is None]
    if len(passes) < case.limit("passes"):
        return
    for course in case.run.courses:
        if course.optimizer.thing is not None:
            found = (
                _never(case, course, passes) or _in_vain(course) or _rarely(case, course, passes)
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


def _all_used(case: Case) -> str | None:
    updates = sum(len(course.steps) for course in case.courses)
    changed = sum(each.changed for each in case.parameters())
    return f"{updates} updates changed {changed} parameters" if updates and changed else None
