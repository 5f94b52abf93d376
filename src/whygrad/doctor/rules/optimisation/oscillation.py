"""A loss that swings instead of settling."""

from __future__ import annotations

import math
import statistics
import sys
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.evidence.curve import quarter, tenths, third
from whygrad.doctor.evidence.ordering import ordered_by_class
from whygrad.doctor.evidence.progress import is_entangled
from whygrad.doctor.experiments.rehearsal import REHEARSED, rehearsed
from whygrad.doctor.rules.rule import Finding, Proof, rule
from whygrad.recording.record import Course
from whygrad.recording.replay.optimizers import rate_of
from whygrad.recording.replay.trainer import Descent, drop, is_below

__all__ = ["MOMENTUM", "heavy_momentum"]

# For every rule that asks whether the momentum is to blame.
MOMENTUM = {
    "heavy": (0.95, "gradients of twenty steps and more are kept"),
    "usual": (0.9, "momentum in its place"),
}


def heavy_momentum(case: Case, course: Course) -> tuple[str, dict[str, Any]] | None:
    """The option that remembers gradients for too long, in words, and its usual value."""
    options, heavy, usual = course.optimizer.options, case.limit("heavy"), case.limit("usual")
    momentum, betas = options.get("momentum"), options.get("betas")
    if isinstance(momentum, float) and momentum > heavy:
        return f"momentum={momentum:g}", {"momentum": usual}
    if isinstance(betas, (tuple, list)) and isinstance(betas[0], float) and betas[0] > heavy:
        return f"betas={tuple(betas)}", {"betas": (usual, *betas[1:])}
    return None


def _rebound(case: Case, descent: Descent) -> float:
    """How far the loss came back up after its lowest point, as a part of where it began."""
    losses = descent.losses
    early = losses[: -quarter(losses)]
    low = min(early)
    late = statistics.median(losses[early.index(low) :][-third(losses) :])
    if late <= case.limit("swing") * abs(low):
        return 0.0
    return (late - low) / max(abs(descent.start), sys.float_info.min)


@rule(
    every_course=True,
    thresholds={
        **MOMENTUM,
        **REHEARSED,
        "learned": (0.8, "of the loss: above it a swing does no harm"),
        "rebound": (0.1, "of the first loss by which it comes back up"),
        "steps": (30, "updates: a swing takes longer than the first fall"),
        "turns": (0.9, "of the steps: noise turns round at two of three"),
        "silent": (0.3, "of the steps where nothing is drawn and the batch is the same"),
        "done": (0.05, "of the first loss: below it turning is rounding"),
        "long": (60, "steps of the experiment: a swing takes longer than the first fall"),
        "same": (1e-4, "relative: the loss of the first batch is that of the last"),
        "moves": (12, "turns that could be: fewer are accidents"),
        "level": (0.05, "of the loss that still falls between two quarters"),
        "wide": (0.04, "of the loss, from the lowest to the highest of its swings"),
        "swing": (3, "times the lowest loss, to which it returns"),
        "above": (1.2, "times the first loss in the second half: it is no noise"),
        "falls": (0.3, "of the loss at the own rate: then nothing jumps"),
        "deeper": (0.3, "of what is reached, with calmer steps"),
        "calm": (0.5, "of the loss that must fall smoothly, if the run itself fell by less"),
    },
)
def oscillation(case: Case, course: Course) -> Iterator[Finding]:
    """The loss swings up and down and does not settle.

    The parameters run through the minimum and out on the other side, again and again. Either
    the momentum keeps old gradients for so long that it cannot turn round in time, or each step
    is just long enough to land as high as it started. Or the data pull to and fro: batches that
    come class by class undo each other.

    Measured: 60 steps from the first state on the same batch: after its lowest point the loss
    comes back up and stays there, or hardly falls; with the usual momentum, or a tenth of the
    rate, it gets to the bottom. And the run itself did not get to the bottom. Also: losses that
    turn round at nearly every step to the end, or at many although every step has the same
    data, and batches that hold one class each. Of a run that momentum threw off, a short training
    from the first state with the usual one must get far below where the whole run ended.
    Fix: Use momentum=0.9 (betas=(0.9, 0.999)), or a lower learning rate.
    Guardrail: assert sum(losses[-50:]) < sum(losses[-100:-50]), 'the loss no longer falls'
    """
    if case.progress(course).steps < case.limit("steps") or is_entangled(course, case.courses):
        return
    found = [] if case.progress(course).broken else list(_swings(case, course))
    yield from found or _thrown_off(case, course)


def _swings(case: Case, course: Course) -> Iterator[Finding]:
    """A loss that comes back up after its lowest point, or goes to and fro."""
    progress = case.progress(course)
    if progress.curve >= case.limit("learned"):
        done = is_below(progress.end, case.limit("done"), progress.opening)
        if not done and _same_at_every_step(case, course):
            seen = _to_and_fro(case, course)
            yield from () if seen is None else (seen,)
        return
    seen = _by_turns(case, course) or _to_and_fro(case, course)
    if seen is not None:
        yield seen
        return
    own = case.descend(course, course.first, steps=int(case.limit("long")))
    if own is None or own.diverges:
        return
    swings, calm = _rebound(case, own) >= case.limit("rebound"), case.limit("calm")
    if not (swings or progress.gain < calm):
        return
    for said, better in _calmer(case, course):
        if better is None or not is_below(better.end, case.limit("deeper"), own.end):
            continue
        # A smaller rate gets further only if the larger one jumps from side to side.
        if swings or better.is_calm(calm):
            yield _swinging(case, course, own, said, better)
            break


