"""The tables of a report, with the names that people know from elsewhere.

``gradients/…`` and ``parameters/…`` are wandb.watch's, ``grad_2.0_norm`` is Lightning's, and ``abs
min, abs max`` in the order of the calls is how Hugging Face's overflow debugger lists its frames.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.report.blocks import Table
from whygrad.doctor.report.history import Row
from whygrad.doctor.report.origin import Frame
from whygrad.doctor.report.words import line, number
from whygrad.recording.record import Update

__all__ = ["frames_table", "parameters_table", "ramp_table", "spread"]

_LAYERS = 5  # columns of the ramp table


def spread(names: Sequence[str], most: int) -> list[str]:
    """At most ``most`` of many, evenly spaced, the first and the last among them."""
    if len(names) <= most:
        return list(names)
    places = {round(at * (len(names) - 1) / (most - 1)) for at in range(most)}
    return [names[at] for at in sorted(places)]


def ramp_table(rows: Sequence[Row]) -> Table:
    """How loss, gradients, updates and activations grew from step to step."""
    every = list(dict.fromkeys(name for row in rows for name in row.gradients))
    layers = spread(every, _LAYERS)
    head = ("step", "loss", *(f"gradients/{each}" for each in layers), "update/weight", "abs max")
    cells = tuple(
        (
            str(row.step),
            number(row.loss),
            *(number(row.gradients.get(each)) for each in layers),
            number(row.ratio),
            number(row.activation),
        )
        for row in rows
    )
    inner = list(range(3, 1 + len(layers)))
    last_layer = [1 + len(layers)] if len(layers) > 1 else []
    caption = "gradients/…: rms of a layer; update/weight and abs max: the largest of all layers"
    left_out = len(every) - len(layers)
    if left_out:
        caption += f"; {left_out} of {len(every)} layers are not shown"
    bad = {at for at, row in enumerate(rows) if row.loss is None or not math.isfinite(row.loss)}
    return Table(head, cells, caption, frozenset(bad), expendable=(*inner, *last_layer))


def frames_table(frames: Sequence[Frame]) -> Table:
    """The calls up to the first invalid value, and a few beyond."""
    rows = tuple(
        (number(each.low), number(each.high), each.layer or "–", each.op, line(each.where))
        for each in frames
    )
    return Table(
        ("abs min", "abs max", "layer", "op", "line"),
        rows,
        f"the last {len(rows)} forward frames, in the order of the calls",
        frozenset(at for at, each in enumerate(frames) if each.first),
        frozenset((2, 3, 4)),
        (4,),
    )


def parameters_table(case: Case, bad: int | None) -> Table | None:
    """Every parameter at the last step with a closer look, before anything was invalid."""
    step = _looked_at(case, bad)
    if step is None or step.sample is None:
        return None
    sample = step.sample
    rows = []
    for each in case.courses[0].parameters:
        rms, weight = step.gradients.get(each.name), sample.weights.get(each.name)
        norm = None if rms is None else rms * math.sqrt(math.prod(each.tensor.shape))
        change = sample.updates.get(each.name)
        ratio = change / weight if weight and change is not None else None
        shape = str(list(each.tensor.shape))
        rows.append((each.name, shape, *map(number, (rms, norm, weight, ratio))))
    return Table(
        ("parameter", "shape", "gradients/ rms", "grad_2.0_norm", "parameters/ rms",
         "update/weight"),
        tuple(rows),
        f"Every parameter at step {step.index}",
        words=frozenset((0, 1)),
        expendable=(1, 3),
    )  # fmt: skip


def _looked_at(case: Case, bad: int | None) -> Update | None:
    for course in case.courses[:1]:
        for step in reversed(course.steps):
            before = bad is None or step.index < bad
            if before and step.sample is not None and step.sample.weights:
                return step
    return None
