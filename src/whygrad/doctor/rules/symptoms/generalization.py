"""A model that gets better on its own samples and worse on others.

Losses and accuracies that the program computes beside training are its own measurements of this;
they are grouped by the line that computes them and laid beside the training loss.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.evidence.curve import ending, tenth
from whygrad.doctor.evidence.progress import is_entangled
from whygrad.doctor.experiments.unseen import loss_of_unseen
from whygrad.doctor.rules.data.held_out import preprocessing_mismatch
from whygrad.doctor.rules.rule import Finding, Proof, rule
from whygrad.doctor.source.lines import (
    compares,
    is_printed,
    is_ratio_of_means,
    names_at,
    weights_restored,
)
from whygrad.doctor.source.naming import held_out_name, made_from
from whygrad.recording.record import Course, Evaluation
from whygrad.source import Where
from whygrad.why.dataflow import statement_at
from whygrad.why.syntax import covers

__all__ = ["all_series", "overfitting"]

# Of all means of zeros and ones, those that compare answers with labels.
_ACCURACY = re.compile(r"acc|correct", re.IGNORECASE)
# Of all other means, those that are better the lower they are, by what a program calls them.
_LOSS = re.compile(
    r"loss|err|cost|mse|mae|nll|bce|ppl|perplex|entropy|residual|energy|objective|total"
    r"|(^|_)(ce|kl|l1|l2)(_|$)",
    re.IGNORECASE,
)
_DISTANCE = re.compile(r"\*\* ?2|\bpow\(|square|\babs\(|\blog")  # … or by what it computes

Losses = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(eq=False)
class _Series:
    """A figure over the course of a run: one value for each time that it was computed."""

    where: Where
    correct: bool  # a fraction of right answers: more is better
    after: list[int]  # how many updates of the course there had been
    values: list[float]
    latest: list[float]  # those that the last value is the mean of


@rule(
    severity=1,
    thresholds={
        "rise": (1.4, "times the best validation loss"),
        "apart": (4.0, "times the training loss"),
        "evaluations": (4, "values of a figure: fewer are no course"),
        "fall": (0.1, "of accuracy that is lost again"),
        "by heart": (0.05, "of the loss of knowing nothing"),
        "accuracy": (0.75, "on other samples, below which they are not known"),
        "sets": (4, "accuracies of one time at most: more are those of batches …"),
        "different": (0.3, "… and the difference between those of different sets"),
        "losses": (10, "updates: fewer know nothing by heart"),
        "end": (0.8, "of the updates that a figure must cover to speak of the end"),
        "classes": (20, "different targets, or one in four: more are measurements"),
        "samples": (0.25, "as many different targets as samples at most: the same"),
        "lines": (100, "with comparisons: of more they are not all kept"),
        "guess": (0.7, "of one over the classes: an accuracy is not below"),
        "near": (5, "updates around the first value of a figure"),
        "alike": (3, "times the training loss of that time: it measures the same"),
        "late": (0.33, "of the updates: a figure that begins later is not compared"),
        "meanwhile": (0.7, "of the training loss at the best value: it went on falling"),
        "known": (0.25, "of the loss of knowing nothing, where accuracy is what falls"),
        "worse": (1.2, "times what ignoring the input costs, on other samples"),
        "times": (10, "the training loss at least"),
        "unseen": (0.35, "of the best validation loss, for new samples of the training set …"),
        "bad": (0.3, "… where that is above this part of what ignoring the input costs"),
    },
    cleared=lambda case: _validation(case),
)
def overfitting(case: Case, course: Course) -> Iterator[Finding]:
    """What is learned does not hold for other samples.

    The training loss goes on falling while the loss on other samples rises: what is learned no
    longer holds beyond the training set. The usual reason is a model that learns its samples by
    heart; others are samples that are prepared, masked or judged otherwise than in training.

    Measured: Losses and accuracies that the program computes without training on them, by line,
    against the training loss at the same time: their best value and their last.
    Fix: See that other samples are prepared and judged as in training; then stop at the best
    validation loss, and use more data, a smaller model or weight decay.
    Guardrail: if val_loss < best: best, state = val_loss, copy.deepcopy(model.state_dict())
    """
    if case.went_bad is not None:
        return
    losses = np.array(case.healthy_losses(course))
    # A loss that goes below zero has no floor to compare with.
    if len(losses) < case.limit("losses") or losses.min() < 0 or is_entangled(course, case.courses):
        return
    if weights_restored(case.run.passes[-1].where) or _put_back(case, course):
        return  # to some that were kept: the end is not the end
    for series in all_series(case, course):
        if series.after[-1] < case.limit("end") * len(losses):
            continue  # it says nothing about the end
        if _is_of_several(case, series):
            continue
        if series.correct:
            if not _is_accuracy(case, course, series):
                continue
        elif is_ratio_of_means(series.where) or not _begins_alike(case, series, losses):
            continue
        found = _turned(case, course, series, losses) or _apart(case, course, series, losses)
        if found is None:
            continue
        other = _of_another_kind(case, course, series)
        if other is not None:
            yield other
            return
        model = next((where for _, _, where in case.run.roots if where is not None), None)
        yield overfitting.finding(
            *found.evidence,
            where=model or series.where,
            step=found.after,
            proof=found.proof,
            fix=(
                "First see that these samples are prepared, masked and judged exactly as in "
                f"training. If so: {found.advice} More training samples, dropout, weight_decay or "
                "fewer units keep the two together for longer."
            ),
            places=[("measured here", series.where)],
        )
        return


@dataclass(eq=False)
class _Found:
    """How a figure speaks against what the training loss says."""

    after: int  # passes
    evidence: list[str]
    proof: Proof
    advice: str


def _counts_right(where: Where) -> bool:
    """Whether a line asks how many answers are right, by what it compares or by its names."""
    named = any(map(_ACCURACY.search, names_at(where)))
    return compares(where) or (named and not is_printed(where))


def _is_loss(where: Where) -> bool:
    """Whether a statement says, or the function that it stands in, that it is about a loss.

    An overlap or a likeness is a mean as well, and better the higher it is.
    """
    named = any(map(_LOSS.search, (where.code.co_name, *names_at(where))))
    return named or _DISTANCE.search(where.text) is not None


def _put_back(case: Case, course: Course) -> bool:
    """Whether weights that had been kept were put back after the last update."""
    return any(
        each.kind == "module" and not each.own and each.after > course.used
        for each in case.run.restored
    )


def all_series(case: Case, course: Course) -> Iterator[_Series]:
    """What the program measured of its model, line by line."""
    training = set()
    for snapshot in (each for of in case.courses for each in (of.first, of.last)):
        reading = case.reading(snapshot)
        if reading is not None:
            training |= {str(each.where) for each in reading.losses}
            training |= {str(each.where) for each in [reading.meeting, reading.trace.root] if each}
    lines: dict[tuple[str, bool], list[tuple[int, Evaluation]]] = {}
    # Losses with a graph may be those of training; those without are not, whatever their line.
    passes = case.run.passes
    figures = [
        each
        for each in case.run.figures
        if str(each.where) not in training
        and not (each.after < len(passes) and passes[each.after].value == each.value)
    ]
    figures = [each for each in figures if each.correct or _is_loss(each.where)]
    last = [step.passes[-1].number for step in course.steps if step.passes]
    for each in (*case.run.evaluations, *figures):
        updates = _updates_before(last, each)
        if updates is None or not math.isfinite(each.value):
            continue
        if not each.correct or _counts_right(each.where):
            lines.setdefault((str(each.where), each.correct), []).append((updates, each))
    for found in lines.values():
        rounds: dict[int, list[float]] = {}
        for updates, each in found:
            rounds.setdefault(updates, []).append(each.value)
        values = [float(np.mean(each)) for each in rounds.values()]
        latest = list(rounds.values())[-1]
        yield _Series(found[0][1].where, found[0][1].correct, list(rounds), values, latest)


def _updates_before(last: list[int], each: Evaluation) -> int | None:
    """How many updates a course had made; None for what was computed before or after its time.

    ``last`` are the last passes of its updates.  A program that trains one model after another
    measures the one that it is at.
    """
    if not last or each.after > last[-1] + 1:
        return None
    done = bisect_left(last, each.after)
    return done if done or each.after == 0 else None


def _is_of_several(case: Case, series: _Series) -> bool:
    """Whether the line, or its function, asks more than one model: each has a course of its own."""
    asked = {
        id(each.module) for each in case.run.fed.values() if each.where.code is series.where.code
    }
    return series.where.code.co_name != "<module>" and len(asked) > 1


def _is_accuracy(case: Case, course: Course, series: _Series) -> bool:
    """Whether a fraction can be one of right answers: guessing makes it one over the classes.

    Other fractions (of positives, of samples that are flagged) go below that and mean no harm.
    """
    reading = case.reading(course.last)
    if reading is None or reading.prediction is None or reading.target is None:
        return False
    if _compares_gaps(case, series.where) or _compares_data(case, series.where):
        return False
    target = reading.trace.array(reading.target)
    labels = target.dtype.kind in "iu" and reading.prediction.ndim > 1
    classes = reading.prediction.shape[1] if labels else len(np.unique(target))
    most = max(case.limit("classes"), case.limit("samples") * target.size)
    return classes <= most and min(series.values) >= case.limit("guess") / max(2, classes)


def _compares_data(case: Case, where: Where) -> bool:
    """Whether a statement compares data among themselves, as labels with the most frequent one.

    Where answers of a model are compared, the first times are kept, up to a number of lines.
    """
    statement, known = statement_at(where), {str(each.where) for each in case.run.comparisons}
    if statement is None or not compares(where) or len(known) >= case.limit("lines"):
        return False
    return not any(
        each.where.file == where.file and covers(statement, each.where.line)
        for each in case.run.comparisons
    )


def _compares_gaps(case: Case, where: Where) -> bool:
    """Whether some labels are no class, as at places that are filled up: no answer equals them."""
    compared = [each.sides for each in case.run.comparisons if str(each.where) == str(where)]
    return any(
        min(each.range.low for each in sides) < 0 <= max(each.range.low for each in sides)
        for sides in compared
        if sides
    )


def _begins_alike(case: Case, series: _Series, losses: Losses) -> bool:
    """Whether a figure starts near the training loss of that time: then it measures the same."""
    at = min(series.after[0], len(losses) - 1)
    near, alike = int(case.limit("near")), case.limit("alike")
    around = losses[max(0, at - near) : at + near + 1]
    return (
        series.after[0] > case.limit("late") * len(losses)
        or around.min() / alike <= series.values[0] <= alike * around.max()
    )


def _turned(case: Case, course: Course, series: _Series, losses: Losses) -> _Found | None:
    """The figure was better once, and got worse while the training loss went on falling."""
    values = np.array(series.values)
    best = int(values.argmax() if series.correct else values.argmin())
    last = ending(values)
    after = series.after[best]
    before = losses[max(0, after - tenth(losses) - 1) : max(after, 1)]
    train_best, train_last = float(np.mean(before)), ending(losses)
    few = len(values) < case.limit("evaluations") or best >= len(values) - 2
    if few or train_last >= case.limit("meanwhile") * train_best:
        return None
    if series.correct:
        by_heart = train_last <= case.limit("known") * _beginning(case, course, losses)
        if values[best] - last < case.limit("fall") or not by_heart:
            return None
        said = f"accuracy {values[best]:.1%} after {after} steps, {last:.1%} at the end"
    else:
        lowest = float(values[best])
        far = last >= max(case.limit("rise") * lowest, case.limit("apart") * train_last)
        if lowest <= 0 or not far:
            return None
        said = f"validation loss {lowest:.4g} after {after} steps, {last:.4g} at the end"
    meanwhile = f"training loss {train_best:.4g} at that time, {train_last:.4g} at the end"
    advice = f"The best model was there after {after} steps: keep those weights, and stop there."
    return _Found(after, [said, meanwhile], Proof.USUAL, advice)


def _apart(case: Case, course: Course, series: _Series, losses: Losses) -> _Found | None:
    """The training samples are known by heart, and others no better than by guessing."""
    train_last = ending(losses)
    if train_last > case.limit("by heart") * _beginning(case, course, losses):
        return None
    last = ending(np.array(series.values))
    level = case.chance(course.last)
    if series.correct:
        if last > case.limit("accuracy"):
            return None
        several = len(series.latest) <= case.limit("sets")
        if several and np.ptp(series.latest) > case.limit("different"):
            return None  # of several sets of samples, one of which is known
        said = f"accuracy {last:.1%} on samples that it was not trained on"
    elif level is not None and last >= max(
        case.limit("worse") * level, case.limit("times") * train_last
    ):
        said = f"validation loss {last:.4g}; an answer that ignores the input costs {level:.4g}"
    else:
        return None
    fell = f"training loss from {losses[0]:.4g} to {train_last:.4g}"
    advice = "The model has room to store every sample."
    return _Found(series.after[0], [said, fell], Proof.USUAL, advice)


def _of_another_kind(case: Case, course: Course, series: _Series) -> Finding | None:
    """Training samples that are new to a model are known: the others were prepared otherwise."""
    unseen = None if series.correct else loss_of_unseen(case, course)
    if unseen is None:
        return None
    (stage, loss), best = unseen, min(series.values)
    chance = case.chance(course.last)
    if loss > case.limit("unseen") * best or (chance and best < case.limit("bad") * chance):
        return None
    fed = [
        each
        for each in case.run.fed.values()
        if each.where.code is series.where.code and not each.recorded
    ]
    name = held_out_name(fed[0].callers) if fed else None
    if name is None:
        return None
    return preprocessing_mismatch.finding(
        f"{stage.steps} updates from the first state, on {len(stage.trained)} of the kept batches, "
        f"bring the loss of training samples that are not among them to {loss:.4g}",
        f"{name} never cost less than {best:.4g}, and {series.values[-1]:.4g} at the end: what is "
        "learned holds for new samples, but not for these",
        where=made_from(series.where.file, name) or series.where,
        proof=Proof.TRIED,
        places=[("measured here", series.where)],
        fix=f"Prepare {name} exactly as the training samples: the same vocabulary, columns, order "
        "of classes, scale and statistics.",
    )


def _beginning(case: Case, course: Course, losses: Losses) -> float:
    """The loss of knowing nothing: a first loss far above that leaves room for a fall to it."""
    level = case.chance(course.last)
    return float(losses[0]) if level is None else min(level, float(losses[0]))


def _validation(case: Case) -> str | None:
    for course in case.courses[:1]:
        for series in all_series(case, course):
            best = min(series.values)
            worst = best + (case.limit("rise") - 1) * abs(best)
            if not series.correct and series.values[-1] <= worst:
                return f"validation loss {best:.3g} at best and {series.values[-1]:.3g} at the end"
    return None
