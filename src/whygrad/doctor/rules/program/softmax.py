"""Softmax where it does harm: applied twice, or over a single number.

Both are facts of the dataflow.  The input of a loss that normalises is looked at: if it is made of
probabilities already, the second softmax flattens them.  A softmax along an axis of length one
returns 1 whatever goes in, so nothing behind it learns.  Attention, gates and policies apply a
softmax on the way, not to what another softmax takes in, and are no concern of these rules.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.evidence.flow import (
    axis_of,
    feature_axis,
    first_traces,
    follow,
    line_of,
    shape_of,
    sums_to_one,
)
from whygrad.doctor.experiments.changes import along, instead, mended
from whygrad.doctor.experiments.remedies import Remedy
from whygrad.doctor.rules.rule import Finding, Proof, once, rule
from whygrad.ops import families as ops
from whygrad.recording.calls import Produced
from whygrad.recording.replay import Trace, Traced
from whygrad.recording.replay.recipes import passed_on

__all__ = ["double_softmax", "softmax_over_one"]

# Calls that normalise what they get: a loss, a softmax, or the heart of one by hand.
_NORMALIZING = ops.CROSS_ENTROPY | ops.SOFTMAX | ops.LOG_SOFTMAX | ops.LOGSUMEXP


def _class_axis(call: Traced) -> int:
    if call.op in ops.CROSS_ENTROPY:
        return 1 if len(shape_of(call.inputs[0])) > 1 else 0
    return axis_of(call)


def _is_exponential_by_hand(trace: Trace, call: Traced) -> bool:
    """``exp`` of something whose results are summed: a softmax or its logarithm by hand."""
    consumers = trace.consumers(Produced(call.number, 0)) if call.op in ops.EXP else []
    return any(each.op in ops.SUM | ops.LOGSUMEXP for each in consumers)


@rule(cleared=lambda case: _cleared_double(case))
def double_softmax(case: Case) -> Iterator[Finding]:
    """Softmax is applied twice.

    cross_entropy applies a softmax itself and wants raw scores. Probabilities given to it are
    squashed a second time: numbers between 0 and 1 come out almost equal, the loss cannot get
    near 0, and the gradients are small where the model is most wrong.

    Measured: The input of cross_entropy (or of a second softmax or log_softmax) is followed
    back to the call that computed it: it is a softmax, and its values sum to 1 over the
    classes.
    Fix: Hand the raw scores to the loss; apply softmax only where probabilities are shown.
    Guardrail: assert (logits < 0).any(), 'these look like probabilities, not scores'
    """
    yield from once(
        _second_softmax(case, trace, call) for trace in first_traces(case) for call in trace.calls
    )


def _second_softmax(case: Case, trace: Trace, call: Traced) -> Finding | None:
    by_hand = _is_exponential_by_hand(trace, call)
    if not (call.op in _NORMALIZING or by_hand) or not call.inputs[0].requires_grad:
        return None
    maker = follow(trace, call.sources[0]).maker
    shape = shape_of(call.inputs[0])
    if maker is None or not shape:
        return None
    values = trace.array(call.inputs[0])
    axis = len(shape) - 1 if by_hand else _class_axis(call)
    classes = shape[axis]
    normalized = sums_to_one(values, axis)
    certain = maker.op in ops.PROBABILITIES
    if certain:
        wrong = normalized or call.op in ops.CROSS_ENTROPY
    else:  # a softmax by hand ends in a division; numbers that sum to one by chance do not
        wrong = normalized and call.op in ops.CROSS_ENTROPY and maker.op in ops.DIV
    if not wrong or classes < 2:
        return None
    where = line_of(case, trace, maker)
    floor = math.log(1 + (classes - 1) / math.e)
    again = call.op if not by_hand else "the exponential"
    return double_softmax.finding(
        f"{again} at {call.spot} gets {list(shape)} values between "
        f"{values.min():.3g} and {values.max():.3g}"
        + (", and along the classes they sum to 1" if normalized else ""),
        f"they come from {maker.op} at {maker.spot}",
        f"with probabilities as scores the loss over {classes} classes cannot fall below "
        f"{floor:.3f}",
        where=where,
        step=trace.snapshot.step,
        proof=Proof.REPLAYED if certain else Proof.INFERRED,
        fix=f"Remove the softmax at line {where.line} and give {again} the raw scores; "
        "apply softmax(…) only to show probabilities.",
        places=[("normalised again here", call.where)],
        remedy=mended(trace.snapshot, {maker.number: passed_on if certain else _logarithm}),
    )


def _logarithm(inner: Callable[..., Any]) -> Callable[..., Any]:
    """The scores behind probabilities by hand, but for a constant that a softmax takes out."""
    return lambda *args, **named: inner(*args, **named).log()


def _cleared_double(case: Case) -> str | None:
    for trace in first_traces(case):
        for call in trace.calls:
            if call.op in ops.CROSS_ENTROPY and call.before:
                low, high = call.before[0].low, call.before[0].high
                if low >= 0 and high <= 1:
                    return None  # they may be probabilities
                return f"cross_entropy gets raw scores, {low:.3g} to {high:.3g}"
    return None


@rule()
def softmax_over_one(case: Case) -> Iterator[Finding]:
    """Softmax over a single number.

    A softmax divides by the sum over its axis. Over an axis of length 1 that is the number
    itself, so the result is 1 for every input and the gradient is 0. cross_entropy over a
    single class has the same fate: its loss is a constant.

    Measured: The length of the axis that the softmax of the output, or the loss, runs along.
    Attention over a sequence that happens to have one element does not count.
    Fix: For two classes with one output, use a sigmoid: nn.BCEWithLogitsLoss() on the raw
    output. Or give the layer one output per class.
    Guardrail: assert logits.shape[1] > 1, 'a softmax needs at least two classes'
    """
    traces = list(first_traces(case))
    every = [case.trace(course.first) for course in case.courses]
    # A line that has several numbers elsewhere is of a model whose size is chosen.
    several = {
        call.where
        for trace in (*traces, *every)
        if trace is not None
        for call in trace.calls
        if call.op in ops.SOFTMAXES and shape_of(call.inputs[0])[axis_of(call) :][:1] > (1,)
    }
    yield from once(
        _about_one(case, trace, call)
        for trace in traces
        for call in trace.calls
        if call.where not in several
        and (
            (call.op in ops.SOFTMAXES and _over_one(trace, call))
            or (call.op in ops.CROSS_ENTROPY and _one_class(trace, call))
        )
    )
    failure = case.run.failure
    if failure is not None and failure.op in ops.CLASS_LOSSES and not case.run.passes:
        shape = shape_of(failure.args[0]) if failure.args else ()
        if len(shape) > 1 and shape[1] == 1 and shape[0] > 1:
            given = f"{failure.op} was given scores of shape {list(shape)}: one class"
            wide = [axis for axis in range(2, len(shape)) if shape[axis] > 1]
            fix = _scores_elsewhere(shape, wide[-1]) if wide else softmax_over_one.fix
            yield softmax_over_one.raised(case, failure, given, fix=fix)


def _over_one(trace: Trace, call: Traced) -> bool:
    shape = shape_of(call.inputs[0])
    if not shape or shape[axis_of(call)] != 1 or not call.inputs[0].requires_grad:
        return False
    if _is_output(trace, call):
        return math.prod(shape) > 1
    # On the way: only if the axis is that of the features, so that it can never be longer.
    layer = feature_axis(trace, follow(trace, call.sources[0]))
    return layer is not None and layer[0][layer[1]] == 1 and layer[0].count(1) == 1


def _is_output(trace: Trace, call: Traced) -> bool:
    """Whether the result reaches a loss function as it is."""
    return any(
        follow(trace, source).maker is call
        for loss in trace.calls
        if loss.op in ops.LOSSES
        for source in loss.sources[:2]
    )


def _one_class(trace: Trace, call: Traced) -> bool:
    shape = shape_of(call.inputs[0])
    if len(shape) < 2 or shape[1] != 1 or not call.inputs[0].requires_grad:
        return False
    return shape[0] > 1 or feature_axis(trace, follow(trace, call.sources[0])) is not None


def _about_one(case: Case, trace: Trace, call: Traced) -> Finding:
    shape = list(shape_of(call.inputs[0]))
    loss = call.op in ops.CROSS_ENTROPY
    result = "the loss is" if loss else "the result is"
    value = call.after[0]
    fix, remedy = _instead_of_one(trace, call)
    return softmax_over_one.finding(
        f"{call.op} at {call.spot} gets {shape}: "
        + ("a single class" if loss else f"axis {axis_of(call)} has length 1"),
        f"{result} {value.low:.3g} to {value.high:.3g} whatever the model computes",
        where=call.where if loss else line_of(case, trace, call),
        step=trace.snapshot.step,
        proof=Proof.REPLAYED,
        fix=fix,
        remedy=remedy,
    )


def _instead_of_one(trace: Trace, call: Traced) -> tuple[str, Remedy | str | None]:
    """What to do about a softmax, or a loss, over one number.

    The classes may be on another axis.  If not, it depends on how many the targets name.
    """
    shape = shape_of(call.inputs[0])
    loss, step = call.op in ops.CROSS_ENTROPY, trace.snapshot
    here = 1 if loss else axis_of(call)
    others = [axis for axis in range(1, len(shape)) if axis != here and shape[axis] > 1]
    if others and loss:
        return _scores_elsewhere(shape, others[-1]), None
    if others:
        fix = f"Run it along the classes: dim={others[-1]}, which has length {shape[others[-1]]}."
        return fix, mended(step, {call.number: along(others[-1])})
    target = _labels_of(trace, call)
    classes = 0 if target is None else int(target.max()) + 1
    if classes > 2:
        return (
            f"The targets name {classes} classes and the last layer has one output: give it "
            f"{classes}, one for each class.",
            "the fix changes the shape of a layer",
        )
    space: Any = trace.engine.namespace.nn.functional
    fix = (
        "Use a sigmoid for a single output: nn.BCEWithLogitsLoss() on the raw scores of shape "
        f"{list(shape)}, with targets of the same shape; or give the last layer one output per "
        "class."
    )
    if not loss:
        return fix, mended(step, {call.number: instead(trace.engine.namespace.sigmoid)})
    if target is None or target.size != math.prod(shape):
        return fix, None

    def binary(inner: Callable[..., Any]) -> Callable[..., Any]:
        def judged(scores: Any, labels: Any, *rest: Any, **named: Any) -> Any:
            wanted = labels.reshape(scores.shape).to(scores.dtype)
            return space.binary_cross_entropy_with_logits(scores, wanted)

        return judged

    return fix, mended(step, {call.number: binary})


def _scores_elsewhere(shape: tuple[int, ...], axis: int) -> str:
    rest = [size for place, size in enumerate(shape) if place != 1]
    return (
        f"The {shape[axis]} scores of a sample are on axis {axis}: give the loss scores.squeeze(1) "
        f"of shape {rest}."
    )


def _labels_of(trace: Trace, call: Traced) -> np.ndarray[Any, Any] | None:
    """The whole numbers that the output of a call is compared with."""
    users = [
        loss
        for loss in trace.calls
        if loss.op in ops.LOSSES and len(loss.inputs) > 1
        and (loss is call or follow(trace, loss.sources[0]).maker is call)
    ]  # fmt: skip
    values = trace.array(users[-1].inputs[1]) if users else np.empty(0)
    whole = values.size and values.dtype.kind in "iuf" and (values == np.round(values)).all()
    return values if whole and values.min() >= 0 else None
