"""Gradients that explode on their way back, and clipping that covers it up."""

from __future__ import annotations

import math
import re
import statistics
from collections import Counter
from collections.abc import Iterator, Mapping

import numpy as np

from whygrad.doctor.case import Case
from whygrad.doctor.experiments.repairs import level
from whygrad.doctor.growth import Growth, Runaway, growth, runaway
from whygrad.doctor.ranges import rms
from whygrad.doctor.recording.record import Clip, Course
from whygrad.doctor.replay.optimizers import rate_of
from whygrad.doctor.replay.trial import drop
from whygrad.doctor.rule import Finding, rule
from whygrad.source import Where

__all__ = ["clipping_hides_cause", "exploding_gradient"]

_SHRINKS = re.compile(r"\.grad\b.*(clamp|clip|mul_|div_|copy_|\*=|/=)|\.grad(\.data)?\s*=[^=]*grad")


@rule(
    id="exploding-gradient",
    severity=2,
    title="Gradients explode on their way back",
    meaning=(
        "Backward multiplies the gradient once for every layer or time step. If each factor is a "
        "little above one, the product is astronomical: the first layers, or the first time steps, "
        "get gradients that throw the weights far away in one update."
    ),
    measured=(
        "In a replay of the first step, the size of the gradient at the beginning of a chain of "
        "multiplications over that at its end: a weight applied to its own results, or layers one "
        "after the other, times what the values grow by on their way there. Or a sequence that "
        "overflows from ordinary values as soon as its weight was updated, at a hundredth of the "
        "learning rate too. Without such a chain: gradients that grew a thousandfold during the "
        "run before it broke."
    ),
    fix="Make each factor close to one: orthogonal initial weights, a tanh or a norm in between.",
    guardrail="torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # and log what it returns",
    explains=(
        "lr-too-high", "oscillation", "overflow-in-exp", "unscaled-target", "loss-plateau",
        "dead-relu",
    ),
    thresholds={"factor": 1e3, "links": 5, "learned": 0.2, "rise": 1e3, "astronomical": 1e6},
    cleared=lambda case: _cleared(case),
)  # fmt: skip
def exploding_gradient(case: Case) -> Iterator[Finding]:
    for course in case.courses:
        found = growth(case, course, links=int(case.limit("links")), factor=case.limit("factor"))
        hidden = _ratios(course)
        clipped = bool(hidden) and statistics.median(hidden) >= 100
        suffers = case.progress(course).suffers(case.limit("learned")) or _goes_on(case, course)
        if found is not None and (clipped or suffers):
            yield _structural(case, found, clipped)
        elif (sequence := runaway(case, course)) is not None and _at_any_rate(case, course):
            yield _through_time(case, sequence)
        elif case.progress(course).broken:
            yield from _during_the_run(case, course)


def _goes_on(case: Case, course: Course) -> bool:
    """Whether the growth is astronomical, and still there at the end, however far the loss fell."""
    first = growth(case, course, factor=case.limit("astronomical"))
    if first is None or course.last is None or course.last is course.first:
        return False
    return growth(case, course, course.last, factor=case.limit("astronomical")) is not None


def _structural(case: Case, found: Growth, clipped: bool) -> Finding:
    last = found.chain[-1]
    weight = found.weight
    evidence = [
        f"in the first step the gradient grows from {found.late:.3g} to {found.early:.3g} on its "
        f"way back through {len(found.chain)} multiplications: {found.per_link:.3g} × each",
        f"forward, the values grow {found.forward:.3g}-fold and reach "
        f"{last.after[0].largest:.3g} at the last of them",
    ]
    places = []
    fix = exploding_gradient.fix
    if weight is not None:
        if weight.made_at is not None:
            places.append((f"{weight.name} is made", weight.made_at))
        fix = (
            f"Scale {weight.name} {list(weight.tensor.shape)} so that its largest singular value "
            f"is about 1 (nn.init.orthogonal_; now each use multiplies by {found.per_link:.2g}), "
            "and put a tanh, a gate or a norm between the steps."
        )
    return exploding_gradient.finding(
        where=last.where if weight is not None else _line_of_layers(case, found),
        step=0,
        confidence=0.8 if clipped else 0.95,
        evidence=evidence,
        places=places,
        fix=fix,
        parameters=[] if weight is None else [weight.name],
    )


def _line_of_layers(case: Case, found: Growth) -> Where:
    """The line that all blocks of one kind run, or the one that makes the last layer."""
    lines = {each.where.line: each.where for each in found.chain}
    line, times = Counter(each.where.line for each in found.chain).most_common(1)[0]
    last = found.chain[-1]
    if 2 * times > len(found.chain):
        return lines[line]
    return case.made_at(last.module) or last.where


def _at_any_rate(case: Case, course: Course) -> bool:
    """Whether the run would also have been thrown off at a tenth and a hundredth of its rate."""
    trial = case.trial(course, course.first)
    tried = [None if trial is None else trial.descend(factor) for factor in (0.1, 0.01)]
    return all(each is not None and each.is_unstable for each in tried)


