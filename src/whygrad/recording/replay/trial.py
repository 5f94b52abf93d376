"""Experiments on a step: what would have happened with another rate, another loss, no clipping?

They answer questions that no statistic can.  Is the learning rate too high?  Take the same steps
with a hundredth of it and see.  An experiment is refused (None) when the replay does not reproduce
the loss that the program saw, when the optimizer cannot be copied faithfully, and when it would
cost more than the budget has.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from whygrad.recording.record import Course, Snapshot
from whygrad.recording.replay.budget import Budget
from whygrad.recording.replay.recipes import condensed
from whygrad.recording.replay.trace import Trace
from whygrad.recording.replay.trainer import STEPS, Descent, Objective, norm, train

__all__ = ["Trial"]

Arrays = dict[int, np.ndarray[Any, Any]]


class Trial:
    """Experiments that start from one snapshot of a course."""

    def __init__(
        self, course: Course, snapshot: Snapshot, budget: Budget, objective: Objective | None = None
    ) -> None:
        self.course = course
        self.snapshot = condensed(snapshot, budget)
        self._budget = budget
        self.objective = objective
        # With the first values that were asked for, so that their identity stays theirs.
        self._known: dict[Any, tuple[Any, Descent | None]] = {}

    def descend(
        self,
        factor: float = 1.0,
        *,
        steps: int = STEPS,
        clip: float | None = None,
        start: Mapping[int, Any] | None = None,
        **options: Any,
    ) -> Descent | None:
        """Train on the batch of the snapshot as :func:`.trainer.train` does; asked again, known."""
        key = factor, steps, clip, id(start), repr(sorted(options.items()))
        if key not in self._known:
            found = self.train(factor=factor, steps=steps, clip=clip, start=start, options=options)
            self._known[key] = start, found
        return self._known[key][1]

    def train(self, **how: Any) -> Descent | None:
        """Train on the snapshot, whatever else is changed."""
        return train(self._budget, self.course, self.snapshot, objective=self.objective, **how)

    def replay(self, values: Mapping[int, Any], **how: Any) -> Trace:
        """The step with other values of the leaves."""
        return self._budget.replay(self.snapshot, values=values, objective=self.objective, **how)

    def loss(self, values: Mapping[int, Any]) -> float:
        """The loss of the batch with other values of the leaves."""
        return self.replay(values, backward=False).loss

    def sharpness(self, rounds: int = 6) -> float | None:
        """The largest curvature of the loss: plain descent is stable below two divided by it.

        By power iteration on differences of gradients.
        """
        if not self._budget.allows(self.snapshot, 2 * rounds):
            return None
        engine = self.snapshot.engine
        center = {name: engine.view(each) for name, each in self.snapshot.values.items()}
        direction = self._gradient(center)
        found = None
        for _ in range(rounds):
            length = norm(direction)
            if not (length > 0 and math.isfinite(length)):
                return found
            unit = {name: each / length for name, each in direction.items()}
            reach = 1e-3 * max(1.0, norm(center))
            ahead = self._gradient(_moved(center, unit, reach))
            behind = self._gradient(_moved(center, unit, -reach))
            direction = {
                name: (ahead[name] - behind[name]) / (2 * reach) for name in ahead if name in behind
            }
            found = norm(direction)
        return found

    def _gradient(self, values: Mapping[int, Any]) -> Arrays:
        namespace: Any = self.snapshot.engine.namespace
        given = {name: namespace.as_tensor(each) for name, each in values.items()}
        return self.replay(given).gradients


def _moved(center: Arrays, unit: Arrays, reach: float) -> Arrays:
    return {
        name: (each + reach * unit[name]).astype(each.dtype) if name in unit else each
        for name, each in center.items()
    }
