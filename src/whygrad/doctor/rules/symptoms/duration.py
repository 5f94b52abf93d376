"""Training that ends long before it is done.

The loss alone does not say how long a run was meant to be: a short demonstration is no fault.  So
the program is asked as well: a ``break`` left over from a test, a ``return`` inside the loop, a
step that has slipped out of its loop, or a model that is judged while it still answers at random.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator
from itertools import pairwise

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.evidence.curve import third
from whygrad.doctor.evidence.curve import thirds as thirds_of
from whygrad.doctor.evidence.progress import is_entangled, relative_updates
from whygrad.doctor.experiments.repairs import level
from whygrad.doctor.rules.rule import Finding, Proof, rule
from whygrad.doctor.source.loops import Exit, Loop, exits_of, loops_around, used_after_loop
from whygrad.recording.record import Course
from whygrad.recording.replay.trainer import is_below
from whygrad.source import Where

__all__: list[str] = []


@rule(
    severity=1,
    thresholds={
        "pace": (0.5, "of the fall before, in the last third"),
        "left": (0.6, "of the first loss: it is still near its start"),
        "steps": (12, "updates: four in each third"),
        "ratio": (3e-4, "of a weight that an update changes: below it the rate is to blame"),
        "near": (0.7, "of what ignoring the input costs: still no better than chance"),
        "few": (60, "updates: a run of more was meant to be that long"),
        "above": (1.3, "times what ignoring the input costs: far from chance"),
        "informative": (0.975, "of the first third: less of a fall may be all there is to learn"),
        "falls": (0.9, "of the loss in earlier thirds"),
        "copies": (8, "optimizers that one line makes: each model is to be fitted a little"),
        "unfinished": (0.3, "of what ignoring the input costs: below it one batch was enough"),
    },
    cleared=lambda case: _slowed(case),
)
def under_trained(case: Case, course: Course) -> Iterator[Finding]:
    """Training ended while the loss was still falling.

    The model was learning, at a steady pace, when the loop ended. What is evaluated is a model
    that has seen a small part of the data or very few updates.

    Measured: The loss fell as fast in the last third of the run as before and is still close to
    its start, with updates of an ordinary size; and the program ends the loop early (a break on
    a counter, a return, a step outside of the loop over batches) or evaluates the model.
    Fix: Take out the early exit, or train for several times as many steps.
    Guardrail: print(f'{step} updates, loss {loss.item():.4f}')  # after the loop
    """
    if case.progress(course).broken or not _updates_are_ordinary(case, course):
        return
    if is_entangled(course, case.courses):
        return  # the loss of a player against another says nothing about progress
    made = course.optimizer.made_at
    if sum(each.optimizer.made_at == made for each in case.courses) >= case.limit("copies"):
        return
    where = next((each.passes[-1].where for each in course.steps if each.passes), None)
    if where is None:
        return
    loops, thirds, reference = loops_around(where), thirds_of(course.losses), level(case, course)
    found = _cut_short(loops)
    if found is None and thirds is not None:
        if reference is not None:
            found = _slipped_out(case, where, thirds, reference)
        if found is None and _is_falling(case, course, thirds):
            found = _leftover(loops) or _judged_early(case, course, loops, thirds, reference)
        found = found or _far_from_chance(case, course, loops, thirds, reference)
    if found is None:
        return
    line, evidence, fix = found
    yield under_trained.finding(
        *evidence,
        f"{len(course.steps)} updates; the loss in thirds of the run: {thirds[0]:.4g}, "
        f"{thirds[1]:.4g}, {thirds[2]:.4g}"
        if thirds is not None
        else None,
        where=where.on_line(line) or where,
        step=course.steps[-1].number,
        proof=Proof.INFERRED,
        fix=fix,
    )


_Thirds = tuple[float, float, float]
_Found = tuple[int, list[str], str]


def _cut_short(loops: list[Loop]) -> _Found | None:
    """A loop over epochs that was to run many times, and always ends in its first round."""
    for loop in loops:
        for each in exits_of(loop):
            if each.always and (loop.rounds or 0) > 1:
                return (
                    each.line,
                    [
                        f"the loop on line {loop.node.lineno} was to run {loop.rounds} times; the "
                        f"{each.kind} on line {each.line} ends it in its first round"
                    ],
                    f"Move the {each.kind} on line {each.line} out of the loop.",
                )
    return None


def _slipped_out(case: Case, where: Where, thirds: _Thirds, reference: float) -> _Found | None:
    """The update stands behind the loop over batches and not in it, and too little is learned."""
    found = used_after_loop(where)
    if found is None or not case.limit("unfinished") * reference < thirds[2] < thirds[0]:
        return None
    line, name = found
    return (
        line,
        [f"line {line} uses {name!r} after its loop has ended: only the last batch is learned"],
        f"Indent line {line} and what follows, up to optimizer.step(), into the loop over batches.",
    )


def _leftover(loops: list[Loop]) -> _Found | None:
    """A break that a counter triggers, or one that always does."""
    for loop in loops:
        for each in exits_of(loop):
            if each.always or each.after is not None:
                return (
                    each.line,
                    [_told(each, loop)],
                    f"Take out the {each.kind} on line {each.line}.",
                )
    return None


def _told(each: Exit, loop: Loop) -> str:
    when = "in its first round" if each.always else f"when the counter reaches {each.after}"
    return f"the {each.kind} on line {each.line} ends the loop on line {loop.node.lineno} {when}"


def _judged_early(
    case: Case, course: Course, loops: list[Loop], thirds: _Thirds, reference: float | None
) -> _Found | None:
    """The model is evaluated after the last update and still no better than chance."""
    passes = len(case.run.passes)
    evaluated = any(each.after >= passes for each in (*case.run.evaluations, *case.run.figures))
    if not evaluated or not loops or reference is None:
        return None
    if thirds[2] < case.limit("near") * reference or len(course.steps) > case.limit("few"):
        return None
    if thirds[2] > case.limit("informative") * thirds[0]:
        return None  # it may be all that these data have to tell
    outer = loops[-1]
    planned = "" if outer.rounds is None else f" {outer.rounds} rounds of"
    return (
        outer.node.lineno,
        [
            f"the model is evaluated with a loss of {thirds[2]:.4g}; ignoring the input costs "
            f"{reference:.4g}"
        ],
        f"{len(course.steps)} updates are far too few: raise the{planned} loop on line "
        f"{outer.node.lineno} about tenfold.",
    )


def _far_from_chance(
    case: Case, course: Course, loops: list[Loop], thirds: _Thirds, reference: float | None
) -> _Found | None:
    """A few epochs that end on their way down, above what answering always the same would cost."""
    few = case.limit("steps") <= len(course.steps) <= case.limit("few")
    if reference is None or len(loops) < 2 or not few:
        return None
    falls = thirds[2] < case.limit("falls") * min(thirds[:2])
    if not falls or thirds[2] < case.limit("above") * reference:
        return None
    if course.last is None:
        return None
    more = 2 * len(course.steps) - course.last.step  # as many again, after the end
    onwards = case.descend(course, course.last, steps=more)
    if onwards is None or onwards.is_unstable:
        return None
    if not is_below(onwards.end, case.limit("left"), onwards.start):
        return None
    outer = loops[-1]
    return (
        outer.node.lineno,
        [
            f"the run ends at a loss of {thirds[2]:.4g}; ignoring the input costs {reference:.4g}",
            f"{more} updates on the batch of step {course.last.step}: {onwards}",
        ],
        f"{len(course.steps)} updates are far too few: raise the number of epochs on line "
        f"{outer.node.lineno} about tenfold.",
    )


def _is_falling(case: Case, course: Course, thirds: _Thirds) -> bool:
    """Whether the loss falls at the end as it did before, and is still near its start."""
    first, middle, last = thirds
    steady = middle - last >= case.limit("pace") * (first - middle) > 0
    near = last >= case.limit("left") * first and first - last > 2 * _noise(course)
    return len(course.losses) >= case.limit("steps") and steady and near


def _noise(course: Course) -> float:
    """How uncertain the median of a third is."""
    losses = course.losses
    size = third(losses)
    jumps = [abs(after - before) for before, after in pairwise(losses)]
    return statistics.median(jumps) / math.sqrt(size) if size else math.inf


def _updates_are_ordinary(case: Case, course: Course) -> bool:
    """Whether an update changes weights by a usual part: otherwise the rate is to blame."""
    ratios = [each for each in relative_updates(course) if math.isfinite(each)]
    return bool(ratios) and statistics.median(ratios) >= case.limit("ratio")


def _slowed(case: Case) -> str | None:
    thirds = thirds_of(case.courses[0].losses) if case.courses else None
    if thirds is None or not thirds[0] > thirds[1]:
        return None
    slower = 0 <= thirds[1] - thirds[2] <= case.limit("pace") * (thirds[0] - thirds[1])
    if not slower or thirds[2] > case.limit("left") * case.courses[0].losses[0]:
        return None
    return "the loss in thirds of the run: " + ", ".join(f"{each:.3g}" for each in thirds)
