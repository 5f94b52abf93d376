"""What a model says about samples: as it is, and after more training of one kind or another."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.experiments.samples import Samples
from whygrad.ops.families import BINARY_WITH_LOGITS, CLASS_LOSSES
from whygrad.recording.ranges import Array
from whygrad.recording.record import Course
from whygrad.recording.replay import trainer
from whygrad.recording.replay.trainer import Instead

__all__ = ["ASKED", "Answers", "ask", "train"]

ASKED = 40  # batches


@dataclass(eq=False)
class Answers:
    """Labels of samples, and what a model says about them."""

    labels: Array
    said: Array
    common: int

    @property
    def rare(self) -> Any:
        return self.labels != self.common

    @property
    def always(self) -> float:
        """How often it says the common class."""
        return float((self.said == self.common).mean())

    @property
    def recall(self) -> float:
        rare = self.rare
        return float((self.said[rare] == self.labels[rare]).mean()) if rare.any() else 1.0

    @property
    def found(self) -> float:
        """The share of the rare samples that it does not take for common ones."""
        return float((self.said[self.rare] != self.common).mean())

    @property
    def alarms(self) -> float:
        """The share of the common samples that it takes for rare ones."""
        return float((self.said[~self.rare] != self.common).mean())

    @property
    def tells_apart(self) -> float:
        """How far it is from guessing, in standard errors."""
        rare = int(self.rare.sum())
        found = _share(self.found, rare)
        alarms = _share(self.alarms, len(self.labels) - rare)
        return (self.found - self.alarms) / math.sqrt(found + alarms)


def _share(part: float, count: int) -> float:
    """The squared standard error of a share, not zero for a few samples that agree."""
    part = (part * count + 1) / (count + 2)
    return part * (1 - part) / count


def ask(case: Case, data: Samples, values: Mapping[int, Any], rows: Array) -> Answers | None:
    """What the model with these values says about some rows."""
    call = data.reading.loss_call
    assert call is not None
    said: list[Array] = []
    for start in range(0, len(rows), data.size):
        chosen = np.resize(rows[start:], data.size)  # the last batch is filled with its own rows
        batch = data.batch(chosen)
        trace = case.budget.replay(data.recipe, values=values, instead=batch, backward=False)
        again = trace.call(call.number)
        if again is None or trace.error is not None or not again.args:
            return None
        answer = _classes_of(trace.array(again.args[0]), call.op)
        if answer is None or answer.shape != chosen.shape:
            return None
        said.append(answer)
    if not said:
        return None
    return Answers(data.classes[rows], np.concatenate(said)[: len(rows)], data.common)


def _classes_of(scores: Array, op: str) -> Array | None:
    if op in CLASS_LOSSES:
        return scores.argmax(axis=1).ravel() if scores.ndim > 1 else None
    limit = 0.0 if op in BINARY_WITH_LOGITS else 0.5
    return (scores > limit).astype(np.int64).ravel() if scores.size == len(scores) else None


def train(
    case: Case, course: Course, data: Samples, start: Mapping[int, Any], steps: int, *groups: Array
) -> dict[int, Any] | None:
    """The parameters after some steps on batches with equal parts of each group of rows."""
    random = np.random.default_rng(2)
    parts = np.array_split(np.arange(data.size), len(groups))

    def batch() -> Instead:
        rows = [random.choice(group, len(part)) for group, part in zip(groups, parts)]
        return data.batch(np.concatenate(rows))

    found = trainer.train(case.budget, course, data.recipe, steps=steps, start=start, batch=batch)
    return None if found is None or not math.isfinite(found.losses[-1]) else found.values
