"""Errors that are added up before their sign is taken away."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.evidence.flow import first_readings
from whygrad.doctor.rules.rule import Finding, Proof, once, rule
from whygrad.ops import families as ops
from whygrad.recording.replay import Trace, Traced
from whygrad.recording.replay.reading import Reading

__all__: list[str] = []

_UNSIGNED = ops.POWERS | ops.ABS
_ON = ops.SCALINGS | ops.RESHAPING | ops.NEG | ops.CASTS


@rule(thresholds={"left": (0.5, "of the errors' size that their mean may have: signs are mixed")})
def errors_cancel(case: Case) -> Iterator[Finding]:
    """Errors of opposite sign cancel each other in the loss.

    The differences between predictions and targets are averaged, and the average is squared: an
    error of +1 and one of -1 cost nothing together. The loss is near zero as soon as the model is
    right on average, whatever it says of each sample.

    Measured: The calls between the difference of prediction and target and the loss: a mean or a
    sum that comes before the square or the absolute value, where nothing else judges the
    prediction. The size of the errors and that of their mean, in the first step.
    Fix: Square each error, then average: ((prediction - target) ** 2).mean().
    Guardrail: assert loss_fn(torch.tensor([1.0, -1.0]), torch.zeros(2)) > 0
    """
    yield from once(_cancelling(case, reading) for reading in first_readings(case))


def _cancelling(case: Case, reading: Reading) -> Finding | None:
    trace, difference = reading.trace, reading.meeting
    if difference is None or difference.op not in ops.DIFFERENCES or not trace.reproduced:
        return None
    before = {difference.number, *trace.ancestors(difference)}
    if any(each.call.number not in before for each in reading.terms):
        return None  # something else judges the prediction too
    total = _only_use(trace, difference)
    if total is None or total.op not in ops.TOTALS:
        return None
    after = _only_use(trace, total)
    if after is None or after.op not in _UNSIGNED:
        return None
    errors = trace.array(difference.outputs[0]).astype(np.float64)
    together = errors.size // max(1, trace.array(total.outputs[0]).size)
    size, mean = float(np.sqrt(np.mean(errors**2))), abs(float(errors.mean()))
    if together < 2 or not (errors.min() < 0 < errors.max()) or mean > case.limit("left") * size:
        return None
    return errors_cancel.finding(
        f"{total.op} at {total.spot} brings {together} errors together, of both signs, and "
        f"{after.op} at {after.spot} comes after it",
        f"in the first step the errors have a size of {size:.3g}, and their mean one of {mean:.3g}",
        where=total.where,
        step=trace.snapshot.step,
        proof=Proof.REPLAYED,
    )


def _only_use(trace: Trace, call: Traced) -> Traced | None:
    """The one call that computes with a result, behind factors and changes of shape."""
    users = [
        each
        for each in trace.calls
        if any(source is not None and source.call == call.number for source in each.sources)
    ]
    if len(users) != 1:
        return None
    return _only_use(trace, users[0]) if users[0].op in _ON else users[0]
