"""A loss that stands still because the rate is gone."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.evidence.progress import is_entangled
from whygrad.doctor.experiments.rehearsal import REHEARSED, stage_of
from whygrad.doctor.experiments.repairs import unlearned
from whygrad.doctor.rules.optimisation.schedule import line_of_schedule
from whygrad.doctor.rules.rule import Finding, Proof, rule
from whygrad.doctor.source.loops import stepped_with
from whygrad.recording.record import Course, Snapshot, Update
from whygrad.recording.replay.optimizers import rate_of
from whygrad.recording.replay.trainer import Descent, drop
from whygrad.recording.replay.trial import Trial
from whygrad.source import Where

__all__: list[str] = []

# Schedules whose numbers are usually epochs.
_OF_EPOCHS = ("StepLR", "MultiStepLR", "ExponentialLR")


@rule(
    every_course=True,
    severity=1,
    thresholds={
        "lower": (0.7, REHEARSED["lower"][1]),
        "little": (0.1, "of the highest rate, in the mean of the steps: a rehearsal may be tried"),
        "undone": (0.25, REHEARSED["undone"][1] + "; of a rate that is not gone"),
        "gone": (0.01, "of the highest rate: it changes nothing any more"),
        "vanished": (1e-7, "of the highest rate: below the last digit of a weight"),
        "part": (0.4, "of the steps at such a rate: a schedule may end there"),
        "learned": (0.8, "of the loss: above it a standstill is the end"),
        "other": (0.06, "of the loss of other batches that still falls"),
        "steps": (20, "updates: fewer have no schedule"),
        "most": (0.6, "of the steps at such a rate, where much was learned"),
        "half": (
            0.5,
            "of what ignoring the input costs: above it a schedule of epochs, stepped at "
            "every batch, is at fault without a trial",
        ),
        "guess": (0.9, "of what ignoring the input costs: no better than a guess"),
        "finished": (0.95, "of the loss: nothing is left to learn"),
        "short": (10, "steps of an experiment: few enough not to learn one batch by heart"),
        "slow": (0.1, "of the highest rate, and …"),
        "slower": (0.3, "… of each of the two, at which a run could have gone on"),
        "spread": (0.5, "of the mean loss: batches that differ by more say little"),
        "standing": (0.1, "of what falls at some rate, at most, falls at the last rate"),
        "each": (0.5, "of the fall of other batches that each of them must show"),
    },
)
def loss_plateau(case: Case, course: Course) -> Iterator[Finding]:
    """The loss stands still because the learning rate is gone.

    A schedule has brought the learning rate to nearly nothing long before the model had learned
    what it could. From then on the steps change nothing. Usual reasons: a schedule made for
    epochs is stepped every batch, or it decays too fast.

    Measured: Many steps ran at less than a hundredth of the highest rate. A few steps from the
    last state at the highest rate on one batch lower the loss of other batches, which they have
    not seen: there was something left to learn. Of a run that had learned most of it: the
    parameters stand still to the last bit; a few steps at some rate up to the highest lower
    every batch that is left out of them, and as many at the last rate do not. Or a short training
    from the first state at the highest rate gets far below where the whole run ended, on batches
    that it has not seen. A run that is no better than a guess, and had its rate for less than half
    of its steps, is told without such a trial, and so is one most of whose updates change nothing,
    or whose schedule of epochs is stepped at every batch.
    Fix: Update the scheduler once an epoch, or decay more slowly.
    Guardrail: print(scheduler.get_last_lr())  # every epoch
    """
    progress = case.progress(course)
    peak = rate_of(course)
    steps = [each for each in course.steps if each.rates and each.loss is not None]
    if progress.broken or len(steps) < case.limit("steps") or not peak > 0:
        return
    if is_entangled(course, case.courses):
        return
    warm = steps[0].index + _warmup(steps, peak)
    gone = [each for each in steps if max(each.rates) < case.limit("gone") * peak]
    gone = [each for each in gone if each.index > warm]
    found, proof = None, Proof.TRIED
    if len(gone) >= case.limit("part") * len(steps):
        if progress.gain < case.limit("learned"):
            found = _left_to_learn(case, course)
        much = progress.gain >= case.limit("finished")
        if found is None and not much and len(gone) >= case.limit("most") * len(steps):
            found = _stopped_on_the_way(case, course, gone)
        found = found or _in_a_rehearsal(case, course, undone=0.0)
        if found is None and len(gone) >= case.limit("most") * len(steps):
            found, proof = _before_anything(case, course), Proof.INFERRED
        nothing = [each for each in gone if max(each.rates) < case.limit("vanished") * peak]
        if found is None and len(nothing) >= case.limit("most") * len(steps):
            found, proof = (
                f"from step {nothing[0].index} on no update changes a digit",
                Proof.RECORDED,
            )
    elif statistics.fmean(max(each.rates) for each in steps) < case.limit("little") * peak:
        gone = [each for each in steps[warm:] if max(each.rates) < case.limit("little") * peak]
        found = _in_a_rehearsal(case, course, case.limit("undone")) if gone else None
    if found is None and _stepped_each_batch(course) is not None:
        slow = [each for each in steps[warm:] if max(each.rates) < case.limit("little") * peak]
        enough = len(slow) >= case.limit("part") * len(steps)
        if enough and unlearned(case, course, case.limit("half")):
            gone, proof = slow, Proof.INFERRED
            found = f"the run had learned little by then: it ends at {progress.end:.4g}"
    if found is not None:
        yield _gone(course, gone, peak, found, proof)


def _in_a_rehearsal(case: Case, course: Course, undone: float) -> str | None:
    """What a few updates at the highest rate come to, from the first state."""
    stage = stage_of(case, course)
    found = None if stage is None else stage.rehearse()
    if stage is None or found is None or not stage.proves(found, undone, case.limit("lower")):
        return None
    return stage.told(found, f"with lr={rate_of(course):g} all the time")


def _before_anything(case: Case, course: Course) -> str | None:
    """A run that is no better than a guess; what it takes to learn more may be many steps."""
    if not unlearned(case, course, case.limit("guess")):
        return None
    return (
        f"the loss ends at {case.progress(course).end:.4g}, no better than a guess: the rate went "
        "before anything was learned"
    )


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
    if statistics.stdev(losses) > case.limit("spread") * abs(statistics.fmean(losses)):
        return None
    peak, rate, short = rate_of(course), max(gone[-1].rates), case.limit("short")
    control = _in_turns(case, course, rate / peak)
    factor, further = _gain_at_some_rate(case, course)
    if (
        further < case.limit("other")
        or not control
        or max(map(abs, control)) > case.limit("standing") * further
    ):
        return None
    return (
        f"not one bit of the parameters changed between steps {earlier.step} and {last.step}; "
        f"{short:.0f} steps from there on each batch that was kept but one, at "
        f"lr={factor * peak:g}, lower that one by {further:.0%} (mean of {len(control)}, "
        f"all of them fall); at lr={rate:.3g} by {max(control):.1%}"
    )


def _gain_at_some_rate(case: Case, course: Course) -> tuple[float, float]:
    """The part of the highest rate at which batches that are left out gain most, and how much.

    Each of them has to gain, there and at smaller rates too: what is common to all batches shows
    in short steps first, and what falls in long ones only has fallen by luck.
    """
    best = 0.0, 0.0
    slow, slower = case.limit("slow"), case.limit("slower")
    for factor in (slow * slower, slow, slower, 1.0):
        drops = _in_turns(case, course, factor)
        if not drops or min(drops) <= 0:
            break
        further = statistics.fmean(drops)
        if min(drops) >= case.limit("each") * case.limit("other") and further > best[1]:
            best = factor, further
    return best


def _same_values(one: Snapshot, other: Snapshot) -> bool:
    """Whether two steps began with the very same parameters."""
    array = one.engine.array
    return one.values.keys() == other.values.keys() and all(
        np.array_equal(array(value), array(other.values[name]))
        for name, value in one.values.items()
    )


def _latest(case: Case, course: Course) -> tuple[Mapping[int, Any], list[Trial]]:
    """The latest parameters, and experiments on the known batches."""
    kept = course.last, course.earlier, course.first
    trials = [case.trial(course, each) for each in kept] if course.last is not None else []
    values = {} if course.last is None else course.last.values
    return values, [each for each in trials if each is not None]


def _in_turns(case: Case, course: Course, factor: float) -> list[float]:
    """By how much each of the known batches falls when the others are trained on, in turn."""
    now, known = _latest(case, course)
    drops = []
    for left_out in known:
        values = now
        for trained in known:
            if trained is not left_out:
                descent = trained.descend(factor, steps=int(case.limit("short")), start=values)
                if descent is None:
                    return []
                values = descent.values
        drops.append(drop(left_out.loss(now), left_out.loss(values)))
    return drops if len(known) > 1 else []


def _tried_on_other_batches(case: Case, course: Course) -> tuple[Descent, float] | None:
    """A descent from the last state at the highest rate; what such ones do for other batches."""
    now, known = _latest(case, course)
    descents = [each.descend(steps=int(case.limit("short")), start=now) for each in known]
    drops = [
        drop(other.loss(now), other.loss(descent.values))
        for trained, descent in zip(known, descents)
        for other in known
        if other is not trained and descent is not None
    ]
    if not drops or descents[0] is None:
        return None
    return descents[0], statistics.fmean(drops)


def _stepped_each_batch(course: Course) -> Where | None:
    """Where a schedule whose numbers are usually epochs is stepped beside the updates."""
    schedulers = course.optimizer.schedulers
    made, update = line_of_schedule(course), course.steps[-1].where
    if not schedulers or schedulers[-1][0] not in _OF_EPOCHS or made is None or update is None:
        return None
    return stepped_with(update, made)


def _gone(course: Course, gone: list[Update], peak: float, shown: str, proof: Proof) -> Finding:
    schedulers = course.optimizer.schedulers
    low = max(gone[0].rates)
    name = schedulers[-1][0] if schedulers else "the schedule"
    made, stepped = line_of_schedule(course), _stepped_each_batch(course)
    return loss_plateau.finding(
        f"{name} brought lr from {peak:g} to {low:.3g} by step {gone[0].index} "
        f"and to {max(gone[-1].rates):.3g} at the end",
        f"{len(gone)} of {len(course.steps)} steps ran at {low / peak:.1g} of that rate or less",
        shown,
        where=stepped or made,
        step=gone[0].index,
        proof=proof,
        places=[("made here", made)] if stepped is not None else [],
        fix=f"Call the scheduler's step() once an epoch instead of every batch, or let {name} "
        "decay more slowly: a tenth of the rate belongs to the end of the run.",
    )
