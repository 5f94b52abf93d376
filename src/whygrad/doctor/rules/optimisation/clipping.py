"""Clipping that cuts every gradient, and covers up what is wrong."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator

import numpy as np

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.evidence.curve import quarter, tenths
from whygrad.doctor.evidence.growth import growth
from whygrad.doctor.experiments.rehearsal import REHEARSED, rehearsed
from whygrad.doctor.experiments.repairs import level
from whygrad.doctor.rules.rule import Finding, Proof, rule
from whygrad.doctor.source.lines import shrinks_gradients
from whygrad.recording.ranges import rms
from whygrad.recording.record import Clip, Course
from whygrad.recording.replay.optimizers import rate_of
from whygrad.recording.replay.trainer import drop

__all__ = ["ratios_of"]


@rule(
    every_course=True,
    thresholds={
        **REHEARSED,
        "small ratio": (2, "of norm over limit, where a rehearsal is to decide"),
        "ratio": (10, "of norm over limit: a guard cuts now and then, and less"),
        "hidden": (100, "of norm over limit: something is far too large"),
        "active": (0.9, "of the updates"),
        "seldom": (0.5, "of the updates: more rules nothing out"),
        "learned": (0.3, "of the loss: a run that falls by more is well with its limit"),
        "slow": (0.5, "the same behind strong clipping, from what ignoring the input costs"),
        "steps": (5, "updates: fewer are the beginning"),
        "calm": (0.05, "of the loss that must fall without clipping …"),
        "times": (5, "… or so many times what falls with it"),
        "falls": (0.3, "of the loss that must fall at a smaller rate …"),
        "most": (0.9, "… and no more is asked"),
        "tenths": (4, "times that the rate is divided by ten"),
    },
    cleared=lambda case: _cleared_clipping(case),
)
def clipping_hides_cause(case: Case, course: Course) -> Iterator[Finding]:
    """Gradient clipping is always active and hides what is wrong.

    Clipping is a guard against the rare bad batch. Here it cuts every gradient by a large
    factor, so the updates no longer say how steep the loss is: either the limit is far too
    small and nothing is learned, or the gradients are far too large for a reason that clipping
    only covers up.

    Measured: The norm before clipping over the limit, at every update. If it is above 10 at
    nearly all of them and the run does not learn, the first steps are taken again without
    clipping; above 100, what was learned is counted from what ignoring the input costs. If the
    gradient explodes in the first step already, the ratio alone is enough. Of a run that learned
    a part of it, a short training from the first state without clipping must get far below where
    the whole run ended, on batches that it has not seen.
    Fix: Set the limit to the usual size of the gradient, and look for the cause of larger ones.
    Guardrail: total = clip_grad_norm_(model.parameters(), limit); print(total / limit)  # < 1
    """
    clips = [clip for step in course.steps for clip in step.clips]
    ratios = ratios_of(course) or _ratios_by_value(case, course)
    if not clips and case.progress(course).suffers(case.limit("learned")):
        clips = _clip_by_hand(course)
        ratios = _ratios_by_hand(case, course) if clips else []
    if len(course.steps) < case.limit("steps") or not ratios or not clips:
        return
    active = sum(each > 1 for each in ratios) / len(ratios)
    usual = statistics.median(ratios)
    late = statistics.median(ratios[-quarter(ratios) :])
    if active < case.limit("active"):
        return
    if min(usual, late) < case.limit("ratio"):
        size = f"{clips[0].limit * usual:.2g}"
        reason = _rehearsed(case, course, size) if usual > case.limit("small ratio") else None
    else:
        reason = _hidden_cause(case, course, clips[0], min(usual, late))
    if reason is not None:
        said, fix, proof = reason
        yield clipping_hides_cause.finding(
            f"clipping was active in {active:.0%} of {len(course.steps)} updates and cut "
            f"the gradient to 1/{usual:.3g} of its size{_limit(clips[0])}",
            said,
            where=clips[0].where,
            proof=proof,
            fix=fix,
            data={"ratio": usual, "limit": clips[0].limit},
        )


def _rehearsed(case: Case, course: Course, size: str) -> tuple[str, str, Proof] | None:
    """What a short training without clipping comes to, where the run did learn something."""
    found = rehearsed(case, course, free=True)
    if found is None:
        return None
    told = found[0].told(found[1], "without clipping")
    return told, f"Raise the limit to about {size}, or remove it.", Proof.TRIED


def _limit(clip: Clip) -> str:
    return f" (limit {clip.limit:g})" if math.isfinite(clip.limit) else ""


def _hidden_cause(
    case: Case, course: Course, clip: Clip, ratio: float
) -> tuple[str, str, Proof] | None:
    """What clipping covers up: in words, what to do about it, and how that is known."""
    limit = clip.limit
    size = f"{limit * ratio:.2g}" if math.isfinite(limit) else f"{ratio:.2g} times as large"
    chain = growth(case, course)
    if chain is not None and ratio >= case.limit("hidden"):
        return (
            f"in the first step the gradient grows {chain.factor:.3g}-fold on its way back",
            f"Keep the limit, but mend what makes the norm {size}: {chain.chain[-1].where.text}",
            Proof.REPLAYED,
        )
    progress = case.progress(course)
    most = case.limit("slow" if ratio >= case.limit("hidden") else "learned")
    if _learned(case, course, ratio) >= most or progress.broken:
        return _rehearsed(case, course, size)
    free = case.descend(course, course.first)
    if clip.kind == "norm":
        held = case.descend(course, course.first, clip=limit)
    else:
        held = case.descend(course, course.first, 1.0 / ratio)
    if free is None or held is None:
        return None
    times = case.limit("times")
    if free.is_calm(max(case.limit("calm"), times * held.drop)):
        return (
            f"without it the loss of the first batch goes {free}, with it {held}",
            f"Raise the limit to about {size}, the usual size of the gradient, or remove it.",
            Proof.TRIED,
        )
    if ratio < case.limit("hidden") or not free.is_unstable:
        return None
    enough = min(case.limit("most"), max(case.limit("falls"), times * held.drop))
    for factor in tenths(case.limit("tenths")):
        better = case.descend(course, course.first, factor)
        if better is not None and better.is_calm(enough):
            return (
                f"the same steps on the first batch: {held} with it, {free} without it, and "
                f"{better} without it at {factor:g} of the learning rate",
                f"Mend what makes the norm {size} (a weight in the loss, a sum in place of a mean, "
                f"the scale of the data), or take lr={rate_of(course) * factor:.2g} and clip "
                "only what stands out.",
                Proof.TRIED,
            )
    if progress.gain < case.limit("learned"):
        return (
            f"without it the loss of the first batch goes {free}, with it {held}",
            f"Find out why the gradient has a norm of {size}: the scale of the data, of the "
            "initial weights, or a sum in place of a mean.",
            Proof.INFERRED,
        )
    return None


def _learned(case: Case, course: Course, ratio: float) -> float:
    """By which part the loss fell; behind strong clipping, below what ignoring the input costs.

    What is too large there makes the first loss large as well, and to come down from it is little.
    """
    progress = case.progress(course)
    reference = level(case, course) if ratio >= case.limit("hidden") else None
    return progress.gain if reference is None else min(progress.gain, drop(reference, progress.end))


def ratios_of(course: Course) -> list[float]:
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
        if trace is not None and trace.reproduced and trace.gradients:
            sizes = [rms(each) for each in trace.gradients.values()]
            found.append(float(np.median(sizes)) / limits[0])
    return found


def _ratios_by_hand(case: Case, course: Course) -> list[float]:
    """How much smaller gradients were at the update than backward() makes them in a replay."""
    found = []
    for step in course.steps:
        trace = case.trace(step.snapshot) if step.snapshot is not None else None
        if trace is None or not trace.reproduced or len(step.passes) != 1 or step.contaminated:
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
    found = None if where is None else shrinks_gradients(where)
    return [] if found is None else [Clip("by hand", math.nan, None, found)]


def _cleared_clipping(case: Case) -> str | None:
    for course in case.courses:
        ratios = ratios_of(course)
        if ratios:
            active = sum(each > 1 for each in ratios) / len(ratios)
            if active > case.limit("seldom"):
                return None
            return f"clipping was active in {active:.0%} of {len(ratios)} updates"
    return None
