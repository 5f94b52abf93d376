"""A loss that swings instead of settling, and one that stands still because the rate is gone."""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from whygrad.doctor.case import Case
from whygrad.doctor.ordering import ordered_by_class
from whygrad.doctor.progress import is_entangled
from whygrad.doctor.recording.record import Course, Snapshot, Update
from whygrad.doctor.replay.optimizers import rate_of
from whygrad.doctor.replay.trial import Descent, Trial, drop, is_below
from whygrad.doctor.rule import Finding, rule
from whygrad.source import Where

__all__ = ["heavy_momentum", "loss_plateau", "oscillation"]

_LONG = 60  # steps: a swing takes longer than the first fall
_SHORT = 10  # few enough not to learn one batch by heart
_USUAL = 0.9
_RATES = (0.03, 0.1, 0.3, 1.0)  # parts of the highest one: a run could have gone on at any


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
    id="oscillation",
    severity=2,
    title="The loss swings up and down and does not settle",
    meaning=(
        "The parameters run through the minimum and out on the other side, again and again. Either "
        "the momentum keeps old gradients for so long that it cannot turn round in time, or each "
        "step is just long enough to land as high as it started. Or the data pull to and fro: "
        "batches that come class by class undo each other."
    ),
    measured=(
        f"{_LONG} steps from the first state on the same batch: after its lowest point the loss "
        "comes back up and stays there, or hardly falls; with the usual momentum, or a tenth of "
        "the rate, it gets to the bottom. And the run itself did not get to the bottom. "
        "Also: losses that turn round at nearly every step to the end, or at many although every "
        "step has the same data, and batches that hold one class each."
    ),
    fix="Use momentum=0.9 (betas=(0.9, 0.999)), or a lower learning rate.",
    guardrail="assert sum(losses[-50:]) < sum(losses[-100:-50]), 'the loss no longer falls'",
    explains=("lr-too-high", "loss-plateau", "exploding-gradient", "under-trained"),
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
        confidence=0.9,
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
        confidence=0.9,
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
        confidence=0.9,
        evidence=[
            f"with {now} the loss of the first batch falls from {own.start:.4g} to "
            f"{own.losses[low]:.4g} in {low} steps{swing}",
            f"with {said} it goes {better}",
        ],
        fix=f"{said} instead of {now}.",
        data={"losses": own.losses, "losses_calm": better.losses},
    )


@rule(
    id="loss-plateau",
    severity=1,
    title="The loss stands still because the learning rate is gone",
    meaning=(
        "A schedule has brought the learning rate to nearly nothing long before the model had "
        "learned what it could. From then on the steps change nothing. Usual reasons: a schedule "
        "made for epochs is stepped every batch, or it decays too fast."
    ),
    measured=(
        "Many steps ran at less than a hundredth of the highest rate. A few steps from the last "
        "state at the highest rate on one batch lower the loss of other batches, which they have "
        "not seen: there was something left to learn. Of a run that had learned most of it: the "
        "parameters stand still to the last bit; a few steps at some rate up to the highest lower "
        "every batch that is left out of them, and as many at the last rate do not."
    ),
    fix="Step the scheduler once an epoch, or decay more slowly.",
    guardrail="print(scheduler.get_last_lr())  # every epoch",
    explains=("under-trained", "lr-too-low", "constant-output"),
    thresholds={
        "gone": 0.01, "part": 0.4, "learned": 0.8, "other": 0.06, "steps": 20,
        "most": 0.6, "finished": 0.95,
    },
)  # fmt: skip
def loss_plateau(case: Case) -> Iterator[Finding]:
    for course in case.courses:
        progress = case.progress(course)
        peak = rate_of(course)
        steps = [each for each in course.steps if each.rates and each.loss is not None]
        if progress.broken or len(steps) < case.limit("steps") or not peak > 0:
            continue
        if progress.gain >= case.limit("finished") or is_entangled(course, case.courses):
            continue
        gone = [each for each in steps if max(each.rates) < case.limit("gone") * peak]
        gone = [each for each in gone if each.index > steps[0].index + _warmup(steps, peak)]
        if len(gone) < case.limit("part") * len(steps):
            continue
        found = None
        if progress.gain < case.limit("learned"):
            found = _left_to_learn(case, course)
        if found is None and len(gone) >= case.limit("most") * len(steps):
            found = _stopped_on_the_way(case, course, gone)
        if found is not None:
            yield _gone(course, gone, peak, found)


def _warmup(steps: list[Update], peak: float) -> int:
    """How many steps it took to get to the highest rate."""
    return next(place for place, each in enumerate(steps) if max(each.rates) >= peak)


def _left_to_learn(case: Case, course: Course) -> str | None:
    """What a few steps at the highest rate would still do for batches they have not seen."""
    tried = _tried_on_other_batches(case, course)
    if tried is None or tried[1] < case.limit("other"):
        return None
    again, other = tried
    return (
        f"{len(again.losses) - 1} steps from the last state at lr={rate_of(course):g}: loss "
        f"{again}, and {other:.0%} lower on other batches"
    )


