"""The plots: loss, gradients and updates over the steps, activations by layer."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from whygrad.doctor.report.activations import activations
from whygrad.doctor.report.blocks import Figure, Legend
from whygrad.doctor.report.chart import Canvas, Mark, Scale, asinh_scale, linear_scale, log_scale
from whygrad.doctor.report.history import History, Point, Series, spread, thinned
from whygrad.doctor.report.postmortem import Postmortem
from whygrad.doctor.report.timeline import Event
from whygrad.doctor.report.words import count, number

__all__ = ["plots"]

_HEIGHT = 250.0
_TONES = 7  # colours for layers, from the first to the last
_HEALTHY = (1e-4, 1e-1)  # update against weight
_EVENTS = {"first": "first", "cause": "cause", "symptom": "other", "crash": "cause"}
_WIDE = 100.0  # from this ratio of largest to smallest on, a loss is drawn on a logarithmic scale


def plots(case: Postmortem) -> list[Figure]:
    """Those that there is something to draw for."""
    history = case.history
    end = _end(history, case.events)
    found = [
        _loss(history, case.events, end),
        _by_layer(
            "Gradient of each layer",
            "Root mean square of the gradients, on a logarithmic scale",
            list(history.gradients.values()),
            (history.bad, end),
        ),
        _by_layer(
            "Update against weight",
            "Change of a layer's weights in one update against their size; "
            f"healthy between {_HEALTHY[0]:g} and {_HEALTHY[1]:g}",
            list(history.ratios.values()),
            (history.bad, end),
            _HEALTHY,
        ),
        activations(case),
    ]
    return [each for each in found if each is not None]


def _end(history: History, events: Sequence[Event]) -> int:
    """The last step to draw: where all is invalid to the end, soon after that began."""
    finite = [step for each in history.losses for step, _ in each.finite]
    happened = [event.step for event in events if event.kind in _EVENTS and event.kind != "crash"]
    last_told = max([*finite, *happened], default=history.last)
    return max(1, min(history.last, last_told + max(3, last_told // 3)))


def _steps(end: int) -> Scale:
    scale = linear_scale(0, end)
    whole = tuple((value, label) for value, label in scale.ticks if float(value).is_integer())
    return Scale(scale.position, whole)


def _loss(history: History, events: Sequence[Event], end: int) -> Figure | None:
    drawn = [each for each in history.losses if each.points]
    values = [value for each in drawn for _, value in each.finite]
    if not any(len(each.points) > 1 for each in drawn) or not values:
        return None
    validation = history.validation.finite
    values += [value for _, value in validation]
    canvas = Canvas(_HEIGHT, _steps(end), _loss_scale(values))
    _shade_invalid(canvas, [point for point in history.loss.points if point[0] <= end], end)
    canvas.axes("step")
    legend = []
    for series, tone in zip(drawn, _tones(len(drawn))):
        canvas.curve(thinned([point for point in series.points if point[0] <= end]), tone)
        legend.append(Legend(series.name, tone))
    if validation:
        canvas.curve(thinned(validation), "validation")
        legend.append(Legend(history.validation.name, "validation"))
    for step, _ in thinned([point for point in history.clipped if point[0] <= end], 120):
        canvas.line(canvas.x(step), canvas.bottom - 5, canvas.x(step), canvas.bottom, "clip")
    if history.clipped:
        legend.append(Legend("clipped", "clip"))
    marks = [
        Mark(event.step, at, _EVENTS[event.kind])
        for at, event in enumerate(events, 1)
        if event.kind in _EVENTS and event.step <= end
    ]
    canvas.marks(marks)
    first, last = history.loss.points[0][1], history.loss.points[-1][1]
    description = f"The loss over {count(history.steps, 'step')}, from {number(first)}"
    description += f" to {number(last)}"
    invalid = sum(1 for _, value in history.loss.points if not math.isfinite(value))
    if end < history.last:
        description += f"; drawn up to step {end}"
    if invalid:
        description += f"; it is not finite in {count(invalid, 'step')}"
        legend.append(Legend("not finite", "invalid"))
    if marks:
        description += ". The numbers are those of the timeline"
    return Figure("Loss", canvas.svg(description), description + ".", tuple(legend))


def _loss_scale(values: Sequence[float]) -> Scale:
    low, high = min(values), max(values)
    if low > 0 and high > _WIDE * low:
        return log_scale(low, high)
    typical = float(np.median(np.abs(values)))
    if typical > 0 and max(-low, high) > _WIDE * typical:
        return asinh_scale(low, high, 10.0 ** math.floor(math.log10(typical)))
    room = 0.05 * (high - low)
    return linear_scale(low - room, high + room)


def _shade_invalid(canvas: Canvas, points: Sequence[Point], last: int) -> None:
    """The stretches where the loss is not finite."""
    start: int | None = None
    for step, value in (*points, (last + 1, 0.0)):
        bad = not math.isfinite(value)
        if bad and start is None:
            start = step
        elif not bad and start is not None:
            left = canvas.x(max(0.0, start - 0.5))
            right = min(canvas.right, canvas.x(step - 0.5))
            canvas.rectangle(left, canvas.top, max(right - left, 1.5),
                             canvas.bottom - canvas.top, "invalid")  # fmt: skip
            start = None


def _tones(amount: int) -> list[str]:
    """Colours from the first to the last of so many."""
    if amount == 1:
        return ["tone-1"]
    return [f"tone-{round(at * (_TONES - 1) / (amount - 1))}" for at in range(amount)]


def _by_layer(
    title: str,
    what: str,
    series: Sequence[Series],
    moments: tuple[int | None, int],
    band: tuple[float, float] | None = None,
) -> Figure | None:
    """One curve a layer, on a logarithmic scale; ``moments``: first invalid step, last to draw."""
    bad, end = moments
    series = [each for each in series if len(each.points) > 1]
    values = [value for each in series for _, value in each.finite if value > 0]
    if not values:
        return None
    names = spread([each.name for each in series], _TONES)
    shown = [each for each in series if each.name in names]
    values += list(band or ())
    canvas = Canvas(_HEIGHT, _steps(end), log_scale(max(min(values), 1e-45), max(values)))
    legend = []
    if band is not None:
        top, bottom = canvas.y(band[1]), canvas.y(band[0])
        canvas.rectangle(canvas.left, top, canvas.right - canvas.left, bottom - top, "band")
        legend.append(Legend("healthy", "band"))
    if bad is not None:
        at = canvas.x(bad)
        canvas.line(at, canvas.top, at, canvas.bottom, "event first")
        legend.append(Legend("first invalid value", "event first"))
    canvas.axes("step")
    for each, tone in zip(shown, _tones(len(shown))):
        canvas.curve(thinned(each.points), tone)
        legend.append(Legend(each.name, tone))
    description = f"{what}. {_extremes(shown)}"
    if len(shown) < len(series):
        description += f" {len(shown)} of {len(series)} layers are shown."
    drawing = canvas.svg(f"{title}. {description}")
    return Figure(title, drawing, description, tuple(legend))


def _extremes(shown: Sequence[Series]) -> str:
    ends = [(each.name, each.finite[-1][1]) for each in shown if each.finite]
    low, high = min(ends, key=lambda end: end[1]), max(ends, key=lambda end: end[1])
    if low == high:
        return f"At the end {number(low[1])} in {low[0]}."
    return f"At the end from {number(low[1])} in {low[0]} to {number(high[1])} in {high[0]}."