def _through_time(case: Case, found: Runaway) -> Finding:
    """A weight that a sequence applies to its own results, and that one update pushed over one."""
    name = "its weight" if found.weight is None else found.weight.name
    made = case.made_at(found.call.module) if found.whole else None
    return exploding_gradient.finding(
        where=made or found.call.where,
        step=0,  # the update that did it used the gradients of the steps before
        confidence=0.85,
        evidence=[
            f"{found.call.op} overflows although nothing above {found.given:.3g} went into the "
            f"sequence: {name} is applied {found.length} times to its own results",
            "updates of a tenth and of a hundredth of the size throw the loss off as well",
        ],
        places=[("it overflows here", found.call.where)],
        fix=f"Keep what {name} multiplies by close to one over {found.length} steps: tanh in place "
        "of relu, an LSTM or GRU, or shorter sequences; and limit the update with "
        "clip_grad_norm_(model.parameters(), 1.0).",
        parameters=[] if found.weight is None else [found.weight.name],
    )


def _during_the_run(case: Case, course: Course) -> Iterator[Finding]:
    """No chain to blame, but the gradients grew until the run broke."""
    sizes = [(step, _total(step.gradients)) for step in course.steps]
    finite = [(step, size) for step, size in sizes if 0 < size < math.inf]
    if len(finite) < 2:
        return
    usual = statistics.median(size for _, size in finite[:3])
    large = next(((s, size) for s, size in finite if size > case.limit("rise") * usual), None)
    if large is None:
        return
    step, size = large
    name = max(step.gradients, key=lambda each: step.gradients[each] or 0.0)
    known = case.run.parameter(name)
    yield exploding_gradient.finding(
        where=(known.made_at if known is not None else None) or step.where,
        step=step.number,
        confidence=0.6,
        evidence=[f"the gradient's size went from {usual:.3g} to {size:.3g} at step {step.number}, "
                  f"largest in {name}"],
        parameters=[name],
    )  # fmt: skip


def _total(gradients: Mapping[str, float | None]) -> float:
    return max((each for each in gradients.values() if each is not None), default=0.0)


def _cleared(case: Case) -> str | None:
    for course in case.courses:
        sizes = [_total(step.gradients) for step in course.steps]
        if sizes and max(sizes) < 1e3 * max(statistics.median(sizes), 1e-30):
            return f"the largest gradient had a root mean square of {max(sizes):.3g}"
    return None


