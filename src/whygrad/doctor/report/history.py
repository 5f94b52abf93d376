"""The run as series over its steps: what the plots draw and the ramp table lists.

Parameters are put together by layer, because a person thinks in layers: the gradient of a layer is
the root mean square over all its weights, its update ratio the size of its change against its size.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from whygrad.doctor.evidence.case import Case
from whygrad.recording.record import Course, Parameter, Update

__all__ = ["History", "Row", "Series", "ramp", "spread", "thinned"]

Point = tuple[int, float]
Thing = TypeVar("Thing")
_ROWS = 6  # of the ramp table


@dataclass
class Series:
    """One measurement over the steps; values may be NaN or infinite."""

    name: str
    points: list[Point] = field(default_factory=list)

    @property
    def finite(self) -> list[Point]:
        return [(step, value) for step, value in self.points if math.isfinite(value)]


@dataclass
class Row:
    """One step of the ramp table."""

    step: int
    loss: float | None
    gradients: dict[str, float]  # by layer
    ratio: float | None  # the largest of all layers
    activation: float | None  # the largest magnitude of all layers
    largest_layer: str = ""  # whose that is


class History:
    """All series of a run."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self.losses: list[Series] = []
        self.validation = Series("validation")
        self.gradients: dict[str, Series] = {}
        self.ratios: dict[str, Series] = {}
        self.clipped: list[Point] = []  # steps whose gradients were limited, and their norm
        self.rows: dict[int, Row] = {}  # of the longest course
        for course in case.courses:
            self._read(course)
        if not case.courses:
            passes = [(each.number, each.value) for each in case.run.passes]
            self.losses.append(Series("loss", passes))
            self.rows = {at: Row(at, value, {}, None, None) for at, value in passes}
        self._read_evaluations()
        self.last = max((step for each in self.losses for step, _ in each.points), default=0)
        self.bad = None if case.went_bad is None else self.step_of_pass(case.went_bad)

    @property
    def steps(self) -> int:
        """How many updates the longest course made, or passes where there were none."""
        return len(self.rows)

    @property
    def loss(self) -> Series:
        """The loss of the longest course."""
        return self.losses[0]

    def step_of_pass(self, number: int) -> int:
        """The step of the longest course that the pass with this number is part of."""
        for course in self._case.courses[:1]:
            for step in course.steps:
                if step.passes and step.passes[-1].number >= number:
                    return step.index
            if course.steps and course.steps[-1].passes:
                return course.steps[-1].index + 1
        return number

    def _read(self, course: Course) -> None:
        optimizer = course.optimizer
        losses = Series(f"loss · {optimizer.kind}" if len(self._case.courses) > 1 else "loss")
        layers = _layers(course.parameters)
        for step in course.steps:
            row = self._row(step, layers)
            if step.loss is not None:
                losses.points.append((step.index, step.loss))
            for name, value in row.gradients.items():
                self.gradients.setdefault(name, Series(name)).points.append((step.index, value))
            for clip in step.clips:
                if clip.total is not None and clip.total > clip.limit:
                    self.clipped.append((step.index, clip.total))
            if course is self._case.courses[0]:
                self.rows[step.index] = row
        self.losses.append(losses)

    def _row(self, step: Update, layers: Mapping[str, list[Parameter]]) -> Row:
        row = Row(step.index, step.loss, {}, None, None)
        for layer, members in layers.items():
            size = _size(members, step.gradients)
            if size is not None:
                row.gradients[layer] = size
        sample = step.sample
        if sample is None:
            return row
        for layer, members in layers.items():
            weight = _size(members, sample.weights)
            change = _size(members, sample.updates)
            if weight and change is not None:
                ratio = change / weight
                self.ratios.setdefault(layer, Series(layer)).points.append((step.index, ratio))
                row.ratio = ratio if row.ratio is None else max(row.ratio, ratio)
        for name, layer_seen in sample.layers.items():
            largest = max(abs(layer_seen.low), abs(layer_seen.high))
            if row.activation is None or not largest <= row.activation:
                row.activation, row.largest_layer = largest, name
        return row

    def _read_evaluations(self) -> None:
        """Evaluations between two updates belong to one look at the validation data: their mean."""
        by_pass: dict[int, list[float]] = {}
        for each in self._case.run.evaluations:
            by_pass.setdefault(each.after, []).append(each.value)
        self.validation.points = [
            (self.step_of_pass(max(0, after - 1)), sum(values) / len(values))
            for after, values in by_pass.items()
        ]


def spread(things: Sequence[Thing], most: int) -> list[Thing]:
    """At most ``most`` of many, evenly spaced, the first and the last among them."""
    if len(things) <= most:
        return list(things)
    places = {round(at * (len(things) - 1) / (most - 1)) for at in range(most)}
    return [things[at] for at in sorted(places)]


def ramp(history: History) -> list[Row]:
    """The last steps before the first invalid value; of a run without one, steps all along it."""
    steps = sorted(history.rows)
    if history.bad is not None:
        steps = [step for step in steps if step <= history.bad][-_ROWS:]
    elif len(steps) > _ROWS:
        looked_at = [step for step in steps if history.rows[step].ratio is not None]
        looked_at = looked_at if len(looked_at) >= _ROWS else steps
        steps = spread(looked_at, _ROWS)
    return [history.rows[step] for step in steps]


def thinned(points: list[Point], most: int = 300) -> list[Point]:
    """At most about ``most`` points: of each stretch the lowest and the highest."""
    if len(points) <= most:
        return points
    length = -(-2 * len(points) // most)
    kept: list[Point] = []
    for start in range(0, len(points), length):
        stretch = points[start : start + length]
        finite = [each for each in stretch if math.isfinite(each[1])]
        chosen = {min(finite, key=_value), max(finite, key=_value)} if finite else {stretch[0]}
        kept += sorted(chosen)
    return kept


def _value(point: Point) -> float:
    return point[1]


def _layers(parameters: Iterable[Parameter]) -> dict[str, list[Parameter]]:
    found: dict[str, list[Parameter]] = {}
    for each in parameters:
        found.setdefault(each.module or each.name.rpartition(".")[0] or each.name, []).append(each)
    return found


def _size(members: list[Parameter], rms: Mapping[str, float | None]) -> float | None:
    """The root mean square over all numbers of a layer; None if nothing was measured."""
    squares, numbers = 0.0, 0
    for each in members:
        value = rms.get(each.name)
        if value is not None:
            amount = max(1, math.prod(each.tensor.shape))
            squares += value * value * amount
            numbers += amount
    return math.sqrt(squares / numbers) if numbers else None
