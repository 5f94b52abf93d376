"""Labels that the loss cannot deal with, or reads otherwise than they were meant.

What a loss function accepts is known exactly, so the labels are compared with that: no statistics.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.evidence.data.orientation import is_dense
from whygrad.doctor.evidence.provenance import target_source
from whygrad.doctor.rules.rule import Finding, Proof, rule
from whygrad.doctor.source.masks import counts_all
from whygrad.doctor.source.reader import source_of
from whygrad.doctor.source.statements import told_at
from whygrad.ops import families as ops
from whygrad.recording.calls import members
from whygrad.recording.engines import engine_of
from whygrad.recording.record import Failure
from whygrad.recording.replay.reading import Reading
from whygrad.recording.replay.recipes import tensor_like
from whygrad.source import Where

__all__ = ["bad_labels"]


Array = np.ndarray[Any, Any]
# How programs call what has no label; a convolution's padding= is something else.
_MISSING = re.compile(
    r"(?i:void|unlabel|missing|no_?data|unknown|ignored)|\b(?i:pad)(?!ding\b)|_PAD"
)


@rule(
    severity=3,
    thresholds={
        "values": (3, "different labels at most where yes and no are meant"),
        "labels": (8, "fewer may well be all the same"),
        "left out": (0.02, "of the labels of a class that the loss does not count: no accident"),
        "several": (0.2, "of the samples with more than one label: no oversight"),
    },
    cleared=lambda case: _label_range(case),
)
def bad_labels(case: Case) -> Iterator[Finding]:
    """The labels are not what the loss expects.

    Labels choose an output by its number, or say yes and no as 1 and 0. A label beyond the last
    output, below zero or of another kind is an error at best; some losses take it silently and
    then reward the wrong thing.

    Measured: The labels given to the loss (or the indices given to an embedding or to gather)
    against the number of outputs, and against the values that the loss is defined for.
    Fix: Number the classes from 0 to C - 1, in int64.
    Guardrail: assert 0 <= y.min() and y.max() < num_classes, (y.min(), y.max())
    """
    failure = case.run.failure
    if failure is not None and case.run.error is not None and _led_to(failure, case.run.error):
        found = _rejected(failure)
        if found is not None:
            said, fix = found
            message = str(failure.error).strip().splitlines()[0]
            yield bad_labels.finding(
                said,
                f"`{failure.op}` raised {type(failure.error).__name__}: {message}",
                where=failure.where,
                step=len(case.run.passes),
                proof=Proof.RAISED,
                fix=fix,
            )
            return
    for course in case.courses:
        reading = case.reading(course.first)
        if reading is None:
            continue
        accepted = _wrapped(reading)
        if reading.target is not None and reading.loss_call is not None:
            accepted = (
                accepted
                or _misread(case, reading)
                or _truncated(case, reading)
                or _only_the_first(case, reading)
                or _left_out(case, reading)
            )
        if accepted is not None:
            said, fix, where = accepted
            call = reading.loss_call
            yield bad_labels.finding(
                said,
                where=where,
                proof=Proof.REPLAYED,
                fix=fix,
                places=[("the loss", call and call.where)],
            )
            return


def _led_to(failure: Failure, error: BaseException) -> bool:
    at: BaseException | None = error
    while at is not None:
        if at is failure.error:
            return True
        at = at.__cause__ or at.__context__
    return False


def _rejected(failure: Failure) -> tuple[str, str] | None:
    """What is wrong with the labels of a call that raised, and what to do."""
    given = [*members([failure.args, failure.kwargs])][::-1]  # it walks from the end
    tensors = [each for each in given if hasattr(each, "requires_grad")]
    if len(tensors) < 2 and failure.op not in ops.ONE_HOT:
        return None
    engine = engine_of(tensors[0])
    arrays = [engine.array(each) for each in tensors]
    if failure.op in ops.CHOICE_LOSSES:
        return _rejected_classes(failure, arrays[0], arrays[1])
    if failure.op in ops.BINARY_LOSSES:
        return _rejected_answers(arrays[1])
    if failure.op in ops.EMBEDDING:
        whole = [each for each in arrays if each.dtype.kind in "iu"]
        table = next((each for each in arrays if each.dtype.kind == "f"), None)
        return None if not whole or table is None else _beyond(whole[0], table.shape[0], "rows")
    if failure.op in ops.GATHERS | ops.SCATTERS | ops.INDEX_SELECT:
        dim = next((each for each in failure.args[1:] if isinstance(each, int)), None)
        dim = failure.kwargs.get("dim", dim)
        index = next((each for each in arrays[1:] if each.dtype.kind in "iu"), None)
        if index is None or not isinstance(dim, int) or not arrays[0].ndim:
            return None
        return _beyond(index, arrays[0].shape[dim], "columns" if dim else "rows")
    if failure.op in ops.GETITEM | ops.SETITEM:
        return _rejected_index(arrays[0], failure, engine)
    if failure.op in ops.ONE_HOT:
        count = next((each for each in failure.args[1:] if isinstance(each, int)), None)
        count = failure.kwargs.get("num_classes", count)
        return None if not isinstance(count, int) else _beyond(arrays[0], count, "classes")
    return None


def _rejected_classes(failure: Failure, scores: Array, labels: Array) -> tuple[str, str] | None:
    count = scores.shape[1] if scores.ndim > 1 else scores.shape[0]
    if labels.dtype.kind in "iu":
        ignored = failure.kwargs.get("ignore_index", -100)
        found = _beyond(labels[labels != ignored], count, "classes")
        if found is not None:
            return found
        if labels.shape == (*scores.shape[:1], 1):
            return (
                f"the labels have shape {list(labels.shape)}: one number for each sample is wanted",
                "y = y.squeeze(1)",
            )
    if labels.dtype != np.int64 and labels.shape != scores.shape:
        return (
            f"the labels are {labels.dtype}; numbers of classes are wanted, as int64",
            "y = y.long()",
        )
    return None


def _rejected_answers(labels: Array) -> tuple[str, str] | None:
    """Yes and no, in a kind of number that a binary cross-entropy refuses."""
    if labels.dtype.kind == "f":
        return None
    said = f"the labels are {labels.dtype} and the loss compares them with probabilities"
    return said, "y = y.float()"


def _rejected_index(values: Array, failure: Failure, engine: Any) -> tuple[str, str] | None:
    """x[rows, labels]: which index lies outside."""
    key = failure.args[1] if len(failure.args) > 1 else None
    for dim, each in enumerate(key if isinstance(key, tuple) else (key,)):
        if isinstance(each, engine.tensor) and dim < values.ndim:
            index = engine.array(each)
            if index.dtype.kind in "iu":
                found = _beyond(index, values.shape[dim], "columns" if dim else "rows")
                if found is not None:
                    return found
    return None


def _beyond(labels: Array, count: int, of: str) -> tuple[str, str] | None:
    """Labels or indices that do not lie between 0 and ``count`` - 1."""
    if not labels.size or labels.dtype.kind not in "iu":
        return None
    low, high = int(labels.min()), int(labels.max())
    if low >= 0 and high < count:
        return None
    said = f"the labels run from {low} to {high}, and there are {count} {of}: 0 to {count - 1}"
    if low == 1 and high == count:
        return said + "; they are counted from one", "y = y - 1"
    if low < 0:
        return said, (
            "Map the negative labels to classes from 0 on, or leave those samples out: "
            f"ignore_index={low} if {low} means 'no label'."
        )
    return said, f"Make the last layer (or the table) {high + 1} wide, or map the labels below it."


def _misread(case: Case, reading: Reading) -> tuple[str, str, Where] | None:
    """Yes and no, written as a loss does not read them."""
    call = reading.loss_call
    assert call is not None
    values = np.unique(reading.trace.array(reading.target))
    if (
        len(values) > case.limit("values")
        or not np.isfinite(values).all()
        or (values != np.round(values)).any()
    ):
        return None
    shown = " and ".join(f"{each:g}" for each in values)
    if call.op in ops.SIGNED_LOSSES and len(values) == 2 and values[0] == 0 and values[1] == 1:
        return (
            f"the labels are {shown}; `{call.op}` reads -1 as no and 1 as yes, and learns nothing "
            "from 0",
            "y = 2 * y - 1",
            call.where,
        )
    return None


def _wrapped(reading: Reading) -> tuple[str, str, Where] | None:
    """Labels below zero that count from the last output backwards: ``scores[rows, labels]``.

    Only if the loss depends on what they choose: often it is masked out.
    """
    trace = reading.trace
    for call in trace.calls:
        key = call.args[1] if call.op in ops.GETITEM and len(call.args) > 1 else None
        if not isinstance(key, tuple) or len(key) < 2 or call.sources[0] is None:
            continue
        chosen = key[-1]
        if not isinstance(chosen, trace.engine.tensor) or not call.inputs[0].requires_grad:
            continue
        labels = trace.array(chosen)
        if labels.dtype.kind != "i" or not labels.size or not labels.min() < 0 <= labels.max():
            continue
        width = int(call.inputs[0].shape[len(key) - 1])
        other = np.where(labels < 0, (labels + width + 1) % width, labels)
        instead = (*key[:-1], tensor_like(trace.engine, other.astype(labels.dtype)))
        changed = trace.again(instead={call.number: {1: instead}}, backward=False)
        if not trace.reproduced or changed.error is not None or changed.loss == trace.loss:
            continue
        low = int(labels.min())
        return (
            f"{(labels < 0).mean():.0%} of the labels are below zero; as an index {low} means "
            f"{'the last' if low == -1 else f'the {-low}th last'} of {width} classes, and the loss "
            "rewards that",
            f"Leave those samples out of the loss: keep = y >= 0, or "
            f"F.cross_entropy(logits, y, ignore_index={low}).",
            call.where,
        )
    return None


def _truncated(case: Case, reading: Reading) -> tuple[str, str, Where] | None:
    """Fractions that became whole numbers, all of them the same."""
    labels = reading.trace.array(reading.target)
    if (
        labels.dtype.kind not in "iu"
        or labels.size < case.limit("labels")
        or labels.min() != labels.max()
    ):
        return None
    made = reading.trace.made_by(target_source(reading))
    while made is not None and made.sources:
        if made.op in ops.CASTS and made.inputs[0].is_floating_point():
            values = reading.trace.array(made.inputs[0])
            if (values != np.round(values)).any() and values.min() != values.max():
                return (
                    f"values from {values.min():.3g} to {values.max():.3g} are cut off to whole "
                    f"numbers: every label is {labels.flat[0]}",
                    "Decide before you convert: y = (y > 0.5).long(), or y.round().long().",
                    made.where,
                )
        made = reading.trace.made_by(made.sources[0])
    return None


def _only_the_first(case: Case, reading: Reading) -> tuple[str, str, Where] | None:
    """``argmax`` of targets that say yes to several classes: the first one is all that is left."""
    made = reading.trace.made_by(target_source(reading))
    if made is None or made.op not in ops.POSITIONS or not made.inputs:
        return None
    tags = reading.trace.array(made.inputs[0])
    if tags.ndim < 2 or len(tags) < case.limit("labels") or not np.isin(tags, (0, 1)).all():
        return None
    counts = tags.astype(np.int64).sum(axis=1)
    share = float((counts > 1).mean())
    if share < case.limit("several"):
        return None
    return (
        f"{share:.0%} of the samples have several labels at once, {counts.mean():.1f} on average; "
        f"{made.op} keeps the first of each and the loss takes the others for wrong",
        "Keep all of them: F.binary_cross_entropy_with_logits(scores, y), one yes or no a class.",
        made.where,
    )


def _left_out(case: Case, reading: Reading) -> tuple[str, str, Where] | None:
    """A class that the loss takes for missing labels: ``ignore_index`` is its number."""
    call = reading.loss_call
    assert call is not None
    number = call.kwargs.get("ignore_index") if call.op in ops.CLASS_LOSSES else None
    labels, scores = reading.trace.array(reading.target), reading.prediction
    if not isinstance(number, int) or scores is None or not 0 <= number < scores.shape[1]:
        return None
    share = float((labels == number).mean()) if labels.size else 0.0
    if labels.size < case.limit("labels") or share < case.limit("left out"):
        return None
    if len(reading.losses) > 1 or _MISSING.search(source_of(call.where).text):
        return None  # what is filled up has no label
    if not _is_of_each_sample(reading, labels) and not _is_judged(case, reading, number):
        return None
    return (
        f"{share:.0%} of the labels are {number}, one of {scores.shape[1]} classes, and the loss "
        f"leaves them out (ignore_index={number}): the model never learns to answer {number}",
        "Leave ignore_index at -100, and give that number to what has no label.",
        told_at(call.where, "ignore_index") or call.where,
    )


def _is_of_each_sample(reading: Reading, labels: Array) -> bool:
    """Whether there is one label for each sample, as the model is given them."""
    given, made = reading.inputs, reading.outputs
    return labels.ndim == 1 and all(each.ndim and len(each) == len(labels) for each in given) and (
        len(made) == 1 and made[0].ndim == 2 and made[0].shape == reading.prediction.shape
    )  # fmt: skip


def _is_judged(case: Case, reading: Reading, number: int) -> bool:
    """Whether each point of a picture has a label, and the answers to this one are counted."""
    labels = reading.trace.array(reading.target)
    pictures = [reading.trace.array(each) for each in reading.inputs]
    if not any(each.dtype.kind == "f" and is_dense(each, labels) for each in pictures):
        return False
    return any(
        side.steps is None and side.range.low <= number <= side.range.high
        for each in case.run.comparisons
        if each.op in ops.EQUALITIES and counts_all(each.where, source_of(each.where).tree)
        for side in each.sides
    )


def _label_range(case: Case) -> str | None:
    reading = case.reading(case.first)
    if reading is None or reading.target is None or reading.prediction is None:
        return None
    labels = reading.trace.array(reading.target)
    call = reading.loss_call
    if (
        call is None
        or call.op not in ops.CHOICE_LOSSES
        or labels.dtype.kind not in "iu"
        or not labels.size
    ):
        return None
    count = reading.prediction.shape[1] if reading.prediction.ndim > 1 else 1
    if not 0 <= labels.min() <= labels.max() < count:
        return None
    return f"labels from {labels.min()} to {labels.max()} for {count} classes"