@rule(
    id="clipping-hides-cause",
    severity=2,
    title="Gradient clipping is always active and hides what is wrong",
    meaning=(
        "Clipping is a guard against the rare bad batch. Here it cuts every gradient by a large "
        "factor, so the updates no longer say how steep the loss is: either the limit is far too "
        "small and nothing is learned, or the gradients are far too large for a reason that "
        "clipping only covers up."
    ),
    measured=(
        "The norm before clipping over the limit, at every update. If it is above 10 at nearly all "
        "of them and the run does not learn, the first steps are taken again without clipping; "
        "above 100, what was learned is counted from what ignoring the input costs. "
        "If the gradient explodes in the first step already, the ratio alone is enough."
    ),
    fix="Set the limit to the usual size of the gradient, and look for the cause of larger ones.",
    guardrail="total = clip_grad_norm_(model.parameters(), limit); print(total / limit)  # < 1",
    explains=("lr-too-low", "loss-plateau", "under-trained", "constant-output"),
    thresholds={"ratio": 10, "hidden": 100, "active": 0.9, "learned": 0.3, "slow": 0.5},
    cleared=lambda case: _cleared_clipping(case),
)
def clipping_hides_cause(case: Case) -> Iterator[Finding]:
    for course in case.courses:
        clips = [clip for step in course.steps for clip in step.clips]
        ratios = _ratios(course) or _ratios_by_value(case, course)
        if not clips and case.progress(course).suffers(case.limit("learned")):
            ratios = _ratios_by_hand(case, course)
            clips = _clip_by_hand(course) if ratios else []
        if len(course.steps) < 5 or not ratios or not clips:
            continue
        active = sum(each > 1 for each in ratios) / len(ratios)
        usual = statistics.median(ratios)
        late = statistics.median(ratios[-max(1, len(ratios) // 4) :])
        if active < case.limit("active") or min(usual, late) < case.limit("ratio"):
            continue
        reason = _hidden_cause(case, course, clips[0], min(usual, late))
        if reason is not None:
            said, fix, confidence = reason
            yield clipping_hides_cause.finding(
                where=clips[0].where,
                step=0,
                confidence=confidence,
                evidence=[
                    f"clipping was active in {active:.0%} of {len(course.steps)} updates and cut "
                    f"the gradient to 1/{usual:.3g} of its size{_limit(clips[0])}",
                    said,
                ],
                fix=fix,
                data={"ratio": usual, "limit": clips[0].limit},
            )


def _limit(clip: Clip) -> str:
    return f" (limit {clip.limit:g})" if math.isfinite(clip.limit) else ""


def _hidden_cause(
    case: Case, course: Course, clip: Clip, ratio: float
) -> tuple[str, str, float] | None:
    """What clipping covers up: in words, what to do about it, and how sure that is."""
    limit = clip.limit
    size = f"{limit * ratio:.2g}" if math.isfinite(limit) else f"{ratio:.2g} times as large"
    chain = growth(case, course)
    if chain is not None and ratio >= case.limit("hidden"):
        return (
            f"in the first step the gradient grows {chain.factor:.3g}-fold on its way back",
            f"Keep the limit, but mend what makes the norm {size}: {chain.chain[-1].where.text}",
            0.93,
        )
    progress = case.progress(course)
    most = case.limit("slow" if ratio >= case.limit("hidden") else "learned")
    if _learned(case, course, ratio) >= most or progress.broken:
        return None
    trial = case.trial(course, course.first)
    free = None if trial is None else trial.descend()
    by_norm = clip.kind == "norm"
    held = None
    if trial is not None:
        held = trial.descend(clip=limit) if by_norm else trial.descend(1.0 / ratio)
    if free is None or held is None:
        return None
    if free.is_calm(max(0.05, 5 * held.drop)):
        return (
            f"without it the loss of the first batch goes {free}, with it {held}",
            f"Raise the limit to about {size}, the usual size of the gradient, or remove it.",
            0.93,
        )
    if ratio < case.limit("hidden") or not free.is_unstable:
        return None
    for factor in (0.1, 0.01, 1e-3, 1e-4):
        better = trial.descend(factor) if trial is not None else None
        if better is not None and better.is_calm(min(0.9, max(0.3, 5 * held.drop))):
            return (
                f"the same steps on the first batch: {held} with it, {free} without it, and "
                f"{better} without it at {factor:g} of the learning rate",
                f"Mend what makes the norm {size} (a weight in the loss, a sum in place of a mean, "
                f"the scale of the data), or take lr={rate_of(course) * factor:.2g} and clip "
                "only what stands out.",
                0.85,
            )
    if progress.gain < case.limit("learned"):
        return (
            f"without it the loss of the first batch goes {free}, with it {held}",
            f"Find out why the gradient has a norm of {size}: the scale of the data, of the "
            "initial weights, or a sum in place of a mean.",
            0.7,
        )
    return None


def _learned(case: Case, course: Course, ratio: float) -> float:
    """By which part the loss fell; behind strong clipping, below what ignoring the input costs.

    What is too large there makes the first loss large as well, and to come down from it is little.
    """
    progress = case.progress(course)
    reference = level(case, course) if ratio >= case.limit("hidden") else None
    return progress.gain if reference is None else min(progress.gain, drop(reference, progress.end))


def _ratios(course: Course) -> list[float]:
    """Norm before clipping over the limit, for every update that was clipped by its norm."""
    return [
        clip.total / clip.limit
        for step in course.steps
        for clip in step.clips
        if clip.total is not None and clip.limit > 0 and math.isfinite(clip.total)
    ]


def _ratios_by_value(case: Case, course: Course) -> list[float]:
    """For clipping by value: the usual size of an entry over the limit, in replayed steps."""
    limits = [clip.limit for step in course.steps for clip in step.clips if clip.kind == "value"]
    found = []
    for snapshot in (course.first, course.earlier, course.last) if limits else ():
        trace = case.trace(snapshot)
        if trace is not None and trace.exact and trace.gradients:
            sizes = [rms(each) for each in trace.gradients.values()]
            found.append(float(np.median(sizes)) / limits[0])
    return found


def _ratios_by_hand(case: Case, course: Course) -> list[float]:
    """How much smaller gradients were at the update than backward() makes them in a replay."""
    found = []
    for step in course.steps:
        trace = case.trace(step.snapshot) if step.snapshot is not None else None
        if trace is None or not trace.exact or len(step.passes) != 1 or step.contaminated:
            continue
        sizes = [
            (rms(trace.gradients[id(each.tensor)]), step.gradients.get(each.name))
            for each in course.parameters
            if id(each.tensor) in trace.gradients
        ]
        ratios = [made / used for made, used in sizes if used and made > 0]
        found += [float(np.median(ratios))] if ratios else []
    return found


def _clip_by_hand(course: Course) -> list[Clip]:
    """The line near step() that makes gradients smaller."""
    where = course.steps[0].where
    for number, text in enumerate(where.source if where is not None else (), 1):
        found = where.on_line(number) if where is not None and _SHRINKS.search(text) else None
        if found is not None:
            return [Clip("by hand", math.nan, None, found)]
    return []


def _cleared_clipping(case: Case) -> str | None:
    for course in case.courses:
        ratios = _ratios(course)
        if ratios:
            active = sum(each > 1 for each in ratios) / len(ratios)
            return f"clipping was active in {active:.0%} of {len(ratios)} updates"
    return None
