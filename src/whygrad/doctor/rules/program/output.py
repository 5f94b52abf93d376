"""The output does not fit the loss: scores where probabilities are expected, or the reverse."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.evidence.flow import chosen_at, first_traces, follow, line_of, shape_of
from whygrad.doctor.evidence.forms import Mismatch, form_of, rectified_regression
from whygrad.doctor.evidence.loss.by_hand import probabilities_by_hand
from whygrad.doctor.experiments.changes import mended
from whygrad.doctor.rules.rule import Finding, Proof, once, rule
from whygrad.ops.families import (
    BINARY_CROSS_ENTROPY,
    CROSS_ENTROPY,
    DIFFERENCES,
    LOG_SOFTMAX,
    NLL_LOSS,
    RELU,
)
from whygrad.recording.engines import engine_of
from whygrad.recording.replay import Trace, Traced
from whygrad.recording.replay.recipes import passed_on

__all__ = ["wrong_output_activation"]


@rule(
    thresholds={
        "cut": (0.25, "of the samples with the right class cut off: fewer recover"),
    },
    cleared=lambda case: _cleared(case),
)
def wrong_output_activation(case: Case) -> Iterator[Finding]:
    """The output does not have the form that the loss expects.

    Some losses want raw scores and apply the sigmoid or softmax themselves, others want
    probabilities or their logarithms. With the wrong form the loss still computes a number, but
    not the one that is meant: it has a floor that training cannot get below, no floor at all,
    or no gradient for a part of the targets.

    Measured: The input of the loss is followed back through reshaping and indexing to the call
    that computed it, and its values are compared with the form that the loss needs.
    Fix: Match them: raw scores for cross_entropy and binary_cross_entropy_with_logits,
    probabilities for binary_cross_entropy, log_softmax for nll_loss and kl_div, and no
    rectifier on a regression whose targets can be negative.
    Guardrail: assert output.min() < 0, 'raw scores have both signs'
    """
    yield from once(
        _about(case, trace, call, found)
        for trace in first_traces(case)
        for call in trace.calls
        if (found := _judge(case, trace, call)) is not None
    )
    yield from once(
        _about(case, trace, call, found)
        for trace in first_traces(case)
        for call, found in probabilities_by_hand(trace)
    )
    yield from _raised(case)


def _about(case: Case, trace: Trace, call: Traced, found: Mismatch) -> Finding:
    missing = found.fault is None
    return wrong_output_activation.finding(
        *found.evidence,
        where=call.where if found.fault is None else line_of(case, trace, found.fault),
        step=trace.snapshot.step,
        proof=Proof.REPLAYED,
        fix=found.fix,
        places=[
            ("the loss", None if missing else call.where),
            ("the loss is chosen here", chosen_at(case, trace, call) if missing else None),
        ],
        remedy=None if found.change is None else mended(trace.snapshot, dict([found.change])),
    )


def _judge(case: Case, trace: Trace, call: Traced) -> Mismatch | None:
    """What is wrong with the input of a loss, if anything is."""
    if len(call.inputs) < 2 or not any(each.requires_grad for each in call.inputs[:2]):
        return None
    form = form_of(call.op)
    if form is not None:
        found = form(trace, call)
        return found or _rectified_scores(case, trace, call)
    reading = case.reading(trace.snapshot)
    if reading is None or reading.meeting is not call or call.op not in DIFFERENCES:
        return None
    return rectified_regression(trace, call)


def _rectified_scores(case: Case, trace: Trace, call: Traced) -> Mismatch | None:
    """A rectifier before cross_entropy can be learned with; not if it blocks the right class."""
    choice = _choice(trace, call)
    maker = None if choice is None else follow(trace, choice.sources[0]).maker
    if choice is None or maker is None or maker.op not in RELU:
        return None
    blocked = _blocked(case, trace, call)
    if blocked < case.limit("cut"):
        return None
    evidence = [
        f"{choice.op} at {choice.spot} gets the result of {maker.op} at {maker.spot}",
        f"by the last steps, in {blocked:.0%} of the samples the score of the right class is cut "
        "to 0 and gets no gradient, and another class is not below it",
    ]
    fix = f"Remove {maker.op} at {maker.spot}: {choice.op} needs raw scores, of both signs."
    return Mismatch(maker, evidence, fix, (maker.number, passed_on))


def _choice(trace: Trace, call: Traced) -> Traced | None:
    """Where scores are turned into probabilities: in the loss, or before it."""
    if call.op in CROSS_ENTROPY:
        return call
    before = follow(trace, call.sources[0]).maker if call.op in NLL_LOSS else None
    return before if before is not None and before.op in LOG_SOFTMAX else None


def _blocked(case: Case, trace: Trace, call: Traced) -> float:
    """The part of the samples whose right class is stuck at zero when training ends."""
    course = next((each for each in case.courses if each.first is trace.snapshot), None)
    later = case.trace(course.last) if course is not None else None
    same = [each for each in later.calls if each.where == call.where] if later is not None else []
    same = [each for each in same if each.op == call.op and len(shape_of(each.inputs[0])) == 2]
    if later is None or not same:
        return 0.0
    choice = _choice(later, same[-1])
    if choice is None:
        return 0.0
    scores, target = later.array(choice.inputs[0]), later.array(same[-1].inputs[1])
    if target.ndim != 1 or target.dtype.kind not in "iu" or (target < 0).any():
        return 0.0
    rows = np.arange(len(target))
    right = scores[rows, target]
    others = scores.copy()
    others[rows, target] = -np.inf
    return float(((right <= 0) & (others.max(axis=1) >= 0)).mean())


def _raised(case: Case) -> Iterator[Finding]:
    """binary_cross_entropy refuses what is no probability."""
    failure = case.run.failure
    if failure is None or failure.op not in BINARY_CROSS_ENTROPY or not failure.args:
        return
    values = engine_of(failure.args[0]).array(failure.args[0])
    if not np.isfinite(values).all() or (values.min() >= 0 and values.max() <= 1):
        return
    yield wrong_output_activation.raised(
        case,
        failure,
        f"binary_cross_entropy was given values from {values.min():.3g} to "
        f"{values.max():.3g}; probabilities lie between 0 and 1",
        fix="Hand the raw scores to binary_cross_entropy_with_logits, or apply a sigmoid first.",
    )


def _cleared(case: Case) -> str | None:
    for trace in first_traces(case):
        for call in trace.calls:
            maker = follow(trace, call.sources[0]).maker if form_of(call.op) else None
            if maker is not None and not (maker.op in RELU and call.op in CROSS_ENTROPY):
                return f"{call.op} gets the result of {maker.op}, as it should"
    return None
