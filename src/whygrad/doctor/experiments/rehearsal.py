"""A short training from the first state, beside the whole run: the judge of levels.

A rate a hundred times too high, a warm-up that never ends, a decay of 100: the loss falls all the
same, and no statistic of such a run is wrong by itself.  So the course is trained anew from its
first state, on the batches that were kept, with one thing changed, and compared on batches that
this training has not seen.  The run had all its steps and all its data; a rehearsal that gets
lower with a few updates on a few batches has shown what stood in the way.

The control is the same rehearsal with nothing changed: what that reaches as well was not owed to
the change.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.evidence.progress import is_entangled
from whygrad.doctor.evidence.provenance import has_moving_targets
from whygrad.doctor.evidence.standing import batches_of
from whygrad.doctor.experiments.repairs import without_dropout
from whygrad.ops.families import BINARY_LOSSES, CLASS_LOSSES
from whygrad.recording.record import Course, Snapshot
from whygrad.recording.replay.budget import Budget
from whygrad.recording.replay.runner import is_same_loss
from whygrad.recording.replay.trainer import Descent, drop, is_below, train

__all__ = [
    "OUTDONE", "REHEARSED", "STEADY", "Rehearsal", "Stage", "Values", "chance_of", "outdone",
    "rehearsed", "stage_of",
]  # fmt: skip

STEADY = 0.5, "of the highest rate, in the middle of the steps: no schedule's doing"

# Thresholds of rules that go by a rehearsal.
REHEARSED = {
    "well": (0.9, "of the loss that fell: on a run that learned so much nothing is spent"),
    "undone": (0.3, "of what a rehearsal learns, that the run with all its steps did not"),
    "lower": (0.8, "of the loss of the run, for the rehearsal: not a matter of luck"),
}

# The same of rules that look at runs that learned most of it.
OUTDONE = {
    "far below": (0.5, "of where the whole run ended, for a rehearsal of a part of its length"),
    "times as long": (3, "as a rehearsal, for the run that it outdoes"),
    "begun": (0.1, "of where a rehearsal begins, for the end of a run that knows one batch only"),
}

_STEPS = 80  # updates of a rehearsal, where the run had as many and they can be paid for
_LEAST = 20  # fewer show nothing
_LONG = 240  # of one that is as long as the run, where that costs little
_SHARE = 6  # rehearsals that the budget should allow …
_FEW = 3  # … or so many of the shortest, with the control: for the question that is asked first
_HELD_OUT = 3  # of so many batches one is held out
_SAME = 1e-6  # of a loss by which those of the same batch may differ

Values = Mapping[int, Any]


@dataclass(frozen=True)
class Rehearsal:
    """What one short training came to."""

    descent: Descent
    held_out: float  # the mean loss of batches it has not seen, at its end

    @property
    def updates(self) -> int:
        return len(self.descent.losses) - 1


@dataclass(eq=False)
class Stage:
    """All rehearsals of one course: the same beginning, the same batches."""

    course: Course
    budget: Budget
    trained: list[Snapshot]
    held_out: list[Snapshot]
    steps: int
    clip: float | None
    curve: float  # where the losses of the run ended
    base: float = math.nan  # a loss above this is none that was learned
    _known: dict[str, Rehearsal | None] = field(default_factory=dict)
    _levels: dict[int, float] = field(default_factory=dict)

    def rehearse(
        self,
        factor: float = 1.0,
        *,
        free: bool = False,
        start: Values | None = None,
        **options: Any,
    ) -> Rehearsal | None:
        """Train with a changed rate, ``free`` of clipping, other first values or options.

        The rate is the largest that the run had, times ``factor``.
        """
        key = repr((factor, free, id(start), sorted(options.items())))
        if key not in self._known:
            self._known[key] = self._tried(
                factor=factor, clip=None if free else self.clip, start=start, options=options
            )
        return self._known[key]

    def as_it_was(self) -> Rehearsal | None:
        """The control: the rates, the clipping and the first values of the run."""
        if "control" not in self._known:
            self._known["control"] = self._tried(scheduled=True, clip=self.clip)
        return self._known["control"]

    @property
    def begun(self) -> float:
        """The loss of the batches that are held out, with the first values."""
        assert self.course.first is not None
        return self._level(self.course.first.values)

    @property
    def reached(self) -> float:
        """The same at the end of the run."""
        assert self.course.last is not None
        return self._level(self.course.last.values)

    def gain(self, found: Rehearsal | None) -> float:
        """What the run left undone, as a part of what the rehearsal did.

        0 for one that is no better than the run, or than the control; 1 if the run learned nothing.
        """
        if found is None or self.as_it_was() is None or not math.isfinite(found.held_out):
            return 0.0
        done = self.base - found.held_out
        if not done > 0:
            return 0.0
        return max(0.0, (min(self.level, self.base) - found.held_out) / done)

    @property
    def level(self) -> float:
        """What is to be beaten: the run, by its curve and on the batches held out; the control."""
        control = self.as_it_was()
        levels = [self.reached, self.curve, math.inf if control is None else control.held_out]
        return min((each for each in levels if math.isfinite(each)), default=math.inf)

    def proves(self, found: Rehearsal | None, undone: float, lower: float) -> bool:
        """Whether the run left so much undone, and stayed so far above what was reached."""
        if found is None or self.gain(found) < undone:
            return False
        return is_below(found.held_out, lower, self.level)

    def told(self, found: Rehearsal, change: str) -> str:
        """The comparison in words."""
        control = self.as_it_was()
        assert control is not None
        return (
            f"{found.updates} updates from the first state, on {len(self.trained)} of the kept "
            f"batches, {change}: loss {found.held_out:.4g} on {self._others}; as it was "
            f"{control.held_out:.4g}; the run itself ended there at {self.reached:.4g} after "
            f"{len(self.course.steps)} updates"
        )

    @property
    def _others(self) -> str:
        return "the same batch" if self.trained is self.held_out else "batches left out of them"

    def lengthened(self) -> Stage | None:
        """Rehearsals as long as the run itself; None where they are that, or cost too much."""
        steps = min(_LONG, len(self.course.steps))
        if steps <= self.steps or not self.budget.allows(self.trained[0], _SHARE * steps):
            return None
        return replace(self, steps=steps, _known={})

    def _tried(self, **how: Any) -> Rehearsal | None:
        descent = train(self.budget, self.course, self.trained, steps=self.steps, **how)
        if descent is None:
            return None
        if descent.diverges or not math.isfinite(descent.losses[-1]):
            return Rehearsal(descent, math.inf)
        return Rehearsal(descent, self._level(descent.values))

    def _level(self, values: Values) -> float:
        """The mean loss of the batches that are held out."""
        key = id(values)
        if key not in self._levels:
            losses = [
                self.budget.replay(each, values=values, backward=False).loss
                for each in self.held_out
            ]
            self._levels[key] = statistics.fmean(losses)
        return self._levels[key]


def rehearsed(
    case: Case, course: Course, *, long: bool = False, **change: Any
) -> tuple[Stage, Rehearsal] | None:
    """A rehearsal that proves the change right, by the thresholds of the rule that asks.

    A ``long`` one, with its control, shows what comes late.
    """
    if _learned(case, course) >= case.limit("well"):
        return None
    stage = stage_of(case, course)
    if long and stage is not None:
        stage = case.once(("long stage", id(course)), stage.lengthened)
    found = None if stage is None else stage.rehearse(**change)
    if stage is None or found is None:
        return None
    proved = stage.proves(found, case.limit("undone"), case.limit("lower"))
    return (stage, found) if proved else None


def outdone(case: Case, course: Course, **change: Any) -> tuple[Stage, Rehearsal] | None:
    """A rehearsal that comes far below the end of the run, in a part of its updates.

    However much the run learned: it had more steps and more data.
    """
    stage = stage_of(case, course)
    if stage is None or len(course.steps) < case.limit("times as long") * stage.steps:
        return None
    found = stage.rehearse(**change)
    if found is None or stage.as_it_was() is None:
        return None
    # A batch that is known by heart may be known a little better in any way.
    by_heart = stage.trained is stage.held_out
    if by_heart and stage.level <= case.limit("begun") * found.descent.start:
        return None
    return (
        (stage, found) if is_below(found.held_out, case.limit("far below"), stage.level) else None
    )


def _learned(case: Case, course: Course) -> float:
    """By which part the loss fell; from what ignoring the input costs, if it began above that."""
    progress, chance = case.progress(course), chance_of(case, course)
    if chance is None or chance >= progress.start:
        return progress.gain
    return drop(chance, progress.end)


def chance_of(case: Case, course: Course) -> float | None:
    """What ignoring the input costs; None if the loss is more than the term of which that is known.

    Of one with a factor, of a sum, or beside other terms it is another number.
    """
    reading = case.reading(course.first)
    call = None if reading is None else reading.loss_call
    if reading is None or call is None or call.op not in CLASS_LOSSES | BINARY_LOSSES:
        return case.chance(course.first)
    own = float(np.mean(reading.trace.array(call.outputs[0])))
    return case.chance(course.first) if is_same_loss(own, reading.trace.loss) else None


def stage_of(case: Case, course: Course) -> Stage | None:
    """None where steps do not replay, targets move with a model, or it would cost too much."""
    return case.once(("stage", id(course)), lambda: _set_up(case, course))


def _set_up(case: Case, course: Course) -> Stage | None:
    if course.first is None or course.last is None or course.last is course.first:
        return None
    if case.progress(course).broken or is_entangled(course, case.courses):
        return None
    if any(has_moving_targets(each) for each in batches_of(case, course)):
        return None
    kept = [course.first, *course.others, course.earlier, course.last]
    kept = list({id(each): each for each in kept if each is not None}.values())
    trials = [case.trial(course, each) for each in kept]
    batches = [without_dropout(each.snapshot) for each in trials if each is not None]
    if len(batches) < _HELD_OUT or trials[0] is None:
        return None
    same = _all_the_same(case, course, batches)
    held_out = batches[_HELD_OUT - 1 :: _HELD_OUT]
    trained = [each for each in batches if not any(each is other for other in held_out)]
    if same:  # to know it by heart is the task
        trained = held_out = batches[:1]
    steps = _affordable(case.budget, trained[0], min(_STEPS, len(course.steps)))
    if steps < min(_LEAST, len(course.steps)):
        return None
    stage = Stage(
        course, case.budget, trained, held_out, steps, _clip(course), case.progress(course).end
    )
    chance = chance_of(case, course)
    stage.base = stage.begun if chance is None else min(stage.begun, chance)
    return stage


def _all_the_same(case: Case, course: Course, batches: list[Snapshot]) -> bool:
    """Whether every step has the same batch: with the same values, they have the same loss.

    With those of the end, too: what is zero all over costs the same on many batches.
    """
    assert course.first is not None
    assert course.last is not None
    for values in (course.first.values, course.last.values):
        losses = [case.budget.replay(each, values=values, backward=False).loss for each in batches]
        if np.ptp(losses) > _SAME * abs(losses[0]):
            return False
    return True


def _affordable(budget: Budget, snapshot: Snapshot, most: int) -> int:
    """As many updates as several rehearsals can be paid for."""
    steps = most
    while steps >= _LEAST and not budget.allows(snapshot, _SHARE * steps):
        steps = steps * 3 // 4
    few = steps < _LEAST <= most and budget.allows(snapshot, _FEW * _LEAST)
    return _LEAST if few else steps


def _clip(course: Course) -> float | None:
    """The limit of the norm that most updates were given."""
    limits = [clip.limit for step in course.steps for clip in step.clips if clip.kind == "norm"]
    return statistics.median(limits) if 2 * len(limits) > len(course.steps) else None
