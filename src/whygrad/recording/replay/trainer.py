"""Train on from a recorded step: the one place where the doctor trains the program's model.

A snapshot can be replayed with any values of its parameters, so it can also be trained on: a few
updates from there, on copies, by an optimizer of the program's kind.  What differs between
experiments (the rate, the first values, the batch, the loss) are the arguments.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from whygrad.recording.record import Course, Snapshot
from whygrad.recording.replay.budget import Budget
from whygrad.recording.replay.optimizers import copied_optimizer
from whygrad.recording.replay.trace import Trace

__all__ = ["STEPS", "Descent", "Instead", "Objective", "drop", "is_below", "norm", "train"]

STEPS = 20  # of a descent, unless told otherwise
_ZERO = 1e-12  # a loss below this is none
_CALM = 0.05  # of its beginning: how far a calm descent may rise above it
_DIVERGED = -1.0  # the drop of a descent that ends at twice its beginning or more
_LATEST = 4  # the end of a descent is the last of so many parts
Objective = Callable[[Trace], Any]
Instead = Mapping[int, Mapping[int | str, Any]]  # arguments of calls, by number and place or name


def drop(before: float, after: float) -> float:
    """By which part of itself a loss fell; negative if it rose, -inf if it was lost altogether."""
    if not (math.isfinite(before) and math.isfinite(after)):
        return -math.inf
    return (before - after) / max(abs(before), _ZERO)


def is_below(loss: float, part: float, other: float) -> bool:
    """Whether a loss is at most this part of another one, and of a negative one as far below it."""
    if math.isinf(other):
        return other > 0 and math.isfinite(loss)
    return loss <= other - (1 - part) * abs(other)


@dataclass(eq=False)
class Descent:
    """A few updates."""

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
        return statistics.median(self.losses[-max(1, len(self.losses) // _LATEST) :])

    @property
    def peak(self) -> float:
        return math.inf if not math.isfinite(self.losses[-1]) else max(self.losses)

    @property
    def drop(self) -> float:
        return drop(self.start, self.end)

    @property
    def diverges(self) -> bool:
        """Whether it ends far above where it began, or nowhere."""
        return not math.isfinite(self.end) or self.drop < _DIVERGED

    @property
    def is_unstable(self) -> bool:
        """Whether it diverges, or has been at twice the height it began at."""
        return self.diverges or self.peak > self.start + abs(self.start)

    def is_calm(self, least: float) -> bool:
        """Whether it falls by a part of at least ``least``, never much above its beginning."""
        smooth = self.peak <= self.start + _CALM * abs(self.start)
        return math.isfinite(self.end) and self.drop >= least and smooth

    def __str__(self) -> str:
        end = f"{self.end:.4g}" if math.isfinite(self.losses[-1]) else "nan"
        told = f"{self.start:.4g} → {end} in {len(self.losses) - 1} steps"
        high = math.isfinite(self.peak) and self.is_unstable and self.peak > self.end
        return f"{told}, over {self.peak:.4g}" if high else told


def train(
    budget: Budget,
    course: Course,
    snapshot: Snapshot | Sequence[Snapshot],
    *,
    steps: int = STEPS,
    factor: float = 1.0,
    scheduled: bool = False,
    clip: float | None = None,
    start: Mapping[int, Any] | None = None,
    batch: Callable[[], Instead] | None = None,
    objective: Objective | None = None,
    options: Mapping[str, Any] | None = None,
    also: Sequence[int] = (),
    accumulate: bool = False,
) -> Descent | None:
    """Train copies of the leaves on a step, with ``factor`` times the course's learning rate.

    That is the largest that the course had, or, ``scheduled``, that of each of its steps in turn.
    Of several steps each update takes the next one; the values of the first are the beginning.
    ``clip`` limits the norm of the gradient, ``start`` replaces values to begin with, ``batch``
    arguments of calls at each update, ``objective`` the loss and ``options`` those of the
    optimizer.  ``also`` names leaves that the optimizer does not hold and is to train as well;
    ``accumulate`` leaves the gradients of earlier updates where they are.

    Ends early with a loss that is not finite.  None if the optimizer cannot be copied faithfully,
    or the training would cost more than the budget has.
    """
    turns = [snapshot] if isinstance(snapshot, Snapshot) else list(snapshot)
    engine = turns[0].engine
    known = {name: value for each in reversed(turns) for name, value in each.values.items()}
    begin = {**known, **(start or {})}
    copies = {name: engine.copy(begin[name]) for name in known}
    optimizer = copied_optimizer(engine, course, copies, factor, dict(options or {}), also)
    if optimizer is None or not budget.allows(turns[0], steps + 1):
        return None

    def run(number: int, backward: bool) -> Trace:
        instead = None if batch is None else batch()
        return budget.replay(
            turns[number % len(turns)],
            values=copies,
            instead=instead,
            backward=backward,
            objective=objective,
        )

    descent = Descent([], copies)
    passes = _passes(course)
    for number in range(steps):
        trace = run(number, backward=True)
        descent.losses.append(trace.loss)
        if trace.error is not None or not math.isfinite(trace.loss):
            return descent if math.isnan(trace.loss) or number else None
        with engine.unrecorded():
            scale = passes * _shrinkage(trace, clip)
            for name, copy in copies.items():
                used = trace.parameters.get(name)
                gradient = None if used is None else used.grad
                found = None if gradient is None else gradient * scale
                kept = copy.grad if accumulate else None
                copy.grad = found if kept is None or found is None else kept + found
            if scheduled:
                _set_rates(optimizer, course, number, factor)
            optimizer.step()
    descent.losses.append(run(steps, backward=False).loss)
    return descent


def _passes(course: Course) -> int:
    """How many passes an update of the course adds up."""
    return max(1, statistics.mode([len(step.passes) for step in course.steps] or [1]))


def _shrinkage(trace: Trace, limit: float | None) -> float:
    return 1.0 if limit is None else min(1.0, limit / (norm(trace.gradients) + 1e-6))


def _set_rates(optimizer: Any, course: Course, number: int, factor: float) -> None:
    rates = course.steps[min(number, len(course.steps) - 1)].rates
    for group, rate in zip(getattr(optimizer, "param_groups", ()), rates):
        group["lr"] = rate * factor


def norm(arrays: Mapping[int, np.ndarray[Any, Any]]) -> float:
    """The length of all of them as one vector."""
    return math.sqrt(sum(float(np.vdot(each, each).real) for each in arrays.values()))
