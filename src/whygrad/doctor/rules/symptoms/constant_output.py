"""Outputs that ignore the input.

A call whose input differs from sample to sample and whose result does not has lost the sample.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from whygrad.doctor.evidence.anatomy import (
    activation_place,
    rectifiers_of,
    squashers_of,
)
from whygrad.doctor.evidence.case import Case
from whygrad.doctor.evidence.provenance import given_inputs
from whygrad.doctor.rules.rule import Finding, Proof, rule
from whygrad.doctor.source.preparing.casting import cut_to_whole
from whygrad.ops import families as ops
from whygrad.recording.calls import Produced
from whygrad.recording.record import Course, Snapshot
from whygrad.recording.replay import Trace, Traced
from whygrad.recording.replay.reading import Reading

__all__: list[str] = []


@rule(
    thresholds={
        "steps": (5, "updates: fewer may not have moved it"),
        "rounding": (5e-6, "of the values: what some tens of operations in float32 leave"),
        "samples": (4, "fewer may well have the same output"),
        "clear": (0.05, "of the outputs' size: a smaller difference rules nothing out"),
    },
    cleared=lambda case: _spread(case),
)
def constant_output(case: Case, course: Course) -> Iterator[Finding]:
    """The model gives the same output for every input.

    Somewhere on its way the sample is lost: what comes out of one call is the same for all of
    them. Behind that point the model can only learn one answer for everything, usually the mean
    of the targets.

    Measured: Inputs and targets of a batch differ, and the predictions are equal for all
    samples, at the first and at the latest recorded step. The call is named whose input still
    differs and whose output does not.
    Fix: Look at the named call: what goes in differs between samples, what comes out does not.
    Guardrail: assert model(x).std(dim=0).max() > 1e-6  # on a batch of different samples
    """
    if len(course.steps) < case.limit("steps"):
        return
    begun, ended = (_unvaried(case, each) for each in (course.first, course.last))
    if begun is None or ended is None:
        return
    about_data = _about_data(case, begun)
    if about_data is None or _about_data(case, ended) is None:
        about_data = None
    elif about_data.places:  # the text tells where
        yield about_data
        return
    call, later = (_loss_of_sample(case, each) for each in (begun, ended))
    if call is None or later is None:
        # Data are often prepared once: then the first step alone has the calls on its tape.
        call = later = _loss_in_data(case, begun)
    if call is None or later is None:
        if about_data is not None:
            yield about_data
        return
    same = call.op == later.op and call.where == later.where
    if not same or _belongs_elsewhere(begun.trace, call):
        return
    given, result = call.before[0], call.after[0]
    yield constant_output.finding(
        f"{call.op} gets {given} and returns {result}: the same for all "
        f"{begun.prediction.shape[0]} samples of the batch",
        f"so it was at the first step and after {course.steps[-1].index} updates; the "
        "targets differ",
        where=activation_place(case, call),
        proof=Proof.REPLAYED,
        fix=_advice(call),
    )


def _about_data(case: Case, reading: Reading) -> Finding | None:
    """The model was given the same values for every sample."""
    inputs = [each for each in reading.inputs if each.ndim and each.shape[0] > 1]
    arrays = [reading.trace.array(each) for each in inputs]
    if not arrays or not all(_is_constant(case, each) for each in arrays):
        return None
    size, low, high = inputs[0].shape[0], arrays[0].min(), arrays[0].max()
    values = f"{low:g}" if low == high else f"the same values, from {low:.3g} to {high:.3g}"
    called = reading.models[0].where
    text, where = next(cut_to_whole(called.file), ("", called))
    return constant_output.finding(
        f"the model gets {values} for each of {size} samples, at the first step and later; the "
        "targets differ",
        f"`{text}` turns fractions into whole numbers" if text else None,
        where=where,
        places=[("given to the model here", called)] if text else [],
        proof=Proof.REPLAYED,
        fix=(
            "The samples are lost before the model: look at how they are prepared. Whole numbers "
            "divided with //, or fractions converted to integers, all become 0."
        ),
    )


def _unvaried(case: Case, snapshot: Snapshot | None) -> Reading | None:
    """A step whose predictions are the same for all samples, although the targets differ."""
    reading = case.reading(snapshot)
    if reading is None or reading.prediction is None or reading.target is None:
        return None
    trace = reading.trace
    prediction, target = trace.array(reading.prediction), trace.array(reading.target)
    size = prediction.shape[0] if prediction.ndim else 0
    if (
        size < case.limit("samples")
        or not target.ndim
        or target.shape[0] != size
        or _is_constant(case, target)
    ):
        return None
    return reading if _is_constant(case, prediction) else None


def _loss_of_sample(case: Case, reading: Reading) -> Traced | None:
    """The call of a step behind which all samples are alike."""
    trace, size = reading.trace, reading.prediction.shape[0]
    call = trace.made_by(reading.prediction_source)
    while call is not None:
        if call.op in ops.PICKS and _is_constant(case, trace.array(call.inputs[0])):
            return None  # which rows are picked differs, and says nothing
        if any(map(partial(_differs, case, trace, size), call.inputs, call.sources)):
            # Behind a reshape that leaves no axis of samples, they were lost later on.
            lost_later = call.op in ops.RESHAPING and tuple(call.outputs[0].shape)[:1] != (size,)
            return None if lost_later else call
        call = next(
            (
                made
                for each in call.sources
                if (made := trace.made_by(each)) is not None
                and _is_of_samples(case, trace, made, size)
            ),
            None,
        )
    return None


def _loss_in_data(case: Case, reading: Reading) -> Traced | None:
    """The call that made samples alike before the model got them, in one go or one by one."""
    trace = reading.trace
    for source, given in given_inputs(reading):
        if source is None or not given.ndim or not _is_constant(case, trace.array(given)):
            continue
        group = [trace.made_by(source)]
        while group and all(each is not None and each.inputs for each in group):
            calls = [each for each in group if each is not None]
            if calls[0].op in ops.STACK and len(calls) == 1:
                group = [trace.made_by(each) for each in calls[0].sources]
                continue
            if len({id(each.inputs[0]) for each in calls}) == 1:
                calls = calls[:1]
            arrays = [trace.array(each.inputs[0]) for each in calls]
            if any(each.shape != arrays[0].shape for each in arrays):
                break
            varied = arrays[0] if len(calls) == 1 else np.stack(arrays)
            if varied.ndim and not _is_constant(case, varied):
                return calls[0]
            group = [trace.made_by(each.sources[0]) for each in calls]
    return None


def _is_of_samples(case: Case, trace: Trace, call: Traced, size: int) -> bool:
    """Whether something in the past of a call differs between samples."""
    past = trace.ancestors(call) | {call.number}
    return any(
        _differs(case, trace, size, given, source)
        for each in trace.calls
        if each.number in past
        for given, source in zip(each.inputs, each.sources)
    )


def _differs(case: Case, trace: Trace, size: int, tensor: Any, source: Produced | None) -> bool:
    """Whether a tensor has one entry a sample, and they are not all the same."""
    array = trace.array(tensor)
    data = not tensor.requires_grad or not tensor.is_leaf
    made = trace.made_by(source)
    # What is left of a sum that cancels out is rounding, small against what was added up.
    sums = made is not None and made.op in ops.TOTALS | ops.AVERAGE_POOLS
    scale = float(np.abs(trace.array(made.inputs[0])).max(initial=0.0)) if made and sums else 0.0
    return (
        data and array.ndim > 0 and array.shape[0] == size and not _is_constant(case, array, scale)
    )


def _is_constant(case: Case, array: np.ndarray[Any, Any], scale: float = 0.0) -> bool:
    values = array.astype(np.float64)
    if not np.isfinite(values).all():
        return False
    scale = max(scale, float(np.abs(values).max(initial=0.0)))
    return bool(np.ptp(values, axis=0).max(initial=0.0) <= case.limit("rounding") * scale)


def _belongs_elsewhere(trace: Trace, call: Traced) -> bool:
    """Dead and saturated activations and weights without effect have rules of their own."""
    own = call in rectifiers_of(trace) or call in squashers_of(trace)
    return own or call.op in ops.LINEAR | ops.SOFTMAXES


def _advice(call: Traced) -> str:
    if call.op in ops.SAMPLE_NORMALIZERS:
        return (
            f"{call.op} subtracts the mean over the features of each sample. Over a single feature "
            "nothing is left: normalise over the data set instead, (x - x.mean()) / x.std()."
        )
    if call.op in ops.TOTALS:
        return (
            f"What {call.op} adds up cancels out in every sample, as behind a layer that subtracts "
            "the mean of each sample. Take that normalisation out, or let an activation follow it."
        )
    if call.op in ops.CASTS:
        return (
            "The conversion cuts off everything behind the point: scale before you convert "
            "((255 * x).to(torch.uint8)), or keep floating-point numbers."
        )
    return constant_output.fix


def _spread(case: Case) -> str | None:
    reading = case.reading(case.first)
    if reading is None or reading.prediction is None:
        return None
    prediction = reading.trace.array(reading.prediction)
    if prediction.ndim == 0 or prediction.shape[0] < 2 or prediction.dtype.kind != "f":
        return None
    spread = float(np.ptp(prediction, axis=0).max())
    if not spread > case.limit("clear") * float(np.abs(prediction).max()):
        return None
    return f"outputs differ by up to {spread:.2g} within a batch"
