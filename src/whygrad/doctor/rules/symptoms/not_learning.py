"""A run that learned nothing, when no other rule can say why.

"It ran through" is not "it is well".  At the end the loss is laid beside what is known without a
model.  What is no measure of learning is left alone: the loss of players against each other, of a
policy, of a model that was good from the start, of data that are noise and say so.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.evidence.curve import thirds
from whygrad.doctor.evidence.loss.exchange import exchanged
from whygrad.doctor.evidence.progress import is_entangled, relative_updates
from whygrad.doctor.evidence.provenance import given_inputs, has_moving_targets
from whygrad.doctor.evidence.standing import Standing, batches_of, is_noise, standing_of
from whygrad.doctor.experiments.influence import seen_places
from whygrad.doctor.rules.rule import Finding, Proof, rule
from whygrad.doctor.rules.symptoms.generalization import all_series
from whygrad.doctor.rules.symptoms.small_rate import begins_trained
from whygrad.recording.record import Course
from whygrad.recording.replay.optimizers import rate_of
from whygrad.recording.replay.reading import Reading
from whygrad.source import Where

__all__: list[str] = []


@dataclass(frozen=True)
class _Suspect:
    """A usual reason, what was measured for it, and what to try."""

    name: str
    measured: str
    alarming: bool
    remedy: str
    where: Where | None = None


@rule(
    severity=3,
    last=True,
    thresholds={
        "steps": (30, "updates: fewer are too few to tell"),
        "near": (0.96, "of what ignoring the input costs: no better than that"),
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
    suspects = sorted(_suspects(case, course), key=lambda each: not each.alarming)
    signal = any(each.name == "the data" and not each.alarming for each in suspects)
    first = suspects[0] if suspects and suspects[0].alarming else None
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


def _is_measure(case: Case, course: Course) -> bool:
    """Whether the loss of a course says how much was learned."""
    progress = case.progress(course)
    if progress.broken or progress.steps < case.limit("steps") or case.went_bad is not None:
        return False
    if is_entangled(course, case.courses) or begins_trained(case, course, case.limit("trained")):
        return False
    known = batches_of(case, course)
    return bool(known) and not any(map(has_moving_targets, known)) and not is_noise(known[0])


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
            if math.isnan(standing.share) or few:
                continue
            if values.max() > case.limit("guess") * standing.share:
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


# --- suspects -------------------------------------------------------------------------------------


def _suspects(case: Case, course: Course) -> Iterator[_Suspect]:
    known = batches_of(case, course)
    yield from _about_frozen(case, course)
    yield from _about_places(case, known[-1])
    yield from _about_gradients(case, course, known[-1])
    yield from _about_updates(case, course)
    yield from _about_outputs(case, known[-1])
    yield from _about_inputs(case, known[0])
    yield from _about_one_batch(case, course)
    yield from _about_data(case, known)


def _about_frozen(case: Case, course: Course) -> Iterator[_Suspect]:
    """Parts of the model that do not learn, and that nothing was written to."""
    used = set() if course.first is None else {id(each) for each in course.first.used}
    frozen = [
        each
        for each in case.parameters()
        if not (each.requires_grad or each.changed or each.given) and id(each.tensor) in used
    ]
    if not frozen:
        return
    where = frozen[0].frozen_at
    at = "" if where is None else f" at line {where.line}"
    yield _Suspect(
        "what is frozen", f"{len(frozen)} parameters do not learn, {frozen[0].name} first, and "
        "nothing was loaded into them", True,
        f"let {frozen[0].name} learn: it is switched off{at}.", where,
    )  # fmt: skip


def _about_places(case: Case, last: Reading) -> Iterator[_Suspect]:
    """Places of the input that nothing is computed from."""
    for axis, seen in seen_places(last):
        unseen = float(1 - seen.mean())
        if unseen < case.limit("unseen") or len(seen) < 2:
            continue
        places = [int(each) for each in np.flatnonzero(seen)[: int(case.limit("places"))]]
        yield _Suspect(
            "what is seen", f"of the {len(seen)} places along axis {axis} of the input, the loss "
            f"depends on {int(seen.sum())}: {', '.join(map(str, places))}", True,
            f"let the output depend on the whole input: look where axis {axis} is indexed, and "
            "whether a recurrent layer or attention lacks batch_first=True.",
        )  # fmt: skip
        return


def _about_gradients(case: Case, course: Course, last: Reading) -> Iterator[_Suspect]:
    sizes = {
        each.name: float(np.sqrt(np.mean(np.square(last.trace.gradients[id(each.tensor)]))))
        for each in course.parameters
        if id(each.tensor) in last.trace.gradients
    }
    most = max(sizes.values(), default=0.0)
    deaf = [name for name, each in sizes.items() if each <= case.limit("deaf") * most]
    deaf += [each.name for each in course.parameters if each.name not in sizes]
    if deaf:
        measured = f"{len(deaf)} of {len(course.parameters)} parameters get none, {deaf[0]} first"
    else:
        low = min(sizes, key=lambda name: sizes[name])
        measured = f"all parameters get one, of size {sizes[low]:.2g} ({low}) to {most:.2g}"
    yield _Suspect(
        "gradients", measured, bool(deaf), f"find out where the gradient of {deaf[0]} is lost: "
        "print(p.grad) after backward()." if deaf else "print the gradients.",
    )  # fmt: skip


def _about_updates(case: Case, course: Course) -> Iterator[_Suspect]:
    ratios = relative_updates(course)
    if not ratios:
        return
    usual, rate = float(np.median(ratios)), rate_of(course)
    small, large = usual < case.limit("small"), usual > case.limit("large")
    factor = case.limit("times") if small else 1 / case.limit("times")
    remedy = f"lr={rate * factor:.2g} instead of {rate:g}."
    tried = case.descend(course, course.first, factor) if small or large else None
    if tried is not None:
        remedy += f" Tried from the first state on the first batch, it goes {tried}."
    yield _Suspect(
        "the rate", f"an update changes a weight by {usual:.2g} of its size (usual: 1e-4 to 1e-2), "
        f"lr={rate:g}", small or large, remedy,
    )  # fmt: skip


def _about_outputs(case: Case, last: Reading) -> Iterator[_Suspect]:
    if last.prediction is None or last.prediction.ndim < 1 or last.prediction.shape[0] < 2:
        return
    values = last.trace.array(last.prediction).astype(np.float64)
    spread, size = float(values.std(axis=0).mean()), float(np.sqrt(np.mean(values**2)))
    alike = spread <= case.limit("alike") * size
    yield _Suspect(
        "the outputs", f"they differ by {spread:.2g} between the samples of a batch, at a size of "
        f"{size:.2g}", alike, "print the output of each layer for two samples: behind which one "
        "are they the same?",
    )  # fmt: skip


def _about_inputs(case: Case, first: Reading) -> Iterator[_Suspect]:
    arrays = [first.trace.array(each) for _, each in given_inputs(first)]
    sizes = [float(np.sqrt(np.mean(np.square(each)))) for each in arrays if each.dtype.kind == "f"]
    if sizes:
        most = case.limit("scale")
        far = not 1 / most < sizes[0] < most
        yield _Suspect("the inputs", f"their size is {sizes[0]:.2g}", far,
                       "scale the inputs to a size of about one.")  # fmt: skip


def _about_one_batch(case: Case, course: Course) -> Iterator[_Suspect]:
    descent = case.descend(course, course.first, steps=int(case.limit("updates")))
    if descent is None:
        return
    fails = descent.drop < case.limit("by heart")
    yield _Suspect(
        "one batch", f"from the first state it goes {descent}", fails,
        "make the model learn one batch by heart: as long as it cannot, the model, the loss or "
        "the rate is wrong, not the data.",
    )  # fmt: skip


def _about_data(case: Case, known: list[Reading]) -> Iterator[_Suspect]:
    """Whether samples that are near each other have the same answer."""
    pairs = []
    for each in known:
        inputs = [each.trace.array(given) for _, given in given_inputs(each)]
        if not inputs or each.target is None or inputs[0].dtype.kind != "f":
            return
        target = each.trace.array(each.target)
        if target.dtype.kind not in "iu" or target.ndim != 1 or len(target) != len(inputs[0]):
            return
        pairs.append((inputs[0].reshape(len(target), -1).astype(np.float64), target))
    if len({each[0].shape[1] for each in pairs}) != 1:
        return
    rows, index = np.unique(np.concatenate([each for each, _ in pairs]), axis=0, return_index=True)
    labels = np.concatenate([each for _, each in pairs])[index]
    if len(rows) < case.limit("samples"):
        return
    squares = np.square(rows).sum(axis=1)
    distances = squares[:, None] + squares[None] - 2 * rows @ rows.T
    np.fill_diagonal(distances, np.inf)
    right = float((labels[distances.argmin(axis=1)] == labels).mean())
    share = float(np.bincount(labels - labels.min()).max() / len(labels))
    known_well = right > case.limit("signal") * share
    yield _Suspect(
        "the data", f"the nearest neighbour has the same label for {right:.0%} of {len(rows)} "
        f"samples, the most frequent label is right for {share:.0%}", not known_well,
        "look at the data: print some inputs with their labels as the model gets them. Do they "
        "belong together?",
    )  # fmt: skip
