"""The tables of a report, with the names that people know from elsewhere.

``gradients/…`` and ``parameters/…`` are wandb.watch's, ``grad_2.0_norm`` is Lightning's, and ``abs
min, abs max`` in the order of the calls is how Hugging Face's overflow debugger lists its frames.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.forensics import FirstBad
from whygrad.doctor.report.blocks import Table
from whygrad.doctor.report.history import Row, spread
from whygrad.doctor.report.words import line, number
from whygrad.recording.ranges import magnitudes
from whygrad.recording.record import Update
from whygrad.recording.replay import Trace, Traced

__all__ = ["calls_table", "parameters_table", "ramp_table"]

_LAYERS = 5  # columns of the ramp table
_CALLS = 10  # rows of the table of calls …
_AFTER = 2  # … of them beyond the first bad one, to see the value spread


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


def calls_table(bad: FirstBad) -> Table | None:
    """The calls up to the one that made the first invalid value, and a few beyond."""
    if bad.trace is None or bad.call is None:
        return None
    end = bad.trace.calls.index(bad.call) + 1 + _AFTER
    last = bad.trace.calls[:end][-_CALLS:]
    calls = [call for call in last if call.outputs]
    rows = tuple(
        (*map(number, _extremes(bad.trace, call)), call.module or "–", call.op, line(call.where))
        for call in calls
    )
    if not rows:
        return None
    return Table(
        ("abs min", "abs max", "layer", "op", "line"),
        rows,
        f"the last {len(rows)} forward frames, in the order of the calls",
        frozenset((calls.index(bad.call),) if bad.kind == "forward" else ()),
        frozenset((2, 3, 4)),
        (4,),
    )


def _extremes(trace: Trace, call: Traced) -> tuple[float, float]:
    """The magnitudes of what came out of a call, the largest NaN or infinite if any is."""
    output = call.outputs[0]
    if not isinstance(output, trace.engine.tensor):
        return math.nan, math.nan
    array = trace.array(output)
    low, high, unsound = magnitudes(array)
    if unsound:
        high = math.nan if np.isnan(array).any() else math.inf
    return low, high


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
