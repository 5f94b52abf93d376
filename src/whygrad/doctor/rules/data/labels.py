"""Labels that the loss cannot deal with, or reads otherwise than they were meant.

What a loss function accepts is known exactly, so the labels are compared with that: no statistics.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.evidence.crash import led_to
from whygrad.doctor.evidence.data.left_out import LeftOut, left_out
from whygrad.doctor.evidence.flow import chosen_at
from whygrad.doctor.evidence.provenance import making, target_source
from whygrad.doctor.rules.rule import Finding, Proof, rule
from whygrad.doctor.source.statements import set_to
from whygrad.ops import families as ops
from whygrad.recording.calls import members
from whygrad.recording.engines import engine_of
from whygrad.recording.ranges import Array
from whygrad.recording.record import Failure
from whygrad.recording.replay import Trace, Traced
from whygrad.recording.replay.reading import Reading
from whygrad.recording.replay.recipes import tensor_like
from whygrad.source import Where

__all__ = ["bad_labels"]


@rule(
    severity=3,
    thresholds={
        "values": (3, "different labels at most where yes and no are meant"),
        "labels": (8, "fewer may well be all the same"),
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
    against the number of outputs, and against the values that the loss is defined for. Or: labels
    that the loss leaves out (ignore_index), with the number of a class that is judged as well.
    Fix: Number the classes from 0 to C - 1, in int64.
    Guardrail: assert 0 <= y.min() and y.max() < num_classes, (y.min(), y.max())
    """
    failure = case.run.failure
    if failure is not None and case.run.error is not None and led_to(failure, case.run.error):
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
        ignored = left_out(case, reading)
        if ignored is not None:
            yield _about_left_out(case, reading.trace, ignored)
            return
        accepted = _wrapped(reading)
        if reading.target is not None and reading.loss_call is not None:
            accepted = (
                accepted
                or _misread(case, reading)
                or _truncated(case, reading)
                or _only_the_first(case, reading)
            )
        if accepted is not None:
            said, fix, where = accepted
            call = reading.loss_call
            yield bad_labels.finding(
                said,
                where=where,
                proof=Proof.REPLAYED,
                fix=fix,
                places=[("the loss", call.where if call and call.where != where else None)],
            )
            return


def _about_left_out(case: Case, trace: Trace, ignored: LeftOut) -> Finding:
    chosen = chosen_at(case, trace, ignored.call)
    return bad_labels.finding(
        f"{ignored.share:.0%} of the labels are {ignored.number}, which the loss leaves out "
        f"(ignore_index={ignored.number}): {ignored.said}",
        f"line {ignored.counted.line} counts {ignored.number} as an answer like the others, and no "
        "gradient ever teaches it",
        where=chosen or ignored.call.where,
        places=[
            ("the loss", None if chosen is None else ignored.call.where),
            ("counted here", ignored.counted),
        ],
        title="The loss leaves out a class as if it was padding",
        fix=f"Let the padding have a number that is no class: labels of -100 there, which the loss "
        f"leaves out by itself, and no ignore_index={ignored.number}.",
    )


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
            _labels_made(reading, call),
        )
    return None


def _labels_made(reading: Reading, call: Traced) -> Where:
    """The line that says no with 0, or that computes the labels, if either is known."""
    made = making(reading.trace, target_source(reading))
    computed = None if made is None or made.op in ops.JOINS else made.where
    return computed or set_to(call.where, 0) or call.where


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
