"""A loss that falls when the model gets its hard samples even more wrong.

A focal loss weights a sample with the probability of being wrong, ``(1 - p) ** 2``.  With
``p ** 2`` it has a second way down: to give the samples up.  No sign is wrong there and no value
is; what is wrong is a slope, so that is measured: the step is run again with slightly better
answers for the samples that the model gets wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.evidence.flow import follow
from whygrad.doctor.evidence.progress import is_entangled
from whygrad.doctor.rules.rule import Finding, Proof, rule
from whygrad.ops import families as ops
from whygrad.recording.ranges import Array
from whygrad.recording.record import Course, Snapshot
from whygrad.recording.replay import Trace, Traced
from whygrad.recording.replay.reading import Reading, Term
from whygrad.recording.replay.recipes import swapped, tensor_like
from whygrad.source import Where

__all__: list[str] = []


@dataclass(eq=False)
class _Asked:
    """Scores and what is right, with the direction in which the scores get better."""

    trace: Trace
    maker: Traced  # of the scores
    better: Array  # in its shape
    wrong: Array  # which samples are answered wrongly


@rule(
    thresholds={
        "wrong": (0.05, "of the samples that are answered wrongly: fewer say little"),
        "rounding": (1e-6, "of the loss: a change below it is none"),
        "step": (0.01, "added to the score of what is right, to see what it costs"),
    }
)
def gives_up_hard_samples(case: Case, course: Course) -> Iterator[Finding]:
    """The loss rewards getting hard samples more wrong.

    A factor of the loss is largest for samples that are known well and goes to zero for those that
    are not, as p ** gamma in a focal loss in the place of (1 - p) ** gamma. The loss of a hard
    sample can then be made small by giving it up.

    Measured: The first and the latest recorded step are run again with the score of the right
    answer a little higher for the samples that are answered wrongly. The loss should fall, and it
    rises; and two things that are both made of the scores are multiplied in it.
    Fix: Turn the factor around: (1 - p) ** gamma * loss, with p the probability of what is right.
    Guardrail: assert (weight[p < 0.5].mean() > weight[p > 0.5].mean())
    """
    if is_entangled(course, case.courses):
        return  # answers that a policy has drawn are no labels
    first, last = (_asked(case, each) for each in (course.first, course.last))
    if first is None or last is None or first is last:
        return
    slopes = [_slope(case, each) for each in (first, last)]
    factor = _factor(first.trace, first.maker)
    if factor is None or any(each is None or each <= 0 for each in slopes):
        return
    yield gives_up_hard_samples.finding(
        f"{first.wrong.mean():.0%} of the samples are answered wrongly at the first step; with the "
        f"score of the right answer higher by {case.limit('step'):g} for those the loss rises by "
        f"{slopes[0]:.2g}",
        f"at the latest step it is {last.wrong.mean():.0%} of them, and the loss rises by "
        f"{slopes[1]:.2g}",
        f"two things that are made of the scores are multiplied at {factor.spot}",
        where=_where(first.trace, first.maker, factor),
        proof=Proof.REPLAYED,
    )


def _asked(case: Case, snapshot: Snapshot | None) -> _Asked | None:
    """Scores and labels of a classification whose loss is the program's own."""
    reading = case.reading(snapshot)
    if reading is None or not reading.trace.reproduced:
        return None
    trace = reading.trace
    if trace.root is None or len({each.call.where for each in _named(reading)}) > 1:
        return None
    for term in reading.terms:
        if term.target is None:
            continue
        way = follow(trace, term.source)
        while way.op in ops.SOFTMAXES | ops.LOG_PROBABILITIES | ops.SIGMOIDS | ops.LOG | ops.CLAMPS:
            assert way.maker is not None
            way = follow(trace, way.maker.sources[0])
        maker = way.maker
        if maker is None or maker.op not in ops.LINEAR or maker.op in ops.LOSSES:
            continue
        labels = trace.array(term.target)
        found = _judged(trace.array(maker.outputs[0]).astype(np.float64), labels)
        if found is not None:
            return _Asked(trace, maker, *found)
    return None


def _named(reading: Reading) -> list[Term]:
    """The terms that are losses of the library: of several, each may ask for something else."""
    return [each for each in reading.terms if each.call.op in ops.LOSSES]


def _judged(scores: Array, labels: Array) -> tuple[Array, Array] | None:
    """Which way is better, and which samples are answered wrongly."""
    if scores.ndim == 2 and scores.shape[1] > 1 and labels.dtype.kind in "iu":
        labels = labels.ravel()
        if len(labels) != len(scores) or labels.min() < 0 or labels.max() >= scores.shape[1]:
            return None
        better = np.eye(scores.shape[1])[labels]
        return better, scores.argmax(axis=1) != labels
    if scores.size == labels.size == len(scores) and np.isin(labels, (0, 1)).all():
        side = 2.0 * labels.reshape(scores.shape) - 1
        return side, (scores * side < 0).reshape(len(scores))
    return None


def _slope(case: Case, asked: _Asked) -> float | None:
    """By how much the loss changes with better answers for the samples that are wrong."""
    if asked.wrong.mean() < case.limit("wrong"):
        return None
    rows = asked.wrong.reshape(-1, *(1,) * (asked.better.ndim - 1))
    more = asked.better * rows * case.limit("step")
    added = _plus(tensor_like(asked.trace.engine, more.astype(np.float32)))
    changed = swapped(asked.trace.snapshot, {asked.maker.number: added})
    again = case.budget.replay(changed, backward=False)
    change = float(again.loss - asked.trace.loss)
    if again.error is not None or not abs(change) > case.limit("rounding") * abs(asked.trace.loss):
        return None
    return change


def _plus(more: Any) -> Callable[..., Any]:
    return lambda inner: lambda *args, **named: inner(*args, **named) + more


def _factor(trace: Trace, maker: Traced) -> Traced | None:
    """The product of two things that are both made of the scores: a weight, and a loss."""
    for call in trace.calls:
        if call.op not in ops.MUL or len(call.inputs) != 2 or call.sources[0] == call.sources[1]:
            continue
        made = [trace.made_by(each) for each in call.sources]
        if all(each is not None and trace.descends(each, maker) for each in made):
            return call
    return None


def _where(trace: Trace, maker: Traced, factor: Traced) -> Where:
    """The power that is the factor, if there is one; else the line of the product."""
    powers = [
        each for each in trace.calls
        if each.op in ops.POWERS and each.inputs[0].requires_grad and trace.descends(each, maker)
    ]  # fmt: skip
    return powers[0].where if len({each.where for each in powers}) == 1 else factor.where
