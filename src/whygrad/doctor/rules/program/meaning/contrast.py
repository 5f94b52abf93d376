"""Contrastive losses that cannot tell what belongs together.

Each row of a square of similarities is to find its own column.  Three things go wrong there that no
single value shows: similarities that are all but equal for the softmax, a row that is compared with
itself, and labels that name other columns than the pairs have.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.evidence.loss.contrast import Contrast, contrasts
from whygrad.doctor.experiments.changes import mended
from whygrad.doctor.experiments.rehearsal import REHEARSED, stage_of
from whygrad.doctor.rules.rule import Finding, Proof, rule
from whygrad.recording.record import Course, Snapshot
from whygrad.recording.replay import Trace
from whygrad.recording.replay.recipes import swapped, tensor_like
from whygrad.recording.replay.trainer import train

__all__: list[str] = []


def _found(case: Case, snapshot: Snapshot | None) -> list[tuple[Trace, Contrast]]:
    trace = case.trace(snapshot)
    if trace is None or not trace.reproduced:
        return []
    return [(trace, each) for each in contrasts(trace)]


@rule(
    thresholds={
        "floor": (0.8, "of what guessing costs, as the least that can be reached: next to nothing"),
        "usual": (10.0, "one over a temperature of 0.1, for the fix"),
        "even": (0.9, "of the entropy of guessing, at the end: no row has found its column"),
    }
)
def flat_similarity(case: Case, course: Course) -> Iterator[Finding]:
    """The temperature leaves all similarities alike.

    The cosine of two unit vectors lies between -1 and 1. A contrastive loss divides it by a
    temperature of 0.05 to 0.5, so that a softmax can tell columns apart. Divided by a large number,
    or multiplied with a small one, the scores are all but equal: even perfect vectors would get
    about the loss of guessing.

    Measured: The scores that the softmax gets against the cosines they are made of, at the first
    and the latest recorded step: their factor, the least loss that cosines times this factor can
    reach, what guessing costs, and how even the softmax is at the end. Not said of a factor that is
    learned.
    Fix: Divide the similarities by a temperature below 1: logits = a @ b.T / 0.1.
    Guardrail: assert logits.std() > 0.5, 'similarities this close mean the same to a softmax'
    """
    later = {each.choice.where: each for _, each in _found(case, course.last)}
    for trace, found in _found(case, course.first):
        end = later.get(found.choice.where)
        if end is None or any(_is_free(case, each) for each in (found, end)):
            continue
        if _entropy(end) < case.limit("even") * end.guess:
            continue
        scale, where = found.scale, (found.scaled or found.product).where
        factor = case.limit("usual") / scale if scale else case.limit("usual")
        changed = found.scaled or found.product
        yield flat_similarity.finding(
            f"the softmax over {found.scores.shape[1]} columns at {found.choice.spot} gets cosines "
            f"times {scale:.3g}, a temperature of {1 / scale:.3g}: no two scores are more than "
            f"{2 * scale:.3g} apart",
            f"with such scores the loss cannot fall below {found.floor:.4g}; guessing costs "
            f"{found.guess:.4g}",
            f"by the last steps the softmax is still even: its entropy is {_entropy(end):.4g}",
            where=where,
            proof=Proof.REPLAYED,
            remedy=mended(trace.snapshot, {changed.number: _times(factor)}),
        )
        return


def _is_free(case: Case, found: Contrast) -> bool:
    """Whether the scores can be as different as it takes, or nothing is known about that."""
    if found.cosines is None or found.learned_scale or not math.isfinite(found.scale):
        return True
    return found.guess <= 0 or found.floor < case.limit("floor") * found.guess


def _entropy(found: Contrast) -> float:
    """Of the softmax of a row, on average."""
    scores = found.scores - found.scores.max(axis=1, keepdims=True)
    shares = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    return float(-(shares * np.log(np.where(shares > 0, shares, 1))).sum(axis=1).mean())


def _times(factor: float) -> Callable[..., Any]:
    return lambda inner: lambda *args, **named: inner(*args, **named) * factor


@rule(
    thresholds={
        "largest": (0.95, "of the rows in which nothing is more similar than the row itself"),
        "raised": (1e-3, "added to the similarities of rows with themselves, to see what it costs"),
    }
)
def compared_with_itself(case: Case, course: Course) -> Iterator[Finding]:
    """Each sample is compared with itself.

    A batch is compared with itself and the diagonal is left in. There every sample meets itself,
    more similar than anything else can be, and the loss takes that for a wrong answer: the right
    column can at best come second.

    Measured: Both sides of the product are the same vectors; the diagonal is the largest score of
    its row, at the first and at the latest recorded step; and the step, run again with a
    diagonal that is a little larger, has a higher loss.
    Fix: Mask the diagonal before the softmax: sim.fill_diagonal_(float("-inf")).
    Guardrail: assert torch.isinf(sim.diagonal()).all()
    """
    later = {each.choice.where: each for _, each in _found(case, course.last)}
    for trace, found in _found(case, course.first):
        end = later.get(found.choice.where)
        if end is None or not all(_meets_itself(case, each) for each in (found, end)):
            continue
        eye = np.eye(len(found.scores))
        if not _costs(trace, found, eye * case.limit("raised")):
            continue
        yield compared_with_itself.finding(
            f"the product at {found.product.spot} compares {len(found.scores)} vectors with "
            "themselves, and the diagonal goes into the softmax",
            f"it is the largest score in {_share_itself(found):.0%} of the rows at first and in "
            f"{_share_itself(end):.0%} by the last steps, and counts as a wrong answer",
            f"with a column that is never less similar, no row costs less than {math.log(2):.3f}",
            where=found.choice.where,
            proof=Proof.REPLAYED,
            places=[("the similarities", found.product.where)],
            remedy=mended(trace.snapshot, {found.choice.number: _masked(trace, eye)}),
        )
        return


def _meets_itself(case: Case, found: Contrast) -> bool:
    return found.itself and _share_itself(found) >= case.limit("largest")


def _share_itself(found: Contrast) -> float:
    return float((found.scores.argmax(axis=1) == np.arange(len(found.scores))).mean())


def _costs(trace: Trace, found: Contrast, more: Any) -> bool:
    """Whether the loss is higher with larger similarities of rows with themselves."""
    given = trace.array(found.choice.inputs[0])
    raised = tensor_like(trace.engine, (given + more).astype(given.dtype))
    again = trace.again(instead={found.choice.number: {0: raised}}, backward=False)
    return again.error is None and again.loss > trace.loss


def _masked(trace: Trace, eye: Any) -> Callable[..., Any]:
    mask = tensor_like(trace.engine, np.where(eye > 0, -np.inf, 0).astype(np.float32))
    return lambda inner: lambda scores, *rest, **named: inner(scores + mask, *rest, **named)


@rule(
    thresholds={
        **REHEARSED,
        "elsewhere": (0.5, "of the labels that name another column than the row's own"),
        "guess": (0.9, "of what guessing costs: the run has not found out what belongs together"),
    }
)
def mismatched_pairs(case: Case, course: Course) -> Iterator[Finding]:
    """The labels of a contrastive loss do not belong to the pairs.

    Row i of one batch belongs to row i of the other, so the label of row i is i. With labels that
    are all zero, or drawn, the loss asks for pairs that have nothing in common.

    Measured: The labels against the numbers of the rows, and a short training from the first state
    with those numbers as labels, compared on batches that were held out with the run, which stays
    at what guessing costs.
    Fix: labels = torch.arange(len(logits)).
    Guardrail: assert (labels == torch.arange(len(logits))).all()
    """
    found = [each for _, each in _found(case, course.first) if _is_elsewhere(case, each)]
    end = [each for _, each in _found(case, course.last) if _is_elsewhere(case, each)]
    if not found or not end or case.progress(course).gain >= case.limit("well"):
        return
    stage = stage_of(case, course)
    if stage is None or stage.level < case.limit("guess") * found[0].guess:
        return
    control = stage.as_it_was()
    trained, held_out = (
        [_renumbered(case, each) for each in group] for group in (stage.trained, stage.held_out)
    )
    descent = train(case.budget, course, trained, steps=stage.steps, clip=stage.clip)
    if descent is None or control is None or not math.isfinite(descent.losses[-1]):
        return
    reached = statistics.fmean(
        case.budget.replay(each, values=descent.values, backward=False).loss for each in held_out
    )
    if not reached <= case.limit("lower") * min(stage.level, found[0].guess):
        return
    labels = found[0].target
    assert labels is not None
    same = labels.min() == labels.max()
    yield mismatched_pairs.finding(
        f"the labels of {found[0].choice.op} at {found[0].choice.spot} "
        + (f"are all {labels[0]}" if same else "are not the numbers of the rows")
        + f", where {len(labels)} rows choose among {found[0].scores.shape[1]} columns",
        f"{stage.steps} updates from the first state with the numbers of the rows as labels: loss "
        f"{reached:.4g} on batches left out of them; with the labels as they were "
        f"{control.held_out:.4g}, after the whole run {stage.reached:.4g}; guessing costs "
        f"{found[0].guess:.4g}",
        where=found[0].choice.where,
        proof=Proof.TRIED,  # the labels themselves may come from anywhere
    )


def _is_elsewhere(case: Case, found: Contrast) -> bool:
    labels = found.target
    if labels is None or found.itself or found.scores.shape[0] != found.scores.shape[1]:
        return False
    if len(labels) != len(found.scores):
        return False
    return float((labels != np.arange(len(labels))).mean()) >= case.limit("elsewhere")


def _renumbered(case: Case, snapshot: Snapshot) -> Snapshot:
    """The step with the number of each row as its label."""
    trace = case.budget.replay(snapshot, backward=False)
    changes = {}
    for each in contrasts(trace):
        if each.target is not None:
            own = np.arange(len(each.target)).astype(each.target.dtype)
            changes[each.choice.number] = _labelled(tensor_like(trace.engine, own))
    return swapped(snapshot, changes)


def _labelled(own: Any) -> Callable[..., Any]:
    return lambda inner: lambda scores, labels, *rest, **named: inner(scores, own, *rest, **named)
