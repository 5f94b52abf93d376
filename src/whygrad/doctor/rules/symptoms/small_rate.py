"""Updates so short that nothing is learned, decided by an experiment with longer ones."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.evidence.progress import is_entangled, is_steady, relative_updates
from whygrad.doctor.evidence.standing import batches_of, is_noise
from whygrad.doctor.experiments.rehearsal import REHEARSED, STEADY, rehearsed
from whygrad.doctor.rules.rule import Finding, Proof, rule
from whygrad.doctor.source.lines import names_at
from whygrad.recording.record import Course
from whygrad.recording.replay.optimizers import rate_of
from whygrad.recording.replay.trainer import STEPS, Descent

__all__ = ["begins_trained", "lr_too_low"]


@rule(
    every_course=True,
    thresholds={
        "steady": STEADY,
        "well": REHEARSED["well"],
        "undone": (0.7, REHEARSED["undone"][1]),
        "lower": (0.7, REHEARSED["lower"][1]),
        "eps": (1e-3, "beside the size of a gradient: what is meant to be next to nothing is not"),
        "usual eps": (1e-8, "in its place"),
        "short": (1e-3, "of a weight that an update changes: a longer one may be tried"),
        "most": (1e4, "times the rate, in a rehearsal"),
        "learned": (0.03, "of the loss of the first batch: so little is standing still"),
        "own": (0.01, "of the loss that falls in the experiment at the own rate"),
        "reached": (0.3, "of the loss that falls at a larger one"),
        "steps": (20, "updates: fewer may be too few at any rate"),
        "longer": (150, "updates, where the first few show nothing: small steps add up late"),
        "tenfold": (10, "from one try to the next"),
        "faster": (1e2, "times the rate, to begin with: less may be a matter of patience"),
        "fastest": (1e7, "times the rate, at the end"),
        "curve": (0.3, "of the loss over the run: batches that differ may fall by themselves"),
        "chance": (0.5, "of what ignoring the input costs: it was trained before"),
        "rises": (1e-4, "of the loss by which it may rise: rounding"),
        "fell": (0.05, "of the loss: worth saying that it is not so"),
    },
    cleared=lambda case: _cleared_low(case),
)
def lr_too_low(case: Case, course: Course) -> Iterator[Finding]:
    """The learning rate is too low to learn anything.

    The updates point the right way and are far too short: after all steps the parameters are
    practically where they began. The loss falls in the fifth digit, if one looks.

    Measured: The loss of the first batch with the first weights and with the latest ones; then
    a few steps from the first state at the program's rate and at a hundred times it and more.
    The rate is too low if the first does next to nothing and a larger one lowers the loss by a
    third. Of a run that learned a little, a short training from the first state at a larger rate
    must learn several times as much, on batches that it has not seen. Models that begin far below
    chance (fine-tuning) are left alone.
    Fix: Raise the learning rate by factors of ten until the loss clearly falls.
    Guardrail: print(lr * p.grad.norm() / p.norm())  # healthy: about 1e-3 an update
    """
    found = _damped(case, course)
    if found is None and _stands_still(case, course):
        found = _on_one_batch(case, course)
    found = found or _in_a_rehearsal(case, course)
    if found is not None:
        yield found


def _on_one_batch(case: Case, course: Course) -> Finding | None:
    """The first steps again at the own rate, which does nothing, and at larger ones."""
    if any(map(is_noise, batches_of(case, course)[:1])):
        return None  # a larger rate would only learn it by heart
    longer = min(int(case.limit("longer")), len(course.steps))
    return _at_larger_rates(case, course, STEPS) or _at_larger_rates(case, course, longer)


def _at_larger_rates(case: Case, course: Course, steps: int) -> Finding | None:
    own = case.descend(course, course.first, steps=steps)
    if own is None or not -case.limit("rises") < own.drop < case.limit("own"):
        return None
    factor = case.limit("faster")
    while factor <= case.limit("fastest"):
        better = case.descend(course, course.first, factor, steps=steps)
        if better is None or better.is_unstable:
            break
        if better.drop >= case.limit("reached"):
            by_heart = not _holds_elsewhere(case, course, better)
            return None if by_heart else _too_low(case, course, own, factor, better)
        factor *= case.limit("tenfold")
    return None


def _damped(case: Case, course: Course) -> Finding | None:
    """A number beside the size of the gradient, far larger than it: steps are divided by that."""
    eps = course.optimizer.options.get("eps")
    if not isinstance(eps, float) or eps < case.limit("eps") or case.progress(course).broken:
        return None
    if begins_trained(case, course, case.limit("chance")):
        return None
    own = case.descend(course, course.first)
    better = case.descend(course, course.first, eps=case.limit("usual eps"))
    if own is None or better is None or better.is_unstable:
        return None
    held = own.drop > case.limit("own") or better.drop < case.limit("reached")
    found = rehearsed(case, course, eps=case.limit("usual eps")) if held else None
    if held and found is None:
        return None
    usual, rate = case.limit("usual eps"), rate_of(course)
    return lr_too_low.finding(
        f"eps={eps:g} is added to the size of the gradient, by which each step is divided",
        f"from the first state on one batch, with lr={rate:g} it goes {own}; with eps={usual:g} "
        f"{better}"
        if found is None
        else found[0].told(found[1], f"with eps={usual:g} instead of {eps:g}"),
        where=course.optimizer.made_at or course.steps[0].where,
        proof=Proof.TRIED,
        fix=f"eps={usual:g} instead of {eps:g}.",
        title="The updates are damped to next to nothing",
    )


def _in_a_rehearsal(case: Case, course: Course) -> Finding | None:
    """The loss falls a little: in a few steps at a larger rate it would have fallen by far more."""
    changes = relative_updates(course)
    if not changes or statistics.median(changes) > case.limit("short"):
        return None
    if begins_trained(case, course, case.limit("chance")) or case.progress(course).broken:
        return None
    if not is_steady(course, case.limit("steady")):
        return None  # a schedule's doing
    if course.steps[0].clips and rehearsed(case, course, free=True) is not None:
        return None  # the limit's
    factor = case.limit("tenfold")
    while factor <= case.limit("most"):
        found = rehearsed(case, course, factor=factor)
        if found is not None:
            rate = rate_of(course)
            return lr_too_low.finding(
                f"an update changes a weight by {statistics.median(changes):.2g} of its size",
                found[0].told(found[1], f"with lr={rate * factor:.2g} instead of {rate:g}"),
                where=course.optimizer.made_at or course.steps[0].where,
                proof=Proof.TRIED,
                fix=f"lr={rate * factor:.2g} instead of {rate:g}: tried in a short training.",
                data={"rate": rate, "works": rate * factor},
            )
        factor *= case.limit("tenfold")
    return None


def _holds_elsewhere(case: Case, course: Course, better: Descent) -> bool:
    """Whether the loss of another batch falls as well."""
    other = case.trial(course, course.last)
    if other is None or course.first is None or course.last is course.first:
        return True
    return other.loss(better.values) < other.loss(course.first.values)


def _stands_still(case: Case, course: Course) -> bool:
    progress = case.progress(course)
    if progress.broken or progress.steps < case.limit("steps"):
        return False
    if is_entangled(course, case.courses) or begins_trained(case, course, case.limit("chance")):
        return False
    least = case.limit("learned")
    if math.isnan(progress.pair):
        return abs(progress.curve) < least
    return abs(progress.pair) < least and progress.curve < case.limit("curve")


def begins_trained(case: Case, course: Course, part: float) -> bool:
    """Whether the parameters were trained before: by this program, or by the look of the loss."""
    number = course.optimizer.number
    for each in course.parameters:
        if any(other < number and case.run.courses[other].steps for other in each.optimizers):
            return True
        if each.written_at is not None and any("load" in it for it in names_at(each.written_at)):
            return True
    chance = case.chance(course.first)
    return chance is not None and course.losses[0] < part * chance


def _too_low(case: Case, course: Course, own: Descent, factor: float, better: Descent) -> Finding:
    progress = case.progress(course)
    rate = rate_of(course)
    return lr_too_low.finding(
        f"{progress.steps} steps changed the loss of the first batch from {progress.first:.6g} to "
        f"{progress.latest:.6g}",
        f"from the first state, with lr={rate:g} it goes {own}; with lr={rate * factor:g} {better}",
        where=course.optimizer.made_at or course.steps[0].where,
        proof=Proof.TRIED,
        fix=f"lr={rate * factor:.2g} instead of {rate:g}: tried on the first batch, the loss falls "
        f"by {better.drop:.0%} in {len(better.losses) - 1} steps.",
        data={"rate": rate, "works": rate * factor},
    )


def _cleared_low(case: Case) -> str | None:
    for course in case.courses:
        progress = case.progress(course)
        if not progress.broken and progress.gain > case.limit("fell"):
            return f"{progress.steps} steps lowered the loss by {progress.gain:.0%}"
    return None
