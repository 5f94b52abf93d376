"""Targets that the model has no way to reach.

What an activation can return is known exactly: the targets are compared with that, no more.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from whygrad.doctor.evidence.anatomy import activation_place
from whygrad.doctor.evidence.case import Case
from whygrad.doctor.evidence.flow import is_tanh_state
from whygrad.doctor.experiments.changes import left_out
from whygrad.doctor.rules.rule import Finding, Proof, rule
from whygrad.ops import families as ops
from whygrad.ops.spellings import row_of
from whygrad.recording.calls import Produced
from whygrad.recording.engines import engine_of
from whygrad.recording.replay import Trace, Traced

__all__ = ["target_out_of_range"]

_DISTANCES = ops.DISTANCE_LOSSES | ops.DIFFERENCES
_KEEPING = ops.RESHAPING | ops.PICKS | ops.DROPOUTS | ops.NEG

Reach = tuple[float, float, Traced]  # lowest and highest value, and the call that limits them


@rule(
    thresholds={
        "outside": (0.05, "of the targets: fewer are outliers"),
        "left": (0.05, "of their variance that no weights can remove"),
        "beyond": (1e-3, "of the largest target: less is rounding"),
    },
    cleared=lambda case: _reach_and_targets(case),
)
def target_out_of_range(case: Case) -> Iterator[Finding]:
    """The output cannot reach the targets.

    The last activation limits what the model can say, and targets lie outside of that. The
    model can only press against the end of its range, where the gradient dies; the error that
    is left is no matter of training longer.

    Measured: The range that the last activation can return, with the factors and offsets after
    it, against the targets; and how much of the loss no weights could remove.
    Fix: Leave out the last activation, or scale the targets into its range.
    Guardrail: assert low <= y.min() and y.max() <= high  # what the last activation can return
    """
    yield from _refused(case)
    for course in case.courses:
        reading = case.reading(course.first)
        if reading is None or reading.target is None or reading.loss_call is None:
            continue
        targets = reading.trace.array(reading.target)
        if targets.dtype.kind != "f" or not targets.size or not np.isfinite(targets).all():
            continue
        call = reading.loss_call
        if call.op in ops.BINARY_LOSSES:
            low, high, limiter = 0.0, 1.0, call
        elif call.op in _DISTANCES:
            found = _reach(reading.trace, reading.prediction_source)
            if found is None:
                continue
            low, high, limiter = found
        else:
            continue
        beyond = np.maximum(low - targets, targets - high).clip(min=0)
        outside = float(
            (beyond > case.limit("beyond") * max(1.0, float(np.abs(targets).max()))).mean()
        )
        spread = float(targets.var())
        left = float(np.square(beyond).mean()) / spread if spread else math.inf
        if outside < case.limit("outside") or left < case.limit("left"):
            continue
        yield target_out_of_range.finding(
            f"`{limiter.op}` {'is made for' if limiter is call else 'returns'} "
            f"values from {low:g} to {high:g}; "
            f"the targets run from {targets.min():.4g} to {targets.max():.4g}",
            f"{outside:.0%} of the targets lie outside, and what is missing to them amounts "
            f"to {left:.2g} times their variance whatever the weights are",
            where=activation_place(case, limiter),
            proof=Proof.REPLAYED,
            fix=_reach_fix(limiter, low, high, targets),
            places=[("the loss", call.where)],
            remedy=left_out(reading.trace.snapshot, limiter.number)
            if limiter.op in ops.ACTIVATIONS
            else None,
        )
        return


def _refused(case: Case) -> Iterator[Finding]:
    """A binary cross-entropy that raised because of its targets."""
    failure = case.run.failure
    if (
        failure is None
        or failure.error is not case.run.error
        or failure.op not in ops.BINARY_LOSSES
    ):
        return
    given = failure.args[1] if len(failure.args) > 1 else failure.kwargs.get("target")
    targets = engine_of(given).array(given)
    if targets.dtype.kind != "f" or (targets.min() >= 0 and targets.max() <= 1):
        return
    low, high = float(targets.min()), float(targets.max())
    yield target_out_of_range.finding(
        f"`{failure.op}` compares probabilities from 0 to 1; the targets run from {low:.4g} "
        f"to {high:.4g}",
        where=failure.where,
        step=len(case.run.passes),
        proof=Proof.RAISED,
        fix=_into_unit_range(targets),
    )


def _reach(trace: Trace, source: Produced | None) -> Reach | None:
    """What a tensor's values are limited to, and the call that limits them."""
    made = trace.made_by(source)
    if made is None or source is None:
        return None
    if is_tanh_state(made, source.place):
        return -1.0, 1.0, made
    row = row_of(made.op)
    if row is not None and row.image is not None:
        return (*row.image, made)
    if made.op in ops.CLAMP | ops.HARDTANH:
        low, high = made.argument(1, "min"), made.argument(2, "max")
        if made.op in ops.HARDTANH:
            low, high = made.argument(1, "min_val", -1.0), made.argument(2, "max_val", 1.0)
        ends = [-math.inf if low is None else low, math.inf if high is None else high]
        if any(not isinstance(each, (int, float)) for each in ends):
            return None
        return float(ends[0]), float(ends[1]), made
    if made.op in _KEEPING:
        below = _reach(trace, made.sources[0])
        if below is None or made.op not in ops.NEG:
            return below
        return -below[1], -below[0], below[2]
    if made.op in ops.ADD | ops.SUB | ops.SCALINGS and len(made.inputs) == 1 and len(made.args) > 1:
        return _shifted(_reach(trace, made.sources[0]), made)
    return None


