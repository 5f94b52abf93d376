"""A batch too small for batch normalisation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.rules.rule import Finding, Proof, rule
from whygrad.doctor.source.lines import raised
from whygrad.ops.families import BATCH_NORM
from whygrad.recording.record import Mark, Snapshot

__all__: list[str] = []


_ONE_VALUE = "expected more than 1 value per channel"


@rule(
    severity=3,
    thresholds={
        "learned": (0.2, "of the loss: a run that falls by more is well with its batches"),
        "clear": (8, "values of a channel: fewer rule nothing out"),
    },
    cleared=lambda case: _batches_seen(case),
)
def batchnorm_single_sample(case: Case) -> Iterator[Finding]:
    """Batch normalisation gets a batch of one.

    In training, batch normalisation subtracts the mean of the batch and divides by its
    deviation. Of one value per channel the mean is the value itself: nothing is left. The
    engines refuse; with a few pixels they do not, and every sample is normalised by itself.

    Measured: The exception of the layer, and the number of values per channel it was given; or
    batches of one at the first and the last updates, of different samples with one answer each,
    in a run that learns nothing.
    Fix: DataLoader(…, drop_last=True), or a batch size that leaves no single sample over.
    Guardrail: assert len(dataset) % batch_size != 1 or drop_last
    """
    error = case.run.error
    if error is None or _ONE_VALUE not in str(error).lower():
        yield from _by_itself(case)
        return
    lines = raised(error)
    outside = [each for each in lines if each.function.rpartition(".")[2] != "forward"]
    shape = re.search(r"\[([\d, ]+)\]", str(error))
    size = f"input of shape [{shape.group(1)}]" if shape else "its input"
    layer = None if case.run.failure is None else case.run.failure.module
    made = case.made_at(layer) if layer else None
    passes = len(case.run.passes)
    yield batchnorm_single_sample.finding(
        f"{layer or 'a batch normalisation layer'}: {size} has one value per channel",
        f"{passes} batches before this one were larger" if passes else "it is the first batch",
        where=outside[-1] if outside else (lines[-1] if lines else None),
        step=passes,
        proof=Proof.RAISED,
        places=[("the layer was made here", made)],
        fix=batchnorm_single_sample.fix
        if passes
        else "Give the layer batches of two or more, or use nn.LayerNorm or nn.GroupNorm.",
    )


def _by_itself(case: Case) -> Iterator[Finding]:
    """Samples with several pixels, one at a time: each is normalised by itself, and none learns.

    Pictures that are mapped to pictures are trained like that on purpose, and so is one picture
    that is the whole of the data; what asks for one answer a sample needs what is subtracted.
    """
    for course in case.courses:
        first, last = _single_samples(case, course.first), _single_samples(case, course.last)
        if not first or not last or course.first is course.last:
            continue
        reading, later = case.reading(course.first), case.reading(course.last)
        assert reading is not None
        assert later is not None
        same = np.array_equal(reading.trace.array(first[0][1]), later.trace.array(last[0][1]))
        target = reading.target
        if same or target is None or target.numel() != 1:
            continue
        if case.progress(course).curve > case.limit("learned"):
            continue
        mark, given = first[0]
        made = case.made_at(mark.path)
        yield batchnorm_single_sample.finding(
            f"{mark.path or mark.kind} gets {list(given.shape)} in training mode: one sample, "
            f"of which it subtracts its own mean over {given[0, 0].numel()} places",
            f"the loss is {case.progress(course).end:.4g} after {len(course.steps)} updates, "
            f"{case.progress(course).start:.4g} in the beginning",
            where=mark.where,
            proof=Proof.INFERRED,
            places=[("the layer was made here", made)],
            fix="Train with batches of several samples, or use nn.GroupNorm.",
        )
        return


def _single_samples(case: Case, snapshot: Snapshot | None) -> list[tuple[Mark, Any]]:
    """The calls of batch normalisation in training mode that got one sample, and what they got."""
    trace = case.trace(snapshot)
    found = []
    for mark in [] if trace is None else trace.marks():
        if "BatchNorm" not in mark.kind or not mark.training or not mark.inputs:
            continue
        given = None if trace is None else trace.value(mark.inputs[0])
        if given is not None and given.ndim > 2 and given.shape[0] == 1:
            found.append((mark, given))
    return found


def _batches_seen(case: Case) -> str | None:
    sizes: list[int] = []
    for _, snapshot in case.snapshots():
        trace = case.trace(snapshot)
        for each in [] if trace is None else trace.calls:
            if each.op in BATCH_NORM and each.inputs:
                shape = tuple(each.inputs[0].shape)
                sizes.append(each.inputs[0].numel() // shape[1])
    if not sizes or min(sizes) < case.limit("clear"):
        return None
    return f"at least {min(sizes)} values per channel"
