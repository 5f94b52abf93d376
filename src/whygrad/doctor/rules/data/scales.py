"""Numbers of the wrong size: inputs and targets that were never brought to a scale of about one.

A scale alone is no fault: plenty of models learn from pixels up to 255.  So both rules look for the
harm first (the run ended no better than an answer that ignores the input) and then for the proof:
the same model with the same optimizer, trained anew on a batch of the run, learns when that batch
is standardised and does not when it is left as it was.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.evidence.curve import ending, thirds
from whygrad.doctor.evidence.meetings import Meeting, first_layers, target_of
from whygrad.doctor.evidence.progress import is_entangled
from whygrad.doctor.evidence.provenance import chosen_draws, given_inputs
from whygrad.doctor.experiments.control import control_step
from whygrad.doctor.rules.rule import Finding, Proof, rule
from whygrad.ops.families import DIFFERENCES, MSE_LOSS, SCALINGS
from whygrad.recording.record import Course, Snapshot
from whygrad.recording.replay import Trace
from whygrad.recording.replay.reading import Reading
from whygrad.recording.replay.trainer import Instead
from whygrad.recording.replay.trial import Trial
from whygrad.source import Where

__all__ = ["unscaled_input", "unscaled_target"]


# Both rules look at the run and train anew in the same way.
_COMMON = {
    "unlearned": (0.7, "of what ignoring the input costs: above it little was learned"),
    "learned": (0.6, "of the same, that must be reached with the scale put right"),
    "steps": (60, "of an experiment …"),
    "longer": (4, "… or so many times that, where it is learning by then"),
    "still": (0.95, "of its first loss: it is learning"),
    "slower": (0.85, "of what ignoring the input costs: as it was, it does not learn"),
    "losses": (8, "updates: fewer do not show whether it learns"),
    "most": (0.5, "of the features are flat"),
    "constant": (1e-6, "of its mean that a feature varies by: rounding, nothing to divide by"),
    "distance": (0.8, "of a standard normal number from its mean"),
}


def _off_scale(case: Case, trace: Trace, of: str = "") -> list[Meeting]:
    """The first layers whose input is off scale, by the limits of the rule ``of`` inputs."""
    large, tiny, flat = (case.limit(name + of) for name in ("large", "tiny", "flat"))
    return [
        each
        for each in first_layers(trace)
        if each.size > large or each.is_tiny(tiny) or each.is_flat(flat, case.limit("most"))
    ]


def _all_instead(case: Case, trace: Trace, layers: list[Meeting]) -> Instead:
    """The calls of these layers with standardised data."""
    changed: dict[int, Any] = {}
    for each in layers:
        changed |= each.instead(trace, case.limit("constant"))
    return changed


@dataclass(eq=False)
class _Outcome:
    """A run that did not learn, as far as a batch of it tells."""

    course: Course
    snapshot: Snapshot
    reading: Reading
    chance: float
    final: float  # NaN if the loss ended as something else than a number

    @property
    def told(self) -> str:
        if not math.isfinite(self.final):
            return "the loss stopped being a number"
        return (
            f"the loss ended at {self.final:.4g}; an answer that ignores the input "
            f"costs {self.chance:.4g}"
        )


def _outcome(case: Case, course: Course, unlearned: float) -> _Outcome | None:
    """How a course ended, if that is no better than an answer that ignores the input."""
    snapshot, final = course.last or course.first, ending(course.losses)
    reading, level = case.reading(snapshot), case.chance(snapshot)
    if snapshot is None or reading is None or not reading.trace.reproduced:
        return None
    if len(course.losses) < case.limit("losses") or level is None or not level > 0:
        return None
    return None if final <= unlearned * level else _Outcome(course, snapshot, reading, level, final)


def _compare(
    outcome: _Outcome, both: Instead, changed: Instead, level: float, case: Case
) -> tuple[float, float, int] | None:
    """Where training anew ends as it was and with the change, if only the change makes it learn.

    Both as a fraction of what ignoring the input costs.
    """
    course = outcome.course
    trial = case.trial(course, outcome.snapshot)
    if trial is None:
        return None
    changed = {**both, **changed}
    steps = int(min(case.limit("steps"), len(course.steps)))
    longer = min(int(case.limit("longer")) * steps, len(course.steps))
    better = _trained_anew(trial, steps, changed)
    still = case.limit("still")
    learns = better and case.limit("learned") * level < better[-1] < still * better[0]
    if learns and longer > steps and case.budget.allows(trial.snapshot, 2 * longer):
        steps = longer  # the run had the time for more
        better = _trained_anew(trial, steps, changed)
    if not better or not better[-1] <= case.limit("learned") * level:
        return None
    worse = _trained_anew(trial, steps, both)
    if not worse:
        return None
    before = _relative(worse[-1], level if both else outcome.chance)
    after = _relative(better[-1], level)
    # Not at all against somewhat, or at half the pace at best.
    return (before, after, steps) if not before < min(case.limit("slower"), 2 * after) else None


def _trained_anew(trial: Trial, steps: int, instead: Instead) -> list[float]:
    """The losses of training from the first weights, at the rates of the run, on one batch alone.

    Empty if that cannot be done.
    """
    first = trial.course.first
    start = None if first is None else first.values
    found = trial.train(steps=steps, scheduled=True, start=start, batch=lambda: instead)
    return [] if found is None else found.losses


def _relative(loss: float, level: float) -> float:
    return loss / level if math.isfinite(loss) else math.inf


def _said(value: float) -> str:
    return f"{value:.2g} times that" if math.isfinite(value) else "no number at all"


@rule(
    every_course=True,
    thresholds={
        **_COMMON,
        "large": (5.0, "root mean square: first weights are made for about 1"),
        "tiny": (0.05, "largest value: below it the input is next to nothing"),
        "flat": (0.02, "of its mean that a feature varies by: it is a constant to the layer"),
        "solved": (0.1, "of what ignoring the input costs: below it there is nothing to explain"),
        "rest": (0.95, "of the loss a third earlier: the run had come to a rest"),
        "gap": (5, "times lower than without scaling, where the run did learn something"),
        "lower": (0.2, "of the loss of the run, in that case"),
        "control": (3, "times higher where straight lines are all there is: not by heart"),
        "large target": (10.0, "root mean square: then both arms get it standardised"),
        "dark": (200, "largest value of pictures with 8 bits, at least …"),
        "white": (255, "… and at most"),
    },
    cleared=lambda case: _input_scale(case),
)
def unscaled_input(case: Case, course: Course) -> Iterator[Finding]:
    """The inputs are not scaled.

    The numbers that reach the first layer are far from the size its weights were made for, or
    lie far from zero. The loss is then steep along a few directions and flat along the others:
    no learning rate suits both. Steps overshoot, or units saturate or die, and little is
    learned.

    Measured: The run ended no better than an answer that ignores the input, or came to a rest
    far from what can be reached. The same model, trained anew with the same optimizer on one
    batch of the run, learns once that batch is standardised, feature by feature, and does not
    as it was.
    Fix: Standardise the features with the mean and standard deviation of the training set.
    Guardrail: assert x.abs().mean() < 5, f'inputs are not scaled: {x.mean()=}, {x.std()=}'
    """
    outcome = _outcome(case, course, case.limit("solved"))
    if outcome is None:
        return
    trace, start = outcome.reading.trace, case.trace(outcome.course.first)
    layers = _off_scale(case, trace)
    # In one batch and not in another it is the batch that is wrong.
    if not layers or start is None or not _off_scale(case, start):
        return
    changed = _all_instead(case, trace, layers)
    both, level = _with_scaled_target(case, outcome)
    found = _compare(outcome, both, changed, level, case)
    if found is None:
        return
    before, after, steps = found
    poor = not outcome.final <= case.limit("unlearned") * outcome.chance
    if not poor and (both or not _finds_more(case, outcome, changed, found)):
        return
    first = layers[0]
    (low, high), flat = first.ends, first.is_flat(case.limit("flat"), case.limit("most"))
    models = outcome.reading.models
    yield unscaled_input.finding(
        f"the first layer gets values from {low:.4g} to {high:.4g}, {first.size:.3g} in size",
        f"a typical feature varies by {np.median(first.features()[1]):.2g} from sample to "
        "sample: was the mean taken over the features in place of the samples?"
        if flat
        else None,
        outcome.told,
        f"{steps} steps on one batch, standardised: the loss falls to {after:.2g} of what "
        f"ignoring the input costs; as it was: {_said(before)}",
        where=(_computed_at(outcome) if flat else None)
        or (models[0].where if models else first.call.where),
        proof=Proof.TRIED,
        fix=_scaling_fix(case, first),
        places=[("first weights", first.call.where)],
    )


def _computed_at(outcome: _Outcome) -> Where | None:
    """The line that computed the data that batches are cut from."""
    trace, log = outcome.reading.trace, outcome.snapshot.log
    for source, _ in given_inputs(outcome.reading):
        made = trace.made_by(source)
        while made is not None and made.sources and made.sources[0] is not None:
            made = trace.made_by(made.sources[0])
        kept = None if made is None or not made.call.args else made.call.args[0]
        origin = None if log is None or kept is None else log.origin(kept)
        if origin is not None:
            return origin.where
    return None


def _finds_more(
    case: Case, outcome: _Outcome, changed: Instead, found: tuple[float, float, int]
) -> bool:
    """Whether scaled data lead far below where the run had come to a rest, and not by heart."""
    before, after, steps = found
    course, end = outcome.course, after * outcome.chance
    parts = thirds(course.losses)
    rests = parts is not None and parts[2] > case.limit("rest") * parts[1]
    far = before >= case.limit("gap") * after and end <= case.limit("lower") * outcome.final
    if not far or not rests:
        return False
    control = control_step(outcome.reading, outcome.snapshot.values, outcome.snapshot)
    if control is None:
        return False
    losses = _trained_anew(Trial(course, control, case.budget), steps, changed)
    return bool(losses) and losses[-1] > case.limit("control") * end


def _scaling_fix(case: Case, layer: Meeting) -> str:
    low, high = layer.ends
    if low >= 0 and case.limit("dark") < high <= case.limit("white"):
        return "These look like pixels from 0 to 255: x = x / 255, or better (x - mean) / std."
    dims = "0" if layer.values.ndim == 2 and layer.axis == 1 else "all but the features"
    return (
        f"mean, std = x_train.mean({dims}), x_train.std({dims})\n"
        "x = (x - mean) / std\n"
        "with the numbers of the training set for validation and test as well; "
        "or put nn.BatchNorm1d in front of the first layer."
    )


def _with_scaled_target(case: Case, outcome: _Outcome) -> tuple[Instead, float]:
    """If the target is off scale too, both arms of the experiment get it standardised."""
    target = target_of(outcome.reading)
    if target is None or target.size <= case.limit("large target"):
        return {}, outcome.chance
    return _all_instead(case, outcome.reading.trace, [target]), _standard_level(
        case, outcome, target
    )


def _standard_level(case: Case, outcome: _Outcome, target: Meeting) -> float:
    """What ignoring the input costs when the target is standardised."""
    spread = float(np.mean(np.square(target.values - target.values.mean(axis=0))))
    squared = outcome.chance / spread if spread else 1.0
    return squared if target.call.op in MSE_LOSS | DIFFERENCES else case.limit("distance")


def _input_scale(case: Case) -> str | None:
    trace = case.trace(case.first)
    ends = [] if trace is None else [each.ends for each in first_layers(trace)]
    if trace is None or not ends or _off_scale(case, trace):
        return None
    low, high = min(low for low, _ in ends), max(high for _, high in ends)
    return f"the first layer gets values from {low:.3g} to {high:.3g}"


@rule(
    every_course=True,
    thresholds={
        **_COMMON,
        "large": (10.0, "root mean square over that of the first outputs"),
        "tiny": (0.01, "largest value: below it every output is as good"),
        "large input": (5.0, "root mean square: then both arms get it standardised"),
        "tiny input": (0.05, "largest value: the same"),
        "flat input": (0.02, "of its mean that a feature varies by: the same"),
    },
    cleared=lambda case: _target_scale(case),
)
def unscaled_target(case: Case, course: Course) -> Iterator[Finding]:
    """The targets are not scaled.

    The model starts with outputs around zero and must reach numbers that are far away. With
    steps of a sensible size it does not get there, and squared errors of that size make
    gradients that throw the weights about. Little or nothing is learned about the inputs.

    Measured: The run ended no better than always answering the mean target. The same model,
    trained anew with the same optimizer on one batch of the run, learns once the target is
    standardised and does not as it was.
    Fix: Train on (y - mean) / std and turn predictions back with prediction * std + mean.
    Guardrail: assert y.abs().mean() < 10, f'targets are not scaled: {y.mean()=}, {y.std()=}'
    """
    outcome = _outcome(case, course, case.limit("unlearned"))
    if outcome is None:
        return
    target, start = target_of(outcome.reading), case.reading(outcome.course.first)
    if target is None or start is None or start.prediction is None or _has_policy(start):
        return
    if is_entangled(outcome.course, case.courses) or _beside_a_policy(case, outcome.course):
        return
    begun = start.trace.array(start.prediction)
    large = case.limit("large") * max(1.0, float(np.sqrt(np.mean(begun**2))))
    if target.size <= large and not target.is_tiny(case.limit("tiny")):
        return
    trace = outcome.reading.trace
    both = _all_instead(case, trace, _off_scale(case, trace, " input"))
    level = _standard_level(case, outcome, target)
    found = _compare(outcome, both, _all_instead(case, trace, [target]), level, case)
    if found is None:
        return
    before, after, steps = found
    low, high = target.ends
    mean, std = float(target.values.mean()), float(target.values.std())
    yield unscaled_target.finding(
        f"targets lie between {low:.4g} and {high:.4g}; the model starts with outputs "
        f"between {float(begun.min()):.3g} and {float(begun.max()):.3g}",
        outcome.told,
        f"{steps} steps on one batch with standardised targets: the loss falls to "
        f"{after:.2g} of what answering the mean costs; as it was: {_said(before)}",
        where=target.call.where,
        proof=Proof.TRIED,
        fix=(
            f"y = (y - {mean:.4g}) / {std:.4g}  # mean and std of the training targets\n"
            f"and at the end: prediction * {std:.4g} + {mean:.4g}"
        ),
    )


def _beside_a_policy(case: Case, course: Course) -> bool:
    """Whether another course learns from what was drawn: the targets of a critic follow from it."""
    others = [each for each in case.courses if each is not course]
    traces = [case.trace(one) for each in others for one in (each.first, each.last)]
    return any(chosen_draws(each) for each in traces if each is not None)


def _has_policy(reading: Reading) -> bool:
    """Whether something else that the model says is weighed by what the program knows.

    An actor beside a critic: what the critic is asked for changes with what the actor does, and how
    far it gets is no measure of the whole.
    """
    trace, main = reading.trace, reading.meeting
    if main is None:
        return False
    behind = trace.ancestors(main)
    others = [each.call for each in reading.terms if each.call.op in SCALINGS]
    return any(
        each.number not in behind and main.number not in trace.ancestors(each) for each in others
    )


def _target_scale(case: Case) -> str | None:
    reading = case.reading(case.first)
    target = None if reading is None else target_of(reading)
    if target is None or target.size > case.limit("large") or target.is_tiny(case.limit("tiny")):
        return None
    low, high = target.ends
    return f"targets lie between {low:.3g} and {high:.3g}"
