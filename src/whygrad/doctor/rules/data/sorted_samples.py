"""Samples that come in the order of their labels."""

from __future__ import annotations

import math
from collections.abc import Iterator

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.evidence.ordering import ordered_by_class
from whygrad.doctor.evidence.progress import is_entangled
from whygrad.doctor.rules.rule import Finding, Proof, rule
from whygrad.recording.record import Course

__all__: list[str] = []


@rule(
    thresholds={
        "classes": (3, "at least: of two, batches of one kind may be meant, as in a GAN"),
        "learned": (0.3, "of the loss of the first batch: by the end it was forgotten"),
        "steps": (10, "updates: fewer show no order"),
    },
)
def sorted_samples(case: Case, course: Course) -> Iterator[Finding]:
    """The samples come in the order of their labels.

    Each batch holds samples of one class. The quickest way to a small loss is to answer that
    class to everything, and the next class undoes it: at the end the model knows the last one.

    Measured: The labels of the batches that were looked at, and the loss of the first batch with
    the first weights and with the latest ones.
    Fix: Shuffle the training samples: DataLoader(dataset, batch_size, shuffle=True), or
    order = torch.randperm(len(x)) in each epoch.
    Guardrail: assert labels.unique().numel() > 1
    """
    if len(course.steps) < case.limit("steps") or is_entangled(course, case.courses):
        return
    progress = case.progress(course)
    fell = progress.curve if math.isnan(progress.pair) else progress.pair
    if progress.broken or fell > case.limit("learned"):
        return
    found = ordered_by_class(case, course)
    if found is None or found.classes < case.limit("classes"):
        return
    yield sorted_samples.finding(
        f"{found.pure} of {found.batches} batches that were looked at hold one class only, of "
        f"{found.classes} that there are",
        f"the loss went from {progress.start:.4g} to {progress.end:.4g}"
        if math.isnan(progress.pair)
        else f"the loss of the first batch was {progress.first:.4g} at the beginning and is "
        f"{progress.latest:.4g} at the end",
        where=found.where,
        proof=Proof.INFERRED,
    )
