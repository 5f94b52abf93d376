"""Classes so rare that the model never answers them.

The trained model is asked once more about samples of the training data, batch by batch as it was
trained, and its answers are counted class by class.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from whygrad.doctor.case import Case
from whygrad.doctor.experiments import tensor_like
from whygrad.doctor.provenance import given_inputs, rows_of, target_source
from whygrad.doctor.reading import Reading
from whygrad.doctor.record import Course
from whygrad.doctor.replay import replay
from whygrad.doctor.rule import Finding, rule

__all__ = ["class_imbalance"]

_CLASSES = ("cross_entropy", "nll_loss")
_BINARY = ("binary_cross_entropy", "binary_cross_entropy_with_logits")

Array = np.ndarray[Any, Any]


@dataclass(eq=False)
class _Answers:
    """Labels of samples, and what the trained model says about them."""

    labels: Array
    said: Array
    all_labels: Array  # of the whole training set, where that could be found


@rule(
    id="class-imbalance",
    severity=2,
    title="One class is so common that the model answers nothing else",
    meaning=(
        "Nearly all samples belong to one class, so always answering that class is right nearly "
        "always, and the loss has little to say about the rest. Accuracy looks good; the cases "
        "that matter are all missed."
    ),
    measured=(
        "The share of the most common label, and the answers of the trained model to samples of "
        "the training data: the rare ones are never recognised."
    ),
    fix="Weigh the rare class in the loss, or draw it more often.",
    guardrail="print(recall per class), not the accuracy alone",
    explains=("constant-output", "loss-plateau", "under-trained", "overfitting", "lr-too-low"),
    thresholds={"share": 0.85, "always": 0.99, "recall": 0.1, "rare": 3, "steps": 20},
    cleared=lambda case: _shares(case),
)
def class_imbalance(case: Case) -> Iterator[Finding]:
    for course in case.courses:
        reading = case.reading(course.first)
        if reading is None or len(course.steps) < case.limit("steps") or case.went_bad is not None:
            continue
        call = reading.loss_call
        if call is None or call.op not in (*_CLASSES, *_BINARY) or not reading.trace.exact:
            continue
        if call.kwargs.get("weight") is not None or call.kwargs.get("pos_weight") is not None:
            continue
        answers = _ask(case, course, reading)
        if answers is None or len(np.unique(answers.all_labels)) < 2:
            continue
        names, counts = np.unique(answers.all_labels, return_counts=True)
        common = names[counts.argmax()]
        share = float(counts.max() / counts.sum())
        rare = answers.labels != common
        recall = float((answers.said[rare] == answers.labels[rare]).mean()) if rare.any() else 1.0
        always = float((answers.said == common).mean())
        if (
            share < case.limit("share")
            or rare.sum() < case.limit("rare")
            or recall > case.limit("recall")
            or always < case.limit("always")
        ):
            continue
        yield class_imbalance.finding(
            where=call.where,
            step=0,
            confidence=0.9,
            evidence=[
                f"{share:.1%} of {len(answers.all_labels)} labels are class {common:g}",
                f"the trained model answers class {common:g} to {always:.1%} of "
                f"{len(answers.said)} training samples",
                f"of {int(rare.sum())} samples of other classes it recognises {recall:.0%}",
            ],
            fix=_fix(call.op, share / (1 - share)),
        )
        return


def _fix(op: str, factor: float) -> str:
    sampler = (
        "or draw rare samples more often: DataLoader(..., sampler=WeightedRandomSampler(...))."
    )
    if op in _BINARY:
        return f"nn.BCEWithLogitsLoss(pos_weight=torch.tensor({factor:.3g})),\n{sampler}"
    return f"nn.CrossEntropyLoss(weight=1 / class_counts), normalised,\n{sampler}"


def _ask(case: Case, course: Course, reading: Reading) -> _Answers | None:
    """What the trained model says about many samples, or at least about the batches at hand."""
    found = _ask_about_all(reading)
    if found is not None:
        return found
    labels: list[Array] = []
    said: list[Array] = []
    for snapshot in (course.first, course.earlier, course.last):
        each = case.reading(snapshot)
        if snapshot is None or each is None or each.target is None or each.loss_call is None:
            continue
        answer = _answers(each, {})
        if answer is not None:
            asked = _as_classes(each.trace.array(each.target), each.loss_call.op)
            if asked.shape == answer.shape:
                labels.append(asked)
                said.append(answer)
    if not labels:
        return None
    together = np.concatenate(labels)
    return _Answers(together, np.concatenate(said), together)


def _ask_about_all(reading: Reading) -> _Answers | None:
    """Batches of the whole training set, if the first batch can be followed back to it."""
    trace = reading.trace
    target = rows_of(trace, target_source(reading), reading.target)
    given = list(given_inputs(reading))
    if target is None or len(given) != 1:
        return None
    source, tensor = given[0]
    rows = rows_of(trace, source, tensor)
    if rows is None or rows.length != target.length or not np.array_equal(rows.index, target.index):
        return None
    size = len(rows.index)
    call = reading.loss_call
    assert call is not None
    inputs, labels = trace.array(rows.whole), _as_classes(trace.array(target.whole), call.op)
    if inputs.shape[1:] != tuple(tensor.shape[1:]) or len(labels) != len(inputs):
        return None
    users = [
        (call.number, place)
        for call in trace.calls
        for place, each in enumerate(call.args)
        if each is tensor and any(mark.before <= call.number for mark in reading.models)
    ]
    order = np.random.default_rng(0).permutation(len(inputs))
    asked: list[Array] = []
    said: list[Array] = []
    for start in range(0, min(len(order), 40 * size) - size + 1, size):
        chosen = order[start : start + size]
        batch = tensor_like(trace.engine, inputs[chosen])
        instead: dict[int, dict[int | str, Any]] = {}
        for number, place in users:
            instead.setdefault(number, {})[place] = batch
        answer = _answers(reading, instead)
        if answer is None or answer.shape != chosen.shape:
            return None
        asked.append(labels[chosen])
        said.append(answer)
    return _Answers(np.concatenate(asked), np.concatenate(said), labels) if said else None


def _answers(reading: Reading, instead: dict[int, dict[int | str, Any]]) -> Array | None:
    """The classes that the model, as it is now, answers to the batch of a step."""
    call = reading.loss_call
    assert call is not None
    trace = replay(
        reading.trace.snapshot,
        values=reading.trace.snapshot.leaves,
        instead=instead,
        backward=False,
        look=False,
    )
    again = next((each for each in trace.calls if each.number == call.number), None)
    if again is None or trace.error is not None or not again.args:
        return None
    scores = trace.array(again.args[0])
    if call.op in _CLASSES:
        return scores.argmax(axis=1).ravel() if scores.ndim > 1 else None
    limit = 0.0 if call.op == "binary_cross_entropy_with_logits" else 0.5
    return (scores > limit).astype(np.int64).ravel() if scores.size == len(scores) else None


def _as_classes(target: Array, op: str) -> Array:
    if op in _CLASSES and target.dtype.kind == "f" and target.ndim > 1:
        return target.argmax(axis=1).ravel()  # a probability for each class
    return np.round(target).astype(np.int64).ravel()


def _shares(case: Case) -> str | None:
    reading = case.reading(case.first)
    call = None if reading is None else reading.loss_call
    if reading is None or call is None or call.op not in _CLASSES or reading.target is None:
        return None
    labels = reading.trace.array(reading.target)
    if labels.dtype.kind not in "iu" or not labels.size:
        return None
    _, counts = np.unique(labels, return_counts=True)
    return f"the most common class makes up {counts.max() / counts.sum():.0%} of the first batch"
