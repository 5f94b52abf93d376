"""Forms of ``metric-bug`` about what a model answers: probabilities, ranks, errors of batches."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterator

import numpy as np

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.rules.rule import Finding, Proof
from whygrad.doctor.source.judging.ranking import lowest_as_best
from whygrad.doctor.source.judging.roots import roots_of_batches
from whygrad.doctor.source.reader import called, covers, source_of
from whygrad.ops import families as ops
from whygrad.recording.evaluation import Comparison
from whygrad.source import Where

__all__ = ["losses_of", "misread", "one_sided_threshold"]

_Tell = Callable[..., Finding]
_LARGEST_TWICE = 1 / (1 + math.exp(-1))  # the sigmoid of the largest probability


def one_sided_threshold(case: Case, seen: list[Comparison], tell: _Tell) -> Finding | None:
    """Probabilities that are all on one side of what they are compared with."""
    half = case.limit("half")
    if not _answers_probabilities(case):
        return None
    for each in seen:
        answers = each.sides[0]
        if each.op not in ops.ORDERINGS or len(each.sides) != 1 or answers.steps is None:
            return None
        if answers.range.size < case.limit("samples") or 0 < each.agreed < 1:
            return None
        twice = ops.SIGMOIDS.any_of(answers.steps)
        low, high = (half, _LARGEST_TWICE) if twice else (0.0, 1.0)
        if each.number != low or answers.range.low < low or answers.range.high > high + half / 100:
            return None
    ranges, twice = seen[0].sides[0].range, ops.SIGMOIDS.any_of(seen[0].sides[0].steps or ())
    return tell(
        f"{ranges.size} answers from {ranges.low:.3g} to {ranges.high:.3g} are compared with "
        f"{seen[0].number:g}: all are on one side of it, as any other would be",
        "the model is trained with a loss of probabilities: what it answers is one already, and "
        "a sigmoid of that is never below 0.5"
        if twice
        else "the model is trained with a loss of probabilities: none is below 0",
        where=(_squashed_at(seen[0].where) if twice else None) or seen[0].where,
        step=seen[0].after,
        proof=Proof.RECORDED,
        fix="Compare what the model answers with 0.5, without another sigmoid.",
    )


def _answers_probabilities(case: Case) -> bool:
    """Whether the very answers of the model go into a loss of probabilities."""
    for course in case.courses[:1]:
        reading = case.reading(course.last)
        call = None if reading is None else reading.loss_call
        if reading is None or call is None or call.op not in ops.BINARY_CROSS_ENTROPY:
            return False
        taken = reading.trace.array(reading.prediction).ravel()
        answers = [reading.trace.array(each).ravel() for each in reading.outputs]
        return any(np.array_equal(each, taken) for each in answers)
    return False


def _squashed_at(where: Where) -> Where | None:
    """The line of the last sigmoid up to a place, in the same function."""
    source = source_of(where)
    lines = [
        each.lineno
        for each in source.nodes(ast.Call)
        if each.lineno <= where.line and called(each) in ops.SIGMOIDS
    ]
    found = source.place(max(lines)) if lines else None
    return found if found is not None and found.function == where.function else None


def losses_of(case: Case) -> set[str]:
    """The loss functions that the program trains with."""
    readings = [case.reading(course.last) for course in case.courses[:2]]
    return {each.op for reading in readings if reading is not None for each in reading.losses}


def misread(case: Case, tell: _Tell) -> Iterator[Finding]:
    """What the text ranks from the wrong end, and the means of roots that it takes."""
    files = dict.fromkeys(each.where.file for each in case.run.fed.values())
    for file in files:
        yield from _lowest(case, file, tell)
        yield from _roots(case, file, tell)


def _lowest(case: Case, file: str, tell: _Tell) -> Iterator[Finding]:
    upward = any(
        op in ops.CLASS_LOSSES or op in ops.BINARY_WITH_LOGITS or op in ops.PROBABILITY_LOSSES
        for op in losses_of(case)
    )
    answered = {each.where.line for each in case.run.fed.values() if each.where.file == file}
    for each in lowest_as_best(file) if upward else ():
        if each.made in answered:
            yield tell(
                f"`{each.name}` are the lowest of `{each.scores}`: a ranking rises unless it is "
                "told otherwise",
                f"`{each.scores}` is what the model answers, and it is trained to answer more "
                "where it is sure",
                where=each.where,
                proof=Proof.INFERRED,
                fix=f"Take the other end: {each.scores}.topk(k), or np.argsort(-{each.scores}).",
            )


def _roots(case: Case, file: str, tell: _Tell) -> Iterator[Finding]:
    for each in roots_of_batches(file):
        inside = [
            one
            for one in (*case.run.evaluations, *case.run.figures)
            if one.where.file == file and covers(each.loop, one.where.line) and not one.correct
        ]
        last = [one.value for one in inside if one.after == inside[-1].after]
        if len(last) < case.limit("epochs") or min(last) < 0:
            continue
        roots = sum(map(math.sqrt, last)) / len(last)
        root = math.sqrt(sum(last) / len(last))
        if root > case.limit("roots") * roots > 0:
            yield tell(
                f"`{each.name}` gets the root of the mean square of each batch, and its mean is "
                "taken: a mean of roots is below the root of the mean",
                f"the last time it was {roots:.4g} over {len(last)} batches, where that of all "
                f"samples is {root:.4g}",
                where=each.where,
                proof=Proof.INFERRED,
                fix="Add up squares and samples over all batches, and take one root at the end.",
            )
