"""A loss that swings instead of settling."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.evidence.ordering import ordered_by_class
from whygrad.doctor.progress import is_entangled
from whygrad.doctor.recording.record import Course
from whygrad.doctor.replay.optimizers import rate_of
from whygrad.doctor.replay.trainer import Descent, drop, is_below
from whygrad.doctor.replay.trial import Trial
from whygrad.doctor.rules.rule import Finding, Proof, rule

__all__ = ["heavy_momentum"]

_LONG = 60  # steps: a swing takes longer than the first fall
_USUAL = 0.9


def heavy_momentum(course: Course) -> tuple[str, dict[str, Any]] | None:
    """The option that remembers gradients for too long, in words, and its usual value."""
    options = course.optimizer.options
    momentum, betas = options.get("momentum"), options.get("betas")
    if isinstance(momentum, float) and momentum > 0.95:
        return f"momentum={momentum:g}", {"momentum": _USUAL}
    if isinstance(betas, (tuple, list)) and isinstance(betas[0], float) and betas[0] > 0.95:
        return f"betas={tuple(betas)}", {"betas": (_USUAL, *betas[1:])}
    return None


def _rebound(descent: Descent) -> float:
    """How far the loss came back up after its lowest point, as a part of where it began."""
    early = descent.losses[: 3 * len(descent.losses) // 4]
    low = min(early)
    late = statistics.median(descent.losses[early.index(low) :][-len(descent.losses) // 3 :])
    return (late - low) / max(abs(descent.start), 1e-12) if late > 3 * abs(low) else 0.0


@rule(
    thresholds={
        "learned": 0.8,
        "rebound": 0.1,
        "steps": 30,
        "turns": 0.9,
        "silent": 0.3,
        "done": 0.05,
    },
)
def oscillation(case: Case) -> Iterator[Finding]:
    """The loss swings up and down and does not settle.

    The parameters run through the minimum and out on the other side, again and again. Either
    the momentum keeps old gradients for so long that it cannot turn round in time, or each step
    is just long enough to land as high as it started. Or the data pull to and fro: batches that
    come class by class undo each other.

    Measured: 60 steps from the first state on the same batch: after its lowest point the loss
    comes back up and stays there, or hardly falls; with the usual momentum, or a tenth of the
    rate, it gets to the bottom. And the run itself did not get to the bottom. Also: losses that
    turn round at nearly every step to the end, or at many although every step has the same
    data, and batches that hold one class each.
    Fix: Use momentum=0.9 (betas=(0.9, 0.999)), or a lower learning rate.
    Guardrail: assert sum(losses[-50:]) < sum(losses[-100:-50]), 'the loss no longer falls'
    """
    for course in case.courses:
        progress = case.progress(course)
        if progress.broken or progress.steps < case.limit("steps"):
            continue
        if is_entangled(course, case.courses):
            continue
        if progress.curve >= case.limit("learned"):
            done = is_below(progress.end, case.limit("done"), progress.opening)
            if not done and _same_at_every_step(case, course):
                seen = _to_and_fro(case, course)
                yield from () if seen is None else (seen,)
            continue
        seen = _by_turns(case, course) or _to_and_fro(case, course)
        if seen is not None:
            yield seen
            continue
        trial = case.trial(course, course.first)
        own = None if trial is None else trial.descend(steps=_LONG)
        if trial is None or own is None or own.diverges:
            continue
        swings = _rebound(own) >= case.limit("rebound")
        for said, better in _calmer(course, trial):
            # A smaller rate gets further only if the larger one jumps from side to side.
            jumps = better is not None and better.is_calm(0.5) and progress.gain < 0.5
            deeper = better is not None and is_below(better.end, 0.3, own.end)
            if better is not None and deeper and (swings or jumps):
                yield _swinging(course, own, said, better)
                break


def _by_turns(case: Case, course: Course) -> Finding | None:
    """Data in the order of their classes: each is learned in turn, and the others forgotten."""
    losses = course.losses
    late = losses[len(losses) // 2 :]
    if not late or max(late) <= 1.2 * abs(losses[0]):
        return None
    ordered = ordered_by_class(case, course)
    if ordered is None:
        return None
    return oscillation.finding(
        where=ordered.where,
        step=next(place for place, each in enumerate(losses) if each > 1.2 * abs(losses[0])),
        proof=Proof.INFERRED,
        evidence=[
            f"{ordered.pure} of {ordered.batches} batches that were looked at hold a single class, "
            f"and not the same one: there are {ordered.classes}",
            f"in the second half of the run the loss still goes from {min(late):.4g} up to "
            f"{max(late):.4g}; it began at {losses[0]:.4g}",
        ],
        fix="Mix the classes: DataLoader(..., shuffle=True), or take the rows in the order of "
        "torch.randperm(len(data)), anew in each epoch.",
    )


def _same_at_every_step(case: Case, course: Course) -> bool:
    """Whether each step has the same data, and draws nothing: the first one gives the last loss."""
    if course.last is None or course.last is course.first:
        return False
    return math.isclose(case.progress(course).latest, course.last.value, rel_tol=1e-4)


def _to_and_fro(case: Case, course: Course) -> Finding | None:
    """Up, down, up, down to the end of the run, between levels that no longer change."""
    losses = course.losses
    late = losses[len(losses) // 2 :]
    moves = [after - before for before, after in pairwise(late)]
    turns = [one * other < 0 for one, other in pairwise(moves)]
    quarter = len(losses) // 4
    # Noise turns round at two of three steps, never at nearly all of them; without any noise the
    # loss has no reason to turn round at all.
    silent = _same_at_every_step(case, course)
    least = case.limit("silent" if silent else "turns")
    if len(turns) < 12 or sum(turns) < least * len(turns):
        return None
    end, before = statistics.fmean(losses[-quarter:]), statistics.fmean(late[:quarter])
    trial = case.trial(course, course.last)
    own = None if trial is None else trial.descend()
    calm = None if trial is None else trial.descend(0.1)
    if own is None or calm is None or drop(before, end) > 0.05:
        return None
    reached = min(own.losses[len(own.losses) // 2 :]) if silent else min(own.end, own.start)
    if (own.drop > 0.3 and not silent) or not is_below(calm.end, 0.3, reached):
        return None
    rate = rate_of(course)
    return oscillation.finding(
        where=course.optimizer.made_at or course.steps[0].where,
        step=len(losses) // 2,
        proof=Proof.TRIED,
        evidence=[
            f"in the second half of the run the loss turned round at {sum(turns)} of {len(turns)} "
            f"steps, between {min(late):.4g} and {max(late):.4g}",
            f"from the latest state it goes {own} with steps of this length, {calm} with a tenth",
        ],
        fix=f"Make the steps shorter as the loss levels off: lr={rate / 10:.2g} instead of "
        f"{rate:.3g}, or let it decay.",
        data={"losses": losses, "losses_calm": calm.losses},
    )


def _calmer(course: Course, trial: Trial) -> Iterator[tuple[str, Descent | None]]:
    heavy = heavy_momentum(course)
    if heavy is not None:
        name = next(iter(heavy[1]))
        yield f"{name}={heavy[1][name]}", trial.descend(steps=_LONG, **heavy[1])
    yield f"lr={rate_of(course) / 10:.3g}", trial.descend(0.1, steps=_LONG)


def _swinging(course: Course, own: Descent, said: str, better: Descent) -> Finding:
    heavy = heavy_momentum(course)
    now = heavy[0] if heavy is not None else f"lr={rate_of(course):g}"
    low = own.losses.index(min(own.losses))
    top = max(own.losses[low:])
    swing = f" and swings back to {top:.4g}" if top > 1.5 * abs(own.losses[low]) else ""
    return oscillation.finding(
        where=course.optimizer.made_at or course.steps[0].where,
        step=low,
        proof=Proof.TRIED,
        evidence=[
            f"with {now} the loss of the first batch falls from {own.start:.4g} to "
            f"{own.losses[low]:.4g} in {low} steps{swing}",
            f"with {said} it goes {better}",
        ],
        fix=f"{said} instead of {now}.",
        data={"losses": own.losses, "losses_calm": better.losses},
    )
