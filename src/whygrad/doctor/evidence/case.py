"""The case: a run's record together with what can be found out from it on request.

Rules ask here.  Replays and readings of steps are made once and shared; nothing is computed that no
rule asks for.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Hashable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from whygrad.doctor.evidence.progress import Progress, progress_of
from whygrad.doctor.evidence.search import looks_for_a_rate, outdone
from whygrad.doctor.forensics import FirstBad, find_first_bad
from whygrad.doctor.mechanism import Mechanism, find_mechanism
from whygrad.errors import fail
from whygrad.ops.families import DRAWS
from whygrad.recording.record import Course, Incident, Parameter, Run, Snapshot
from whygrad.recording.replay import Trace
from whygrad.recording.replay.budget import MEMORY, SECOND, Budget
from whygrad.recording.replay.chance import chance
from whygrad.recording.replay.reading import Reading, read
from whygrad.recording.replay.trainer import Descent, Objective
from whygrad.recording.replay.trial import Trial
from whygrad.source import Where

if TYPE_CHECKING:
    from whygrad.doctor.rules.rule import Rule

__all__ = ["Case"]

_HOW_IT_GOES = ("model", "optimisation", "signals", "symptoms")  # tiers of rules
_WELL = 0.7  # of the loss of knowing nothing, at the end …
_ILL = 0.95  # … and where it is none that fell
_LATEST = 2  # replays whose values are kept, however large; more of them …
_HELD = 1 << 28  # … while they are no more than so many bytes
_LARGE = 1 << 26  # bytes of a replay: one of its kind is enough
_T = TypeVar("_T")


class Case:
    """One run under examination."""

    def __init__(self, run: Run, seconds: float | None = None, memory: float | None = None) -> None:
        """``seconds`` and ``memory`` (bytes) limit the replays, if they are given."""
        self.run = run
        self._seconds = seconds
        self._memory = MEMORY if memory is None else memory
        self._traces: dict[int, Trace] = {}  # the latest last
        self._readings: dict[int, Reading] = {}
        self._progress: dict[int, Progress] = {}
        self._trials: dict[tuple[int, int], Trial] = {}
        self._found: dict[Any, Any] = {}
        self.rule: Rule | None = None  # the one that is asking

    def limit(self, name: str) -> float:
        """A threshold of the rule that is asking."""
        assert self.rule is not None
        known = self.rule.thresholds
        if name not in known:
            raise fail(
                LookupError,
                call=f"case.limit({name!r}) in the rule {self.rule.id}",
                cause=f"it has no such threshold; it has {', '.join(known) or 'none'}",
                fix=f'name it with its reason: @rule(thresholds={{"{name}": (1.0, "why")}})',
            )
        return known[name]

    def once(self, key: Hashable, find: Callable[[], _T]) -> _T:
        """What ``find`` finds, looked for when the first rule asks for it."""
        if key not in self._found:
            self._found[key] = find()
        found: _T = self._found[key]
        return found

    def trace(self, snapshot: Snapshot | None) -> Trace | None:
        """The replay of a step with every value, forward and backward."""
        if snapshot is None:
            return None
        budget = self.budget  # made with the first steps of all courses
        trace = self._traces.pop(id(snapshot), None)
        if trace is None:
            self._let_go()
            trace = budget.replay(snapshot, look=True)
        self._traces[id(snapshot)] = trace
        return trace

    def _let_go(self) -> None:
        """Make room for another replay, which will be about as large as the latest."""
        sizes = [each.bytes for each in self._traces.values()]
        held = sum(sizes) + (sizes[-1] if sizes else 0)
        while held > min(_HELD, self._memory) and len(self._traces) >= _LATEST:
            oldest = next(iter(self._traces))
            held -= self._traces.pop(oldest).bytes
            self._readings.pop(oldest, None)

    def is_large(self, trace: Trace) -> bool:
        """Whether another replay like this one would take more memory than it tells."""
        return trace.bytes > _LARGE

    def reading(self, snapshot: Snapshot | None) -> Reading | None:
        """What is the model, the prediction, the target and the loss in a step."""
        trace = self.trace(snapshot)
        if trace is None:
            return None
        if id(snapshot) not in self._readings:
            self._readings[id(snapshot)] = read(trace)
        return self._readings[id(snapshot)]

    def progress(self, course: Course) -> Progress:
        """Whether the course learned."""
        if id(course) not in self._progress:
            first = self.trace(course.first)
            self._progress[id(course)] = progress_of(course, first)
        return self._progress[id(course)]

    @cached_property
    def budget(self) -> Budget:
        """What all replays together may cost, measured by the first step of every course."""
        most = None if self._seconds is None else self._seconds * SECOND
        budget = Budget(most=most, memory=self._memory)
        for course in self._courses:
            first = course.first
            if first is not None and id(first) not in self._traces:
                self._traces[id(first)] = budget.replay(first, look=True)
                budget.add_passes(first, sum(len(step.passes) for step in course.steps))
        if self._courses:
            budget.spare(min(map(self._wellness, self._courses)))
        return budget

    def _wellness(self, course: Course) -> float:
        """From 0, a loss that ended about where it began or where knowing nothing ends, to 1, one
        that ended clearly below both.

        By the curve and the first step alone: it decides what looking closer may cost.
        """
        trace = None if course.first is None else self._traces.get(id(course.first))
        losses = course.losses
        if trace is None or not losses or not all(map(math.isfinite, losses)):
            return 0.0
        known = self.once(("chance", id(course.first)), lambda: chance(read(trace)))
        base = losses[0] if known is None else min(losses[0], known)
        end = statistics.median(losses[-max(1, len(losses) // 5) :])
        if not 0 <= end < _ILL * base:
            return 0.0
        return min(1.0, (_ILL - end / base) / (_ILL - _WELL))

    def trial(
        self, course: Course, snapshot: Snapshot | None, objective: Objective | None = None
    ) -> Trial | None:
        """Experiments from a snapshot; None unless its replay reproduced the loss.

        None also where the model draws from its own answers, as in learning from rewards: the
        value of such a loss is no measure of what was learned.
        """
        trace = self.trace(snapshot)
        if snapshot is None or trace is None or not trace.reproduced or _draws_itself(trace):
            return None
        if objective is not None:
            return Trial(course, snapshot, self.budget, objective)
        key = id(course), id(snapshot)
        if key not in self._trials:
            self._trials[key] = Trial(course, snapshot, self.budget)
        return self._trials[key]

    def descend(
        self, course: Course, snapshot: Snapshot | None, factor: float = 1.0, **how: Any
    ) -> Descent | None:
        """Train from a snapshot on its own batch, at ``factor`` of the rate; None if refused."""
        trial = self.trial(course, snapshot)
        return None if trial is None else trial.descend(factor, **how)

    def chance(self, snapshot: Snapshot | None) -> float | None:
        """What ignoring the input would cost on the batch of a step; None if that is not known."""
        reading = self.reading(snapshot)
        if reading is None:
            return None
        return self.once(("chance", id(snapshot)), lambda: chance(reading))

    @property
    def courses(self) -> list[Course]:
        """The courses that made at least one update, longest first.

        For rules about how training goes, or how a model is built, without those that are part of
        a search (:mod:`.search`).
        """
        how_it_goes = self.rule is not None and self.rule.tier in _HOW_IT_GOES
        return self.training if how_it_goes else self._courses

    @cached_property
    def _courses(self) -> list[Course]:
        return sorted(
            (each for each in self.run.courses if each.steps), key=lambda each: -len(each.steps)
        )

    @cached_property
    def training(self) -> list[Course]:
        """The courses that are no part of a search, and go downhill.

        What goes uphill on purpose, as an attack does, is none of those that lower a loss; whether
        it is on purpose is asked of all courses.
        """
        worse = {id(each) for each in outdone(self._courses)}
        return [
            each
            for each in self._courses
            if not (
                id(each) in worse
                or looks_for_a_rate(each)
                or each.optimizer.options.get("maximize")
            )
        ]

    def snapshots(self) -> Iterator[tuple[Course, Snapshot]]:
        """First and latest healthy steps of every course, then the bad one."""
        for course in self.courses:
            seen: set[int] = set()
            for each in (course.first, course.last, course.bad):
                if each is not None and id(each) not in seen:
                    seen.add(id(each))
                    yield course, each

    @cached_property
    def first(self) -> Snapshot | None:
        """The first step of the longest course, or the first pass of a program without updates."""
        for course in self.courses:
            if course.first is not None:
                return course.first
        return next((each.snapshot for each in self.run.passes if each.snapshot), None)

    @property
    def incident(self) -> Incident | None:
        """The first time a loss or a gradient was not finite, or a pass raised."""
        return self.run.incidents[0] if self.run.incidents else None

    @cached_property
    def went_bad(self) -> int | None:
        """The number of the first pass with a value that is not finite."""
        for each in self.run.incidents:
            if each.kind in ("loss", "gradient"):
                return each.step
        return None

    @cached_property
    def first_bad(self) -> FirstBad | None:
        """The first value that is not finite and the call that made it."""
        return find_first_bad(self)

    @cached_property
    def mechanism(self) -> Mechanism | None:
        """Why it was not finite; None if that is no fault of the call that made it."""
        return None if self.first_bad is None else find_mechanism(self, self.first_bad)

    def healthy_losses(self, course: Course) -> list[float]:
        """The losses before anything was not finite."""
        found = []
        for step in course.steps:
            if step.loss is None:
                continue
            if not math.isfinite(step.loss):
                break
            found.append(step.loss)
        return found

    def parameters(self) -> list[Parameter]:
        return list(self.run.parameters.values())

    def is_held(self, parameter: Parameter) -> bool:
        """Whether an optimizer has it; what the program writes itself may only be put back."""
        held = {each.optimizer.number for each in self.run.courses if each.optimizer.thing}
        return not held.isdisjoint(parameter.optimizers)

    def module(self, path: str | None) -> Any:
        """The module with this path."""
        return self._modules.get(path, (None, None))[0]

    def made_at(self, path: str | None) -> Where | None:
        """Where the module with this path was made."""
        module, where = self._modules.get(path, (None, None))
        return where if module is None else self.run.made.get(id(module), where)

    @cached_property
    def _modules(self) -> dict[str | None, tuple[Any, Where | None]]:
        """The modules of all models by their paths, with the line of the model."""
        found: dict[str | None, tuple[Any, Where | None]] = {}
        for _, root, where in self.run.roots:
            for path, module in root.named_modules():
                found.setdefault(path, (module, where))
        return found


def _draws_itself(trace: Trace) -> bool:
    """Whether a step depends on numbers that were drawn with probabilities of the model."""
    draws = [each for each in trace.calls if each.op in DRAWS]
    return any(given.requires_grad for each in draws for given in each.inputs)