def _thrown_off(case: Case, course: Course) -> Iterator[Finding]:
    """Gradients that are remembered for so long that the run is thrown off: by them, not the rate.

    With the usual momentum the same rate is well, on one batch or in a short training.
    """
    heavy, long = heavy_momentum(case, course), int(case.limit("long"))
    if heavy is None or course.first is None or not math.isfinite(course.first.value):
        return
    name = next(iter(heavy[1]))
    usual = f"{name}={heavy[1][name]}"
    tried = rehearsed(case, course, **heavy[1])
    if tried is not None:
        yield oscillation.finding(
            tried[0].told(tried[1], f"with {usual} instead of {heavy[0]}"),
            where=course.optimizer.made_at or course.steps[0].where,
            proof=Proof.TRIED,
            fix=f"{usual} instead of {heavy[0]}: tried in a short training.",
            title="The momentum keeps old gradients for too long",
        )
        return
    own = case.descend(course, course.first, steps=long)
    calm = case.descend(course, course.first, steps=long, **heavy[1])
    if own is None or calm is None or not own.is_unstable:
        return
    if calm.is_calm(case.limit("calm")):
        yield _swinging(case, course, own, usual, calm)


def _by_turns(case: Case, course: Course) -> Finding | None:
    """Data in the order of their classes: each is learned in turn, and the others forgotten."""
    losses = course.losses
    late = losses[len(losses) // 2 :]
    high = case.limit("above") * abs(losses[0]) if losses else 0.0
    if not late or max(late) <= high:
        return None
    ordered = ordered_by_class(case, course)
    if ordered is None:
        return None
    return oscillation.finding(
        f"{ordered.pure} of {ordered.batches} batches that were looked at hold a single class, "
        f"and not the same one: there are {ordered.classes}",
        f"in the second half of the run the loss still goes from {min(late):.4g} up to "
        f"{max(late):.4g}; it began at {losses[0]:.4g}",
        where=ordered.where,
        step=next(place for place, each in enumerate(losses) if each > high),
        proof=Proof.INFERRED,
        fix="Mix the classes: DataLoader(..., shuffle=True), or take the rows in the order of "
        "torch.randperm(len(data)), anew in each epoch.",
    )


def _same_at_every_step(case: Case, course: Course) -> bool:
    """Whether each step has the same data, and draws nothing: the first one gives the last loss."""
    if course.last is None or course.last is course.first:
        return False
    return math.isclose(case.progress(course).latest, course.last.value, rel_tol=case.limit("same"))


def _to_and_fro(case: Case, course: Course) -> Finding | None:
    """Up, down, up, down to the end of the run, between levels that no longer change."""
    losses = course.losses
    late = losses[len(losses) // 2 :]
    moves = [after - before for before, after in pairwise(late)]
    turns = [one * other < 0 for one, other in pairwise(moves)]
    part = quarter(losses)
    # Noise turns round at two of three steps, never at nearly all of them; without any noise the
    # loss has no reason to turn round at all.
    silent = _same_at_every_step(case, course)
    least = case.limit("silent" if silent else "turns")
    if len(turns) < case.limit("moves") or sum(turns) < least * len(turns):
        return None
    end, before = statistics.fmean(losses[-part:]), statistics.fmean(late[:part])
    if drop(before, end) > case.limit("level"):
        return None
    if max(late) - min(late) < case.limit("wide") * abs(end):
        return None
    own = case.descend(course, course.last)
    calm = case.descend(course, course.last, *tenths(1))
    if own is None or calm is None:
        return None
    reached = min(own.losses[len(own.losses) // 2 :]) if silent else min(own.end, own.start)
    if (own.drop > case.limit("falls") and not silent) or not is_below(
        calm.end, case.limit("deeper"), reached
    ):
        return None
    rate, tenth = rate_of(course), tenths(1)[0]
    return oscillation.finding(
        f"in the second half of the run the loss turned round at {sum(turns)} of {len(turns)} "
        f"steps, between {min(late):.4g} and {max(late):.4g}",
        f"from the latest state it goes {own} with steps of this length, {calm} with a tenth",
        where=course.optimizer.made_at or course.steps[0].where,
        step=len(losses) // 2,
        proof=Proof.TRIED,
        fix=f"Make the steps shorter as the loss levels off: lr={rate * tenth:.2g} instead "
        f"of {rate:.3g}, or let it decay.",
        data={"losses": losses, "losses_calm": calm.losses},
    )


def _calmer(case: Case, course: Course) -> Iterator[tuple[str, Descent | None]]:
    heavy, first, long = heavy_momentum(case, course), course.first, int(case.limit("long"))
    if heavy is not None:
        name = next(iter(heavy[1]))
        yield f"{name}={heavy[1][name]}", case.descend(course, first, steps=long, **heavy[1])
    tenth = tenths(1)[0]
    yield f"lr={rate_of(course) * tenth:.3g}", case.descend(course, first, tenth, steps=long)


def _swinging(case: Case, course: Course, own: Descent, said: str, better: Descent) -> Finding:
    heavy = heavy_momentum(case, course)
    now = heavy[0] if heavy is not None else f"lr={rate_of(course):g}"
    finite = [each for each in own.losses if math.isfinite(each)]
    low = finite.index(min(finite))
    top = max(finite[low:])
    swing = (
        f" and swings back to {top:.4g}" if top > case.limit("above") * abs(own.losses[low]) else ""
    )
    return oscillation.finding(
        f"with {now} the loss of the first batch falls from {own.start:.4g} to "
        f"{own.losses[low]:.4g} in {low} steps{swing}",
        f"with {said} it goes {better}",
        where=course.optimizer.made_at or course.steps[0].where,
        step=low,
        proof=Proof.TRIED,
        fix=f"{said} instead of {now}.",
        data={"losses": own.losses, "losses_calm": better.losses},
    )