def _shifted(below: Reach | None, made: Traced) -> Reach | None:
    """The range after a factor or an offset."""
    other = made.args[1] if made.args[0] is made.inputs[0] else made.args[0]
    if below is None or not isinstance(other, (int, float)):
        return None
    if made.op in ops.SUB and made.args[0] is not made.inputs[0]:
        return None
    if made.op in ops.SCALINGS:
        factor = other if made.op in ops.MUL else 1 / other if other else math.nan
        ends = below[0] * factor, below[1] * factor
    else:
        offset = other if made.op in ops.ADD else -other
        ends = below[0] + offset, below[1] + offset
    if any(math.isnan(each) for each in ends):
        return None
    return min(ends), max(ends), below[2]


def _reach_fix(limiter: Traced, low: float, high: float, targets: np.ndarray[Any, Any]) -> str:
    least, most = float(targets.min()), float(targets.max())
    if limiter.op in ops.BINARY_LOSSES:
        return _into_unit_range(targets)
    if limiter.op in ops.TANH_STATES:
        return f"Put a linear layer behind {limiter.op}: its state lies between -1 and 1."
    if math.isinf(low) or math.isinf(high):
        return f"Leave out the {limiter.op} at the end: the targets go from {least:.4g} on."
    return (
        f"Leave out the {limiter.op} at the end, or scale the targets into its range:\n"
        f"y = {low:g} + {high - low:g} * (y - {least:.4g}) / {most - least:.4g}"
    )


def _into_unit_range(targets: np.ndarray[Any, Any]) -> str:
    """Targets for a binary cross-entropy: two values are labels, more are measurements."""
    low, high = float(targets.min()), float(targets.max())
    shifted = f"(y {'-' if low > 0 else '+'} {abs(low):.4g})" if low else "y"
    scaled = shifted if high - low == 1 else f"{shifted} / {high - low:.4g}"
    if len(np.unique(targets)) <= 2:
        return f"Write no as 0 and yes as 1: y = {scaled}."
    return f"y = {scaled}, or nn.MSELoss for targets like these."


def _reach_and_targets(case: Case) -> str | None:
    reading = case.reading(case.first)
    found = None if reading is None else _reach(reading.trace, reading.prediction_source)
    if reading is None or reading.target is None or found is None:
        return None
    targets = reading.trace.array(reading.target)
    if targets.dtype.kind != "f" or not targets.size:
        return None
    if not found[0] <= targets.min() <= targets.max() <= found[1]:
        return None
    return (
        f"outputs can go from {found[0]:g} to {found[1]:g}, targets from {targets.min():.3g} "
        f"to {targets.max():.3g}"
    )
