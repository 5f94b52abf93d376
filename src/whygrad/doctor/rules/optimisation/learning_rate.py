"""Updates that are too long for the loss.

Decided by an experiment: the same steps from the same state on the same batch, with the gradients
cleared, at a smaller rate.  A run that learns is left alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.evidence.curve import tenths, thirds
from whygrad.doctor.evidence.growth import runaway
from whygrad.doctor.evidence.progress import is_difference, is_steady
from whygrad.doctor.evidence.provenance import has_moving_targets
from whygrad.doctor.evidence.standing import batches_of
from whygrad.doctor.experiments.rehearsal import REHEARSED, STEADY, rehearsed
from whygrad.doctor.experiments.repairs import unlearned
from whygrad.doctor.experiments.sound_loss import after_fixes, sound_trial
from whygrad.doctor.rules.optimisation.oscillation import MOMENTUM, heavy_momentum
from whygrad.doctor.rules.rule import Finding, Proof, rule
from whygrad.recording.record import Course, Snapshot
from whygrad.recording.replay.optimizers import rate_of
from whygrad.recording.replay.trainer import Descent
from whygrad.recording.replay.trial import Trial
from whygrad.source import Where

__all__ = ["lr_too_high"]


def _line(case: Case, course: Course) -> Where | None:
    """Where the rate was chosen: the scheduler, if that is what raised it."""
    optimizer = course.optimizer
    chosen = optimizer.options.get("lr")
    if (
        optimizer.schedulers
        and isinstance(chosen, float)
        and rate_of(course) > case.limit("raised") * chosen
    ):
        return optimizer.schedulers[-1][1]
    return optimizer.made_at or course.steps[0].where


def _overflowed(case: Case, course: Course) -> bool:
    """Whether values had become huge when the run broke: no invalid operation did it."""
    trace = case.trace(course.bad)
    if trace is None:
        return False
    ranges = [each for call in trace.calls for each in (*call.before, *call.after)]
    sizes = [each.largest for each in ranges if each.size and math.isfinite(each.largest)]
    losses = [abs(each) for each in course.losses if math.isfinite(each)]
    least = case.limit("least loss")
    grown = len(losses) > 1 and losses[-1] > case.limit("grown") * max(losses[0], least)
    lost = any(each.nans + each.infs == each.size for each in ranges if each.size)
    return max(sizes, default=0.0) > case.limit("huge") or grown or (lost and not sizes)


def _starts(case: Case, course: Course) -> Iterator[Snapshot]:
    """States to experiment from: the first, and the latest if things were still well there."""
    first, last = course.first, course.last
    if first is None or not math.isfinite(first.value):
        return
    yield first
    if last is not None and last is not first and last.value <= first.value + abs(first.value):
        yield last


@rule(
    every_course=True,
    thresholds={
        **MOMENTUM,
        **REHEARSED,
        "steady": STEADY,
        "falling": (0.05, "of the loss in the last third of the run: it is under way"),
        "learned": (0.2, "of the loss: a run that falls by more is left alone"),
        "progress": (0.02, "of the loss that must fall at a smaller rate"),
        "worse": (0.1, "by which that may stay behind what the own rate reaches"),
        "tenths": (3, "times that the rate is divided by ten"),
        "guess": (0.95, "of what ignoring the input costs: a run that ends above has no answer"),
        "by heart": (0.5, "of that cost, for one batch at a smaller rate: it can be learned"),
        "updates": (60, "of the experiment with one batch"),
        "sound tenths": (4, "the same with a squared error, which has a scale of its own"),
        "runaway": (0.01, "of the rate: if it takes less, a sequence is to blame"),
        "raised": (1.5, "times the chosen rate: a schedule raised it"),
        "huge": (1e12, "value or larger: it grew, no invalid operation made it"),
        "grown": (1e6, "times the first loss: the same"),
        "least loss": (1e-6, "from which growth is counted"),
    },
    cleared=lambda case: _cleared_high(case),
)
def lr_too_high(case: Case, course: Course) -> Iterator[Finding]:
    """The learning rate is too high.

    Each update overshoots: it goes so far along the gradient that the loss is higher on the
    other side. The loss jumps, stays high or grows until it is no longer finite. The gradients
    themselves may be right; only the steps are too long.

    Measured: From the state of the first step the doctor trains a few steps on the same batch,
    with cleared gradients: at the program's rate, and at a tenth, a hundredth and a thousandth
    of it. The rate is too high if the first diverges or doubles the loss and a smaller one
    lowers it smoothly. If the program's loss is invalid itself, the experiment is made with a
    squared error in its place. Of a run whose loss fell and then stood, a short training from its
    first state at a smaller rate must get far below where the whole run ended, on batches that it
    has not seen. Of a run that is no better than a guess: at its rate not even one batch is
    learned, at a smaller one it is learned by heart.
    Fix: Lower the learning rate by a factor of ten until the loss falls from the first steps
    on.
    Guardrail: assert loss.item() < 2 * first_loss, f'step {step}: loss {loss.item()} is rising'
    """
    if is_difference(course.first) and not case.progress(course).broken:
        return  # what the samples that it scores would do at another rate is not known
    by_heart = list(_by_heart(case, course))
    if by_heart or not case.progress(course).suffers(case.limit("learned")):
        yield from by_heart or _in_a_rehearsal(case, course)
        return
    if not case.progress(course).broken and any(map(has_moving_targets, batches_of(case, course))):
        return  # a loss that grows with its targets
    if case.progress(course).broken and not _overflowed(case, course):
        yield from _with_sound_loss(case, course)
        return
    for start in _starts(case, course):
        trial = case.trial(course, start)
        own = None if trial is None else trial.descend()
        if trial is None or own is None or not own.is_unstable:
            continue
        if _momentum_is_to_blame(case, course, start):
            continue
        better = _smaller_that_works(case, trial, own)
        if better is not None and not (better[0] < case.limit("runaway") and runaway(case, course)):
            yield _too_high(case, course, start.step, trial, own, *better)
            return
    yield from _in_a_rehearsal(case, course)


def _by_heart(case: Case, course: Course) -> Iterator[Finding]:
    """A rate at which not even one batch is learned, where a smaller one learns it by heart."""
    if not unlearned(case, course, case.limit("guess")):
        return
    trial, chance = case.trial(course, course.first), case.chance(course.first)
    steps = int(case.limit("updates"))
    own = None if trial is None else trial.descend(steps=steps)
    if trial is None or own is None or chance is None or course.first is None:
        return
    if own.end < case.limit("guess") * chance:
        return
    for factor in tenths(case.limit("tenths")):
        good = trial.descend(factor, steps=steps)
        if good is not None and not good.is_unstable and good.end < case.limit("by heart") * chance:
            yield _too_high(case, course, course.first.step, trial, own, factor, good)
            return


def _in_a_rehearsal(case: Case, course: Course) -> Iterator[Finding]:
    """A rate at which the loss falls and then stays high, as it does when steps are clipped."""
    parts = thirds(course.losses)
    if parts is None or parts[2] < parts[1] - case.limit("falling") * abs(parts[1]):
        return
    if not is_steady(course, case.limit("steady")):
        return
    for factor in tenths(case.limit("tenths")):
        found = rehearsed(case, course, factor=factor)
        if found is not None:
            rate = rate_of(course)
            yield lr_too_high.finding(
                found[0].told(found[1], f"with lr={rate * factor:.2g} instead of {rate:g}"),
                where=_line(case, course),
                proof=Proof.TRIED,
                fix=f"lr={rate * factor:.2g} instead of {rate:g}: tried in a short training.",
                data={"rate": rate, "works": rate * factor},
            )
            return


def _momentum_is_to_blame(case: Case, course: Course, start: Snapshot) -> bool:
    """Whether the same rate is well with the usual momentum."""
    heavy = heavy_momentum(case, course)
    usual = None if heavy is None else case.descend(course, start, **heavy[1])
    return usual is not None and not usual.is_unstable


def _smaller_that_works(case: Case, trial: Trial, own: Descent) -> tuple[float, Descent] | None:
    least = max(case.limit("progress"), own.drop - case.limit("worse"))
    for factor in tenths(case.limit("tenths")):
        descent = trial.descend(factor)
        if descent is not None and descent.is_calm(least):
            return factor, descent
    return None


def _too_high(
    case: Case, course: Course, step: int, trial: Trial, own: Descent, factor: float, good: Descent
) -> Finding:
    rate = rate_of(course)
    smaller = rate * factor
    progress = case.progress(course)
    return lr_too_high.finding(
        f"with lr={rate:g} the loss of one batch goes {own}; with lr={smaller:g} it goes {good}",
        _limit_of_stability(course, trial, rate),
        f"the run began at {progress.opening:.4g} and stood at {progress.height:.4g}"
        if not progress.broken
        else None,
        where=_line(case, course),
        step=step,
        proof=Proof.TRIED,
        fix=f"lr={smaller:.2g} instead of {rate:g}: tried on this model and this batch, the loss "
        "falls smoothly.",
        data={"rate": rate, "works": smaller, "losses": own.losses, "losses_smaller": good.losses},
    )


def _limit_of_stability(course: Course, trial: Trial, rate: float) -> str | None:
    """For plain descent there is a number: two divided by the curvature, more with momentum."""
    sharpness = trial.sharpness() if course.optimizer.kind in ("SGD", "by hand") else None
    if sharpness is None or not (sharpness > 0 and math.isfinite(sharpness)):
        return None
    momentum = float(course.optimizer.options.get("momentum") or 0.0)
    most = 2 * (1 + momentum) / sharpness
    if rate <= most:
        return None
    return f"the curvature of the loss is {sharpness:.3g}: steps are stable up to lr ≈ {most:.2g}"


def _with_sound_loss(case: Case, course: Course) -> Iterator[Finding]:
    """The program's loss says nothing: what does the rate do to its model with a sound one?"""
    trial = sound_trial(case, course)
    own = None if trial is None else trial.descend()
    tenth, *smaller = tenths(case.limit("sound tenths"))
    barely = None if trial is None else trial.descend(tenth)
    # The squared error has a scale of its own, so the rate must be off by far to be blamed.
    if trial is None or own is None or barely is None or not (own.diverges and barely.is_unstable):
        return
    for factor in smaller:
        good = trial.descend(factor)
        if good is None or not good.is_calm(0.0):
            continue
        rate = rate_of(course)
        rest = after_fixes(trial, factor)
        after = rest and {
            "concern": rest.concern,
            "saturated": rest.saturated,
            "gradient_ratio": rest.ratio,
            "statement": str(rest),
        }
        yield lr_too_high.finding(
            "the program's loss is not finite, so the rate was tried with a squared error in its "
            f"place: with lr={rate:g} that goes {own}, with lr={rate * factor:g} {good}",
            _limit_of_stability(course, trial, rate),
            None if rest is None else str(rest),
            where=_line(case, course),  # gradients are cleared: it is the rate, from the start
            proof=Proof.TRIED,
            fix=f"Once the loss is right: lr={rate * factor:.2g} instead of {rate:g}.",
            data={"rate": rate, "works": rate * factor, "after_fixes": after},
        )
        return


def _cleared_high(case: Case) -> str | None:
    for course in case.courses:
        if not case.progress(course).suffers(case.limit("learned")):
            progress = case.progress(course)
            return f"the loss went from {progress.start:.4g} to {progress.end:.4g} at this rate"
        own = case.descend(course, course.first)
        if own is not None and not own.is_unstable and own.drop >= 0:
            return f"at lr={rate_of(course):g} the loss of the first batch goes {own}"
    return None
