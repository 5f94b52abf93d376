"""How the outputs of each layer are distributed, as small histograms above each other."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from whygrad.doctor.report.blocks import Figure, Legend
from whygrad.doctor.report.chart import Canvas, Scale, asinh_scale, linear_scale
from whygrad.doctor.report.history import spread
from whygrad.doctor.report.layout import cut_front
from whygrad.doctor.report.postmortem import Postmortem
from whygrad.doctor.report.words import count, number
from whygrad.ops.families import ACTIVATIONS
from whygrad.recording.layers import LOOKED_AT
from whygrad.recording.record import Snapshot

__all__ = ["activations"]

_ROWS = 10  # layers
_ROW = 30.0  # height of one
_BINS = 48
_LETTERS = 16  # of a layer's name

Values = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
Outputs = dict[str, Values]


def activations(case: Postmortem) -> Figure | None:
    """How the outputs of each layer are distributed at the first, the last and the bad step."""
    moments = _moments(case)
    layers = [name for name in dict.fromkeys(_names(moments)) if name]
    if not layers:
        return None
    layers = spread(layers, _ROWS)
    finite = [
        values[np.isfinite(values)] for _, _, outputs in moments for values in outputs.values()
    ]
    everything = np.concatenate([each.ravel() for each in finite if each.size] or [np.zeros(1)])
    scale, edges = _value_scale(everything)
    height = 60.0 + _ROW * len(layers)
    left = 14.0 + 6.3 * min(_LETTERS, max(len(name) for name in layers))
    invalid = {
        layer: max(_invalid_share(outputs.get(layer)) for _, _, outputs in moments)
        for layer in layers
    }
    canvas = Canvas(height, scale, left=left, right=92 if any(invalid.values()) else 12)
    canvas.axes("value")
    for row, layer in enumerate(layers):
        base = canvas.top + _ROW * (row + 1)
        canvas.text(canvas.left - 6, base - 6, cut_front(layer, _LETTERS), "end")
        for at, (_, tone, outputs) in enumerate(moments):
            if layer in outputs:
                _ridge(canvas, base, outputs[layer], edges, tone, filled=at == 0)
        canvas.line(canvas.left, base, canvas.right, base, "axis")
        if invalid[layer]:
            share = f"{invalid[layer]:.0%} not finite"
            canvas.text(canvas.right + 8, base - 6, share, "start", "alarm")
    legend = tuple(Legend(f"step {step}", tone) for step, tone, _ in moments)
    steps = " and ".join(f"step {step}" for step, _, _ in moments)
    description = f"Histograms of what comes out of {count(len(layers), 'layer')} at {steps}"
    description += f", from {number(float(everything.min()))} to {number(float(everything.max()))}."
    return Figure("Activations", canvas.svg(description), description, legend)


def _moments(case: Postmortem) -> list[tuple[int, str, Outputs]]:
    """Step, colour and outputs by layer of the steps that can be looked at again."""
    course = next(iter(case.case.courses), None)
    if course is None:
        return []
    wanted: list[tuple[Snapshot | None, str]] = [
        (course.first, "early"),
        (course.last, "late"),
        (course.bad, "bad"),
    ]
    found: list[tuple[int, str, Outputs]] = []
    seen: set[int] = set()
    for snapshot, tone in wanted:
        if snapshot is None or id(snapshot) in seen:
            continue
        seen.add(id(snapshot))
        outputs = _outputs(case, snapshot)
        if outputs:
            found.append((case.history.step_of_pass(snapshot.step), tone, outputs))
    return found


def _outputs(case: Postmortem, snapshot: Snapshot) -> Outputs:
    trace = case.case.trace(snapshot)
    found: Outputs = {}
    for call in trace.calls if trace is not None else ():
        if call.op not in LOOKED_AT or not call.outputs:
            continue
        if not isinstance(call.outputs[0], snapshot.engine.tensor):
            continue
        path = call.module or ""
        name = f"{path}:{call.op}" if call.op in ACTIVATIONS or not path else path
        array = snapshot.engine.array(call.outputs[0])
        if array.dtype.kind == "f" and array.size and name not in found:
            found[name] = array.astype(np.float64)
    return found


def _names(moments: Iterable[tuple[int, str, Outputs]]) -> list[str]:
    return [name for _, _, outputs in moments for name in outputs]


def _value_scale(values: Values) -> tuple[Scale, list[float]]:
    """A scale for values of very different size, and the edges of bins that are even on it."""
    low, high = float(values.min()), float(values.max())
    typical = float(np.median(np.abs(values[values != 0]))) if values.any() else 1.0
    if max(-low, high) > 20 * typical:
        unit = 10.0 ** math.floor(math.log10(typical))
        ends = math.asinh(low / unit), math.asinh(high / unit)
        if ends[0] == ends[1]:
            ends = ends[0] - 1, ends[1] + 1
        edges = np.sinh(np.linspace(*ends, _BINS + 1)) * unit
        return asinh_scale(float(edges[0]), float(edges[-1]), unit), edges.tolist()
    if low == high:
        low, high = low - 1, high + 1
    room = 0.02 * (high - low)
    edges = np.linspace(low - room, high + room, _BINS + 1)
    return linear_scale(low - room, high + room), edges.tolist()


def _ridge(
    canvas: Canvas, base: float, values: Values, edges: list[float], tone: str, *, filled: bool
) -> None:
    """A histogram as a small hill on its line."""
    finite = values[np.isfinite(values)]
    if not finite.size:
        return
    counts, _ = np.histogram(finite, edges)
    heights = (
        np.sqrt(counts / max(counts.max(), 1)) * 0.8 * _ROW
    )  # the root keeps thin tails visible
    places: list[tuple[float, float]] = [(canvas.x(edges[0]), base)]
    for at, height in enumerate(heights):
        places += [(canvas.x(edges[at]), base - height), (canvas.x(edges[at + 1]), base - height)]
    places.append((canvas.x(edges[-1]), base))
    canvas.path(places, f"{'hill' if filled else 'curve'} {tone}", closed=filled)


def _invalid_share(values: Values | None) -> float:
    return 0.0 if values is None else 1.0 - float(np.isfinite(values).mean())
