"""Why a run may not have learned: the usual reasons, each with a measurement.

They are asked when no rule has proved anything; what is alarming among them is what to try first.
The numbers that they go by are thresholds of ``not-learning``.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.evidence.progress import relative_updates
from whygrad.doctor.evidence.provenance import given_inputs
from whygrad.doctor.evidence.standing import batches_of
from whygrad.doctor.experiments.influence import seen_places
from whygrad.recording.record import Course
from whygrad.recording.replay.optimizers import rate_of
from whygrad.recording.replay.reading import Reading
from whygrad.source import Where

__all__ = ["BY_HEART", "Suspect", "suspects_of"]

BY_HEART = "one batch"  # that cannot be learned by heart: the name of a suspect


@dataclass(frozen=True)
class Suspect:
    """A usual reason, what was measured for it, and what to try."""

    name: str
    measured: str
    alarming: bool
    remedy: str
    where: Where | None = None


def suspects_of(case: Case, course: Course) -> Iterator[Suspect]:
    known = batches_of(case, course)
    yield from _about_relapse(case, course)
    yield from _about_frozen(case, course)
    yield from _about_places(case, known[-1])
    yield from _about_gradients(case, course, known[-1])
    yield from _about_updates(case, course)
    yield from _about_outputs(case, known[-1])
    yield from _about_inputs(case, known[0])
    yield from _about_one_batch(case, course)
    yield from _about_data(case, known)


def _about_relapse(case: Case, course: Course) -> Iterator[Suspect]:
    """What was learned and lost again: it could be learned, and an update was too much."""
    window, losses = int(case.limit("window")), course.losses
    if len(losses) < 4 * window:
        return
    usual = [statistics.median(losses[at : at + window]) for at in range(len(losses) - window + 1)]
    lowest = min(range(len(usual)), key=usual.__getitem__)
    if not 0 < usual[lowest] < case.limit("lost") * min(usual[0], usual[-1]):
        return
    options, rate = course.optimizer.options, rate_of(course)
    momentum = float(options.get("momentum", 0.0) or 0.0)
    remedy = f"lr={rate / case.limit('times'):.2g} instead of {rate:g}, and gradients clipped."
    if momentum > case.limit("momentum"):
        remedy = (
            f"momentum=0.9 instead of {momentum:g}: with it a gradient moves the weights by "
            f"{1 / (1 - momentum):.0f} times the rate in the end."
        )
    yield Suspect(
        "updates that are too large", f"around step {lowest} the loss was {usual[lowest]:.4g}; at "
        f"the end it is {usual[-1]:.4g} again", True, remedy, course.optimizer.made_at,
    )  # fmt: skip


def _about_frozen(case: Case, course: Course) -> Iterator[Suspect]:
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
    yield Suspect(
        "what is frozen", f"{len(frozen)} parameters do not learn, {frozen[0].name} first, and "
        "nothing was loaded into them", True,
        f"let {frozen[0].name} learn: it is switched off{at}.", where,
    )  # fmt: skip


def _about_places(case: Case, last: Reading) -> Iterator[Suspect]:
    """Places of the input that nothing is computed from."""
    for axis, seen in seen_places(last):
        unseen = float(1 - seen.mean())
        if unseen < case.limit("unseen") or len(seen) < 2 or not seen.any():
            continue  # if it depends on none, something has died: no place is left out
        places = [int(each) for each in np.flatnonzero(seen)[: int(case.limit("places"))]]
        yield Suspect(
            "what is seen", f"of the {len(seen)} places along axis {axis} of the input, the loss "
            f"depends on {int(seen.sum())}: {', '.join(map(str, places))}", True,
            f"let the output depend on the whole input: look where axis {axis} is indexed, and "
            "whether a recurrent layer or attention lacks batch_first=True.",
        )  # fmt: skip
        return


def _about_gradients(case: Case, course: Course, last: Reading) -> Iterator[Suspect]:
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
    yield Suspect(
        "gradients", measured, bool(deaf), f"find out where the gradient of {deaf[0]} is lost: "
        "print(p.grad) after backward()." if deaf else "print the gradients.",
    )  # fmt: skip


def _about_updates(case: Case, course: Course) -> Iterator[Suspect]:
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
    yield Suspect(
        "the rate", f"an update changes a weight by {usual:.2g} of its size (usual: 1e-4 to 1e-2), "
        f"lr={rate:g}", small or large, remedy, course.optimizer.made_at,
    )  # fmt: skip


def _about_outputs(case: Case, last: Reading) -> Iterator[Suspect]:
    if last.prediction is None or last.prediction.ndim < 1 or last.prediction.shape[0] < 2:
        return
    values = last.trace.array(last.prediction).astype(np.float64)
    spread, size = float(values.std(axis=0).mean()), float(np.sqrt(np.mean(values**2)))
    alike = spread <= case.limit("alike") * size
    yield Suspect(
        "the outputs", f"they differ by {spread:.2g} between the samples of a batch, at a size of "
        f"{size:.2g}", alike, "print the output of each layer for two samples: behind which one "
        "are they the same?",
    )  # fmt: skip


def _about_inputs(case: Case, first: Reading) -> Iterator[Suspect]:
    arrays = [first.trace.array(each) for _, each in given_inputs(first)]
    sizes = [float(np.sqrt(np.mean(np.square(each)))) for each in arrays if each.dtype.kind == "f"]
    if sizes:
        most = case.limit("scale")
        far = not 1 / most < sizes[0] < most
        yield Suspect("the inputs", f"their size is {sizes[0]:.2g}", far,
                       "scale the inputs to a size of about one.")  # fmt: skip


def _about_one_batch(case: Case, course: Course) -> Iterator[Suspect]:
    descent = case.descend(course, course.first, steps=int(case.limit("updates")))
    if descent is None:
        return
    fails = descent.drop < case.limit("by heart")
    yield Suspect(
        BY_HEART, f"from the first state it goes {descent}", fails,
        "make the model learn one batch by heart: as long as it cannot, the model, the loss or "
        "the rate is wrong, not the data.",
    )  # fmt: skip


def _about_data(case: Case, known: list[Reading]) -> Iterator[Suspect]:
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
    yield Suspect(
        "the data", f"the nearest neighbour has the same label for {right:.0%} of {len(rows)} "
        f"samples, the most frequent label is right for {share:.0%}", not known_well,
        "look at the data: print some inputs with their labels as the model gets them. Do they "
        "belong together?",
    )  # fmt: skip
