"""Class weights that are the wrong way round.

A weight is to make up for how rare a class is.  Computed as ``count / total`` in place of
``total / count``, it does the opposite: the rare class counts even less than it did.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.evidence.standing import batches_of
from whygrad.doctor.rules.rule import Finding, Proof, rule
from whygrad.ops.families import BINARY_WITH_LOGITS, CLASS_LOSSES
from whygrad.recording.ranges import Array
from whygrad.recording.record import Course
from whygrad.recording.replay.reading import Reading
from whygrad.source import Where

__all__: list[str] = []


@rule(
    thresholds={
        "labels": (60, "of which fewer do not show how frequent classes are"),
        "uneven": (3.0, "times as frequent as the rarest: else weights are a matter of taste"),
        "part": (0.5, "of the imbalance, on a scale of ratios, that the weights add to it"),
    },
)
def inverted_weights(case: Case, course: Course) -> Iterator[Finding]:
    """The class weights favour the frequent class.

    Weights are there to make up for rare classes. Here the frequent class has the larger weight,
    so the rare one counts even less than without any weights, and the model learns to ignore it.
    Usually the quotient is upside down.

    Measured: The weights (or pos_weight) that the loss was given beside how often each class
    occurs in the batches that were kept.
    Fix: pos_weight = negatives / positives; weight = 1 / class_counts, normalised.
    Guardrail: assert weight[class_counts.argmin()] == weight.max()
    """
    known = [each for each in batches_of(case, course) if each.target is not None]
    found = _favoured(known) if known else None
    if found is None:
        return
    counts, weights, name = found
    rare, common = int(counts.argmin()), int(counts.argmax())
    if counts.sum() < case.limit("labels") or not counts[rare] or not (weights > 0).all():
        return
    uneven = float(counts[common] / counts[rare])
    added = float(np.log(weights[common] / weights[rare]))
    if uneven < case.limit("uneven") or added < case.limit("part") * np.log(uneven):
        return
    call = known[0].meeting
    assert call is not None
    right = f"{counts[0] / counts[1]:.3g}" if name == "pos_weight" else "1 / class_counts"
    yield inverted_weights.finding(
        f"of {int(counts.sum())} labels {int(counts[common])} are class {common} and "
        f"{int(counts[rare])} class {rare}; the {name} gives class {common} "
        f"{np.exp(added):.3g} times the weight of class {rare}",
        where=_made_at(case, known[0]) or call.where,
        proof=Proof.RECORDED,
        fix=f"{name}={right}: the other way round, the rarer the larger.",
    )


def _made_at(case: Case, reading: Reading) -> Where | None:
    """Where the module of the loss was made, which is where it got its weights."""
    call = reading.meeting
    assert call is not None
    around = [each for each in reading.trace.marks() if each.before <= call.number < each.after]
    return case.run.made.get(id(around[-1].module)) if around else None


def _favoured(known: list[Reading]) -> tuple[Array, Array, str] | None:
    """How often classes occur, and the weight that each has in the loss."""
    call = known[0].meeting
    assert call is not None
    array = known[0].trace.array
    labels = np.concatenate([each.trace.array(each.target).ravel() for each in known])
    if call.op in BINARY_WITH_LOGITS and call.kwargs.get("pos_weight") is not None:
        given = array(call.kwargs["pos_weight"]).ravel()
        if given.size != 1 or not np.isin(labels, (0, 1)).all():
            return None
        counts = np.bincount(labels.astype(np.int64), minlength=2)
        return counts, np.array([1.0, float(given[0])]), "pos_weight"
    if call.op in CLASS_LOSSES and call.kwargs.get("weight") is not None:
        given = array(call.kwargs["weight"]).ravel().astype(np.float64)
        if labels.dtype.kind not in "iu" or labels.min() < 0 or labels.max() >= given.size:
            return None
        seen = np.bincount(labels, minlength=given.size)
        return (seen, given, "weight") if (seen > 0).all() else None
    return None
