"""Experiments on a step: what would have happened with another rate, another loss, no clipping?

A snapshot can be replayed with any values of its parameters, so it can also be *trained on*: a few
updates from there, on copies, by an optimizer of the same kind.  That answers questions that no
statistic can.  Is the learning rate too high?  Take the same steps with a hundredth of it and see.

An experiment is refused (None) when the replay does not reproduce the loss the program saw, when
the optimizer cannot be copied faithfully, and when it would cost more than the budget: what is
spent on all experiments together is a fraction of the run's own time.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from whygrad.doctor.recording.record import Course, Snapshot
from whygrad.doctor.replay import Trace, replay
from whygrad.doctor.replay.condense import condensed
from whygrad.doctor.replay.optimizers import copied_optimizer

__all__ = ["STEPS", "Budget", "Descent", "Objective", "Trial", "drop", "is_below", "squared_error"]

STEPS = 20  # of a descent, unless told otherwise
Objective = Callable[[Trace], Any]
Arrays = dict[int, np.ndarray[Any, Any]]


def drop(before: float, after: float) -> float:
    """By which part of itself a loss fell; negative if it rose, -inf if it was lost altogether."""
    if not (math.isfinite(before) and math.isfinite(after)):
        return -math.inf
    return (before - after) / max(abs(before), 1e-12)


def is_below(loss: float, part: float, other: float) -> bool:
    """Whether a loss is at most this part of another one, and of a negative one as far below it."""
    if math.isinf(other):
        return other > 0 and math.isfinite(loss)
    return loss <= other - (1 - part) * abs(other)


class Budget:
    """The time that experiments may still take."""

    def __init__(self, seconds: float) -> None:
        self.left = seconds
        self._cost: dict[int, float] = {}  # of one replay, by snapshot

    def allows(self, snapshot: Snapshot, replays: int) -> bool:
        return self._cost.get(id(snapshot), 0.0) * replays <= self.left

    def replay(self, snapshot: Snapshot, **how: Any) -> Trace:
        begun = time.thread_time()
        trace = replay(snapshot, look=False, **how)
        taken = time.thread_time() - begun
        self.left -= taken
        self._cost[id(snapshot)] = min(taken, self._cost.get(id(snapshot), math.inf))
        return trace


@dataclass(eq=False)
class Descent:
    """A few updates on one batch."""

    losses: list[float]  # before each update, and after the last one
    values: dict[int, Any] = field(default_factory=dict)  # of the leaves at the end

    @property
    def start(self) -> float:
        return self.losses[0]

    @property
    def end(self) -> float:
        """The middle of the last few losses: one lucky bounce is no success."""
        if not math.isfinite(self.losses[-1]):
            return math.inf
        return statistics.median(self.losses[-max(1, len(self.losses) // 4) :])

    @property
    def peak(self) -> float:
        return math.inf if not math.isfinite(self.losses[-1]) else max(self.losses)

    @property
    def drop(self) -> float:
        return drop(self.start, self.end)

    @property
    def diverges(self) -> bool:
        """Whether it ends far above where it began, or nowhere."""
        return not math.isfinite(self.end) or self.drop < -1.0

    @property
    def is_unstable(self) -> bool:
        """Whether it diverges, or has been at twice the height it began at."""
        return self.diverges or self.peak > self.start + abs(self.start)

    def is_calm(self, least: float) -> bool:
        """Whether it falls by a part of at least ``least``, never much above its beginning."""
        smooth = self.peak <= self.start + 0.05 * abs(self.start)
        return math.isfinite(self.end) and self.drop >= least and smooth

    def __str__(self) -> str:
        end = f"{self.end:.4g}" if math.isfinite(self.losses[-1]) else "nan"
        told = f"{self.start:.4g} → {end} in {len(self.losses) - 1} steps"
        high = math.isfinite(self.peak) and self.is_unstable and self.peak > self.end
        return f"{told}, over {self.peak:.4g}" if high else told


class Trial:
    """Experiments that start from one snapshot of a course."""

    def __init__(
        self,
        course: Course,
        snapshot: Snapshot,
        budget: Budget,
        objective: Objective | None = None,
    ) -> None:
        self.course = course
        self.snapshot = condensed(snapshot)
        self._budget = budget
        self.objective = objective
        self._known: dict[Any, Descent | None] = {}

    def descend(
        self,
        factor: float = 1.0,
        *,
        steps: int = STEPS,
        clip: float | None = None,
        start: Mapping[int, Any] | None = None,
        **options: Any,
    ) -> Descent | None:
        """Train on the batch of the snapshot with ``factor`` times the course's learning rate.

        ``clip`` limits the norm of the gradient, ``start`` replaces the values to begin with, and
        ``options`` those of the optimizer.
        """
        key = factor, steps, clip, id(start), repr(sorted(options.items()))
        if key not in self._known:
            self._known[key] = self._descend(factor, steps, clip, start or {}, options)
        return self._known[key]

    def _descend(
        self, factor: float, steps: int, clip: float | None, start: Any, options: dict[str, Any]
    ) -> Descent | None:
        engine = self.snapshot.engine
        copies = {
            name: engine.copy(start.get(name, value))
            for name, value in self.snapshot.values.items()
        }
        optimizer = copied_optimizer(engine, self.course, copies, factor, options)
        if optimizer is None or not self._budget.allows(self.snapshot, steps + 1):
            return None
        descent = Descent([], copies)
        passes = self._passes()
        for _ in range(steps):
            trace = self._run(copies)
            descent.losses.append(trace.loss)
            if trace.error is not None or not math.isfinite(trace.loss):
                return descent if math.isnan(trace.loss) or len(descent.losses) > 1 else None
            with engine.unseen():
                scale = passes * _shrinkage(trace, clip)
                for name, copy in copies.items():
                    gradient = trace.parameters[name].grad
                    copy.grad = None if gradient is None else gradient * scale
                optimizer.step()
        descent.losses.append(self._run(copies, backward=False).loss)
        return descent

    def loss(self, values: Mapping[int, Any]) -> float:
        """The loss of the batch with other values of the leaves."""
        return self._run(values, backward=False).loss

    def sharpness(self, rounds: int = 6) -> float | None:
        """The largest curvature of the loss: plain descent is stable below two divided by it.

        By power iteration on differences of gradients.
        """
        if not self._budget.allows(self.snapshot, 2 * rounds):
            return None
        engine = self.snapshot.engine
        center = {name: engine.array(each) for name, each in self.snapshot.values.items()}
        direction = self._gradient(center)
        found = None
        for _ in range(rounds):
            length = _norm(direction)
            if not (length > 0 and math.isfinite(length)):
                return found
            unit = {name: each / length for name, each in direction.items()}
            reach = 1e-3 * max(1.0, _norm(center))
            ahead = self._gradient(_moved(center, unit, reach))
            behind = self._gradient(_moved(center, unit, -reach))
            direction = {
                name: (ahead[name] - behind[name]) / (2 * reach)
                for name in ahead.keys() & behind.keys()
            }
            found = _norm(direction)
        return found

    def _gradient(self, values: Mapping[int, Any]) -> Arrays:
        namespace: Any = self.snapshot.engine.namespace
        given = {name: namespace.as_tensor(each) for name, each in values.items()}
        return self._run(given).gradients

    def _run(self, values: Mapping[int, Any], backward: bool = True) -> Trace:
        return self._budget.replay(
            self.snapshot, values=values, backward=backward, objective=self.objective
        )

    def _passes(self) -> int:
        """How many passes an update of the course adds up."""
        return max(1, statistics.mode(len(step.passes) for step in self.course.steps))


def squared_error(place: Callable[[Trace], Any], target: np.ndarray[Any, Any]) -> Objective:
    """The mean squared error of the tensor at ``place`` against ``target``."""

    def objective(trace: Trace) -> Any:
        output = place(trace)
        namespace: Any = trace.engine.namespace
        wanted = namespace.as_tensor(target).to(output.dtype)
        return ((output - wanted) ** 2).mean()

    return objective


def _shrinkage(trace: Trace, limit: float | None) -> float:
    if limit is None:
        return 1.0
    total = _norm(trace.gradients)
    return min(1.0, limit / (total + 1e-6))


def _norm(arrays: Mapping[int, np.ndarray[Any, Any]]) -> float:
    return math.sqrt(sum(float(np.vdot(each, each).real) for each in arrays.values()))


def _moved(center: Arrays, unit: Arrays, reach: float) -> Arrays:
    return {
        name: (each + reach * unit[name]).astype(each.dtype) if name in unit else each
        for name, each in center.items()
    }
