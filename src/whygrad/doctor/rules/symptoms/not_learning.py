"""A run that learned nothing, when no other rule can say why.

"It ran through" is not "it is well".  At the end the loss is laid beside what is known without a
model.  What is no measure of learning is left alone: the loss of players against each other, of a
policy, of a model that was good from the start, of data that are noise and say so.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

import numpy as np

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.evidence.curve import thirds
from whygrad.doctor.evidence.loss.exchange import exchanged
from whygrad.doctor.evidence.progress import is_entangled, take_turns
from whygrad.doctor.evidence.provenance import chosen_draws, has_moving_targets
from whygrad.doctor.evidence.standing import Standing, batches_of, is_noise, standing_of
from whygrad.doctor.rules.rule import Finding, Proof, rule
from whygrad.doctor.rules.suspects import BY_HEART, suspects_of
from whygrad.doctor.rules.symptoms.generalization import all_series
from whygrad.doctor.rules.symptoms.small_rate import begins_trained
from whygrad.doctor.source.lines import asks_for_whole_rows
from whygrad.doctor.source.reader import source_of
from whygrad.recording.record import Course

__all__: list[str] = []

_GAME = re.compile(r"\blog_prob\((.|\n)*\.step\(\w*a|\.step\(\w*a(.|\n)*\blog_prob\(")


@rule(
    severity=3,
    last=True,
    thresholds={
        "steps": (30, "updates: fewer are too few to tell"),
        "near": (0.96, "of what ignoring the input costs: no better than that"),
        "many": (200, "updates: so many would have found a strong signal"),
        "hardly": (0.985, "of it, where no suspect but the batch is alarming: a weak signal"),
        "began": (0.9, "of it: a model that began lower was trained before"),
        "trained": (0.5, "of it, for the first batch alone: the same"),
        "something": (0.05, "of it that can be learned at all"),
        "still": (0.01, "of the loss by which it may have changed: it is where it was"),
        "falling": (0.05, "of the loss in the last third of the run: it is under way"),
        "fallen": (0.05, "of the loss by hand: one that fell more has learned something"),
        "exchanged": (0.02, "of the loss by which it may rise when answers are exchanged"),
        "learned": (0.7, "of what ignoring the input costs, where other samples are looked at"),
        "above": (
            1.1,
            "times it: a loss above that is of another kind, or of a model that is too sure",
        ),
        "evaluations": (3, "values of a figure: fewer must be at chance to the digit"),
        "guess": (1.2, "times the share of the largest class: right by guessing"),
        "same": (0.5, "of the loss by which a part of it may differ from the whole"),
        "last": (0.2, "of the losses: where the run ended"),
        "times": (100, "by which another rate is to be tried"),
        "small": (1e-5, "of a weight that an update changes: next to nothing"),
        "large": (0.1, "of a weight that an update changes: it is thrown about"),
        "unseen": (0.5, "of the places of the input that nothing is computed from"),
        "places": (3, "of the others that are named"),
        "alike": (1e-3, "of their size by which outputs differ between samples: hardly"),
        "window": (5, "losses in a row whose median is a usual one"),
        "lost": (0.8, "of the first and the last usual loss: below it something had been learned"),
        "momentum": (0.95, "above which a gradient moves the weights twenty times over"),
        "deaf": (1e-8, "of the largest gradient: nothing arrives there"),
        "by heart": (0.5, "of the loss of one batch: it can learn one by heart"),
        "updates": (40, "of the experiment that tries to"),
        "samples": (40, "whose nearest neighbours say whether there is anything to learn"),
        "signal": (1.5, "times the share of the largest class that neighbours get right"),
        "scale": (30.0, "size of the inputs, or one over it: far from one"),
    },
)
def not_learning(case: Case, course: Course) -> Iterator[Finding]:
    """The model did not learn; the cause was not found.

    At the end the loss is where an answer that ignores the input would be, or where it was at the
    beginning. No rule has proved why. The usual reasons are measured and told in the order in
    which they are suspected; the first is what to try first.

    Measured: The loss of the batches that were kept, with the latest weights, against that of the
    best constant: the frequencies of the labels, the mean of each output element, the mean of soft
    targets; and against the first loss. Of losses by hand, against the loss of the same answers,
    each given to another sample. Losses and accuracies on other samples, if the program computes
    any. Asked only when all other rules are silent, and of losses that measure learning.
    Fix: Try to learn a single batch by heart: if that fails, it is the model, the loss or the rate;
    if it succeeds, look at the data.
    Guardrail: assert loss.item() < 0.9 * baseline, 'no better than ignoring the input'
    """
    if course is not case.courses[0] or not _is_measure(case, course):
        return
    standing = standing_of(case, course)
    said = _at_chance(case, course, standing) or _at_its_start(case, course, standing)
    if said is None:
        said = (
            _of_no_sample(case, course)
            if standing is None
            else _only_on_its_own(case, course, standing)
        )
    if said is None:
        return
    suspects = sorted(suspects_of(case, course), key=lambda each: not each.alarming)
    signal = any(each.name == "the data" and not each.alarming for each in suspects)
    first = suspects[0] if suspects and suspects[0].alarming else None
    if (first is None or first.name == BY_HEART) and _found_a_little(case, course, standing):
        return
    title = (
        not_learning.title
        if first is None
        else f"The model did not learn; first suspect: {first.name}"
    )
    yield not_learning.finding(
        said,
        *(f"{each.name}: {each.measured}" for each in suspects),
        title=title,
        where=(first and first.where) or course.steps[-1].where,
        proof=Proof.INFERRED if signal else Proof.USUAL,
        fix=f"Try first: {suspects[0].remedy}" if suspects else not_learning.fix,
        data={"suspects": [each.name for each in suspects]},
    )


def _found_a_little(case: Case, course: Course, standing: Standing | None) -> bool:
    """Whether it ends a little below what ignoring the input costs.

    That is perhaps all there is to know, or all that a short run comes to.  Whether such a run is
    well is left open (:mod:`whygrad.doctor.verdict.doubt`).
    """
    if standing is None:
        return False
    reached = standing.reached
    if len(course.steps) >= case.limit("many"):  # of fewer the last losses are few
        reached = min(reached, _end(case, course, standing))
    return reached < case.limit("hardly") * standing.constant


def _is_measure(case: Case, course: Course) -> bool:
    """Whether the loss of a course says how much was learned."""
    progress = case.progress(course)
    if progress.broken or progress.steps < case.limit("steps") or case.went_bad is not None:
        return False
    if is_entangled(course, case.courses) or begins_trained(case, course, case.limit("trained")):
        return False
    if _takes_part_in_a_game(course, case.courses):
        return False
    known = batches_of(case, course)
    if any(chosen_draws(each.trace) for each in known):
        return False  # the loss of a policy
    return bool(known) and not any(map(has_moving_targets, known)) and not is_noise(known[0])


def _takes_part_in_a_game(course: Course, courses: list[Course]) -> bool:
    """Whether a model is trained in turns with a policy, by the text: its answers depend on it."""
    turns = any(each is not course and take_turns(course, each) for each in courses)
    where = course.steps[0].where
    return turns and where is not None and _GAME.search(source_of(where).text) is not None


def _at_chance(case: Case, course: Course, standing: Standing | None) -> str | None:
    """The end is no better than the best constant, and was not on its way below it."""
    if standing is None or not _has_something(case, standing):
        return None
    progress = case.progress(course)
    reached = min(standing.reached, _end(case, course, standing))
    if reached < case.limit("near") * standing.constant or _is_falling(case, course):
        return None
    return (
        f"the loss went from {progress.opening:.4g} to {progress.end:.4g} in {progress.steps} "
        f"steps; on the batches that were kept it ends at {standing.reached:.4g}, where the best "
        f"answer that ignores the input costs {standing.constant:.4g}"
    )


def _end(case: Case, course: Course, standing: Standing) -> float:
    """The mean of the last losses of the run, where they are losses of the same kind.

    The usual loss of small batches is below their mean, which is what a constant is judged by.
    """
    same = math.isclose(case.progress(course).first, standing.first, rel_tol=case.limit("same"))
    losses = course.losses
    last = max(1, int(len(losses) * case.limit("last")))
    return float(np.mean(losses[-last:])) if same else standing.reached


def _has_something(case: Case, standing: Standing) -> bool:
    rest = standing.constant - standing.floor
    if standing.first < case.limit("began") * standing.constant:
        return False
    return rest > case.limit("something") * standing.constant > 0


def _is_falling(case: Case, course: Course) -> bool:
    parts = thirds(course.losses)
    return parts is None or parts[2] < parts[1] - case.limit("falling") * abs(parts[1])


def _of_no_sample(case: Case, course: Course) -> str | None:
    """Of a loss by hand: what the model says of one sample fits any other as well."""
    progress = case.progress(course)
    if (
        not progress.opening > 0
        or progress.gain > case.limit("fallen")
        or _is_falling(case, course)
    ):
        return None
    found = exchanged(case, course)
    if found is None or found.lost > case.limit("exchanged"):
        return None
    return (
        f"the loss went from {progress.opening:.4g} to {progress.end:.4g} in {progress.steps} "
        f"steps; on the batches that were kept it ends at {found.own:.4g}, and at "
        f"{found.others:.4g} where each sample gets what the model says of another: it says the "
        "same of all"
    )


def _at_its_start(case: Case, course: Course, standing: Standing | None) -> str | None:
    """The end is the beginning, for the same batch too; of a loss that can be made small."""
    progress, still = case.progress(course), case.limit("still")
    if standing is not None and not _has_something(case, standing):
        return None
    reading = batches_of(case, course)[0]
    if reading.target is None and not reading.losses:
        return None
    if not progress.opening > 0 or math.isnan(progress.pair):
        return None
    if max(abs(progress.curve), abs(progress.pair)) > still:
        return None
    return (
        f"{progress.steps} steps left the loss where it was: {progress.start:.5g} at first, "
        f"{progress.end:.5g} at the end; of the first batch {progress.first:.5g} and "
        f"{progress.latest:.5g}"
    )


def _only_on_its_own(case: Case, course: Course, standing: Standing) -> str | None:
    """Its own samples are learned, and others were no better than by chance all the time."""
    if standing.reached > case.limit("learned") * standing.constant:
        return None
    if not _has_something(case, standing):
        return None
    found, steps = None, len(course.steps)
    for series in all_series(case, course):
        values = np.array(series.values)
        if series.after[-1] < case.limit("began") * steps:
            continue  # it says nothing about the end
        few = len(values) < case.limit("evaluations")
        if series.correct:
            better = case.limit("guess") * standing.share
            if few or not better < 1:  # where one answer is nearly always right, none is better
                continue
            if asks_for_whole_rows(series.where):
                continue
            if values.max() > better:
                return None
            found = (
                found
                or f"accuracy {values[-1]:.1%} on other samples, {standing.share:.1%} "
                "for the most frequent answer"
            )
        else:
            if values.min() < case.limit("near") * standing.constant:
                return None
            if values[-1] > case.limit("above") * standing.constant:
                continue
            found = (
                f"a loss of {values[-1]:.4g} on other samples, {standing.constant:.4g} for "
                "the best answer that ignores the input"
            )
    if found is None:
        return None
    return f"the loss of its own samples is {standing.reached:.4g} at the end, but there is {found}"