def _stopped_on_the_way(case: Case, course: Course, gone: list[Update]) -> str | None:
    """A run that no longer moves at all, and would learn more as soon as it has a rate again."""
    earlier, last = course.earlier, course.last
    if earlier is None or last is None or not _same_values(earlier, last):
        return None
    losses = [each.loss for each in gone if each.loss is not None]
    # Nothing moves, so losses differ as batches do: of such that are all different, few say little.
    if statistics.stdev(losses) > 0.5 * abs(statistics.fmean(losses)):
        return None
    peak, rate = rate_of(course), max(gone[-1].rates)
    control = _in_turns(case, course, rate / peak)
    factor, further = _gain_at_some_rate(case, course)
    if further < case.limit("other") or not control or max(map(abs, control)) > 0.1 * further:
        return None
    return (
        f"not one bit of the parameters changed between steps {earlier.step} and {last.step}; "
        f"{_SHORT} steps from there on each batch that was kept but one, at lr={factor * peak:g}, "
        f"lower that one by {further:.0%} (mean of {len(control)}, all of them fall); at "
        f"lr={rate:.3g} by {max(control):.1%}"
    )


def _gain_at_some_rate(case: Case, course: Course) -> tuple[float, float]:
    """The part of the highest rate at which batches that are left out gain most, and how much.

    Each of them has to gain, there and at smaller rates too: what is common to all batches shows
    in short steps first, and what falls in long ones only has fallen by luck.
    """
    best = 0.0, 0.0
    for factor in _RATES:
        drops = _in_turns(case, course, factor)
        if not drops or min(drops) <= 0:
            break
        further = statistics.fmean(drops)
        if min(drops) >= 0.5 * case.limit("other") and further > best[1]:
            best = factor, further
    return best


def _same_values(one: Snapshot, other: Snapshot) -> bool:
    """Whether two steps began with the very same parameters."""
    array = one.engine.array
    return one.values.keys() == other.values.keys() and all(
        np.array_equal(array(value), array(other.values[name]))
        for name, value in one.values.items()
    )


def _in_turns(case: Case, course: Course, factor: float) -> list[float]:
    """By how much each of the known batches falls when the others are trained on, in turn."""
    if course.last is None:
        return []
    now = course.last.values
    trials = [case.trial(course, each) for each in (course.last, course.earlier, course.first)]
    known = [each for each in trials if each is not None]
    drops = []
    for left_out in known:
        values = now
        for trained in known:
            if trained is not left_out:
                descent = trained.descend(factor, steps=_SHORT, start=values)
                if descent is None:
                    return []
                values = descent.values
        drops.append(drop(left_out.loss(now), left_out.loss(values)))
    return drops if len(known) > 1 else []


def _tried_on_other_batches(case: Case, course: Course) -> tuple[Descent, float] | None:
    """A descent from the last state at the highest rate; what such ones do for other batches."""
    if course.last is None:
        return None
    now = course.last.values
    trials = [case.trial(course, each) for each in (course.last, course.earlier, course.first)]
    known = [each for each in trials if each is not None]
    descents = [each.descend(steps=_SHORT, start=now) for each in known]
    drops = [
        drop(other.loss(now), other.loss(descent.values))
        for trained, descent in zip(known, descents)
        for other in known
        if other is not trained and descent is not None
    ]
    if not drops or descents[0] is None:
        return None
    return descents[0], statistics.fmean(drops)


def _gone(course: Course, gone: list[Update], peak: float, tried: str) -> Finding:
    schedulers = course.optimizer.schedulers
    name = schedulers[-1][0] if schedulers else "the schedule"
    return loss_plateau.finding(
        where=schedulers[-1][1] if schedulers else _line_of_change(course),
        step=gone[0].index,
        confidence=0.9,
        evidence=[
            f"{name} brought lr from {peak:g} to {max(gone[0].rates):.3g} by step {gone[0].index} "
            f"and to {max(gone[-1].rates):.3g} at the end",
            f"{len(gone)} of {len(course.steps)} steps ran at less than a hundredth of the rate",
            tried,
        ],
        fix=f"Call the scheduler's step() once an epoch instead of every batch, or let {name} "
        "decay more slowly: a tenth of the rate belongs to the end of the run.",
    )


def _line_of_change(course: Course) -> Where | None:
    """The line of a schedule by hand: ``group["lr"] = …`` near the call of step()."""
    where = course.steps[-1].where
    if where is None:
        return course.optimizer.made_at
    for number, text in enumerate(where.source, 1):
        if re.search(r"""\[["']lr["']\]\s*[-*/]?=[^=]""", text):
            found = where.on_line(number)
            if found is not None:
                return found
    return course.optimizer.made_at
