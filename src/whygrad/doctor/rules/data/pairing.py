"""Features and labels that no longer belong together.

The first step of a run has on its tape how its batch was made.  Followed back, input and target
must come from the same rows: if their orders were changed separately, the pairs are random.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.evidence.curve import ending
from whygrad.doctor.evidence.data.neighbours import agreement_of
from whygrad.doctor.evidence.flow import follow
from whygrad.doctor.evidence.provenance import Rows, given_inputs, rows_of, target_source
from whygrad.doctor.evidence.standing import has_drawn_target
from whygrad.doctor.rules.rule import Finding, Proof, rule
from whygrad.doctor.rules.words import listed
from whygrad.doctor.source.data import loaders, shuffles, shuffles_apart, taken_apart
from whygrad.doctor.source.loops import is_loop
from whygrad.doctor.source.preparing.joined import imported, joined_across
from whygrad.doctor.source.preparing.rows import rows_apart
from whygrad.ops.families import NOISE, SORT
from whygrad.recording.record import Course
from whygrad.source import Where

__all__ = ["shuffled_labels"]


@rule(
    thresholds={
        "unlearned": (0.8, "of what ignoring the input costs: below it pairs do belong together"),
        "pairs": (16, "samples that were seen again: fewer say little"),
        "changed": (0.25, "of those with another target: noise and augmentation change fewer"),
        "batch": (8, "samples at once: fewer may be the steps of a sequence"),
        "neighbours": (16, "rows that far apart may belong together: words and their context"),
        "losses": (8, "updates: fewer do not show whether it learns"),
        "alike": (48, "different samples, for what neighbours say of each other"),
    },
    cleared=lambda case: _pairs(case),
)
def shuffled_labels(case: Case) -> Iterator[Finding]:
    """Features and labels were shuffled apart.

    Each sample is trained against the label of another one. There is nothing to learn from such
    pairs: the loss stays at what guessing costs, or the model learns them by heart and is at
    chance on anything new.

    Measured: The batch of the first step is followed back to the rows that it was taken from.
    Input and target come from different rows, in an order that was changed for one of them only
    or for each by a permutation of its own. Or: samples that are seen again at a later sampled
    step come with another target, and the run learns nothing. Or: the text reorders or drops rows
    of one of them only, and the run, or the neighbours of samples, show nothing to be learned.
    Fix: Use one permutation for both: perm = torch.randperm(len(x)); x, y = x[perm], y[perm].
    Guardrail: assert torch.equal(labels_of(x), y)  # on a few samples, after every shuffle
    """
    for course in case.courses:
        reading = case.reading(course.first)
        if reading is None or reading.target is None:
            continue
        trace = reading.trace
        target = rows_of(trace, target_source(reading), reading.target)
        inputs = [rows_of(trace, source, tensor) for source, tensor in given_inputs(reading)]
        known = [each for each in inputs if each is not None]
        if target is None or not known or any(_together(case, each, target) for each in known):
            continue
        apart = known[0]
        proven = apart.base == target.base and (_is_permutation(apart) or _is_permutation(target))
        if not proven and not _at_chance(case, course):
            continue
        lines = _lines(target, apart)
        yield shuffled_labels.finding(
            f"the first batch has rows {listed(map(str, apart.index))} of the features",
            f"and rows {listed(map(str, target.index))} of the labels",
            f"{int((apart.index == target.index).sum())} of {len(target.index)} samples "
            "have their own label",
            where=lines[0][1],
            proof=Proof.REPLAYED if proven else Proof.INFERRED,
            places=lines[1:],
        )
        return
    outside = list(_joined_across(case)) or list(_shuffled_outside(case))
    yield from outside or _changing_pairs(case)


def _lines(target: Rows, apart: Rows) -> list[tuple[str, Where]]:
    """The lines that reordered one of the two only."""
    labels, features = list(target.shuffles), list(apart.shuffles)
    while labels and features and np.array_equal(labels[0].index, features[0].index):
        labels.pop(0)
        features.pop(0)
    found = [("labels reordered here", each.call.where) for each in labels[:1]]
    found += [("features reordered here", each.call.where) for each in features[:1]]
    if all(is_loop(where) for _, where in found):  # by loaders: these are at fault
        made = [each.where for each in loaders(found[0][1].file) if each.shuffles]
        if len(made) == 2:
            return [("one loader", made[1]), ("the other", made[0]), *found]
    return found


def _shuffled_outside(case: Case) -> Iterator[Finding]:
    """Arrays whose rows the program changes one by one before they become tensors."""
    for course in case.courses[:1]:
        first = course.steps[0].where
        apart = None if first is None else _changed_apart(first.file)
        if apart is None:
            return
        shown = _nothing_to_learn(case, course)
        if shown is None:
            return
        said, where, fix, places = apart
        yield shuffled_labels.finding(
            said, shown, where=where, proof=Proof.INFERRED, places=places, fix=fix
        )


def _joined_across(case: Case) -> Iterator[Finding]:
    """Parts that stand in one order in the features and in the other in the labels."""
    if case.run.script is None:
        return
    for file in (case.run.script, *imported(case.run.script)):
        for each in joined_across(file):
            yield shuffled_labels.finding(
                f"`{each.first[0]}` stands before `{each.first[1]}`, and `{each.second[0]}` before "
                f"`{each.second[1]}`: what belongs together is not in the same rows",
                where=each.where,
                proof=Proof.INFERRED,
                places=[("the other is joined here", each.before)],
                title="Features and labels are joined in different orders",
                fix=f"Join both in the same order: {each.second[1]} before {each.second[0]}.",
            )
            return


def _changed_apart(file: str) -> tuple[str, Where, str, list[tuple[str, Where]]] | None:
    """What the text says about rows of two variables that were changed apart: line, fix, places."""
    pair = shuffles_apart(file)
    if pair is not None:
        (one, before), (other, second) = pair
        return (
            f"`{one}` and `{other}` are put into random order one after the other, "
            "each by random numbers of its own",
            second,
            f"perm = rng.permutation(len({one})); {one}, {other} = {one}[perm], {other}[perm]",
            [(f"`{one}` shuffled here", before)],
        )
    taken = taken_apart(file)
    if taken is not None:
        one, other, where = taken
        return (
            f"the rows of `{one}` are taken in another order, and those of `{other}` as they lie",
            where,
            f"Take both by the same rows: rows = order[a:b]; {one}[rows], {other}[rows].",
            [],
        )
    for each in rows_apart(file):
        return (
            f"the rows of `{each.name}` were {each.how}, and those of `{each.other}` were not",
            each.where,
            "Change the rows of both by the same order, or the same choice: keep = …; "
            "x, y = x[keep], y[keep].",
            [("handed on together here", each.met)],
        )
    return None


def _nothing_to_learn(case: Case, course: Course) -> str | None:
    """What shows that inputs say nothing about their targets: the run, or their neighbours."""
    if _at_chance(case, course):
        end = case.healthy_losses(course)[-1]
        return f"the loss ended at {end:.4g}, no better than an answer that ignores the input"
    found = agreement_of(case, course)
    if found is None or found.samples < case.limit("alike") or not found.is_chance:
        return None
    return found.told


def _changing_pairs(case: Case) -> Iterator[Finding]:
    """Samples that come with one target at one step and with another one later."""
    if any(mark.trains for mark in case.run.inference_marks):
        return  # the targets are what a model says, which is not the same every time
    for course in case.courses:
        seen, changed = _pairs_again(case, course)
        if seen < case.limit("pairs") or changed < case.limit("changed") * seen:
            continue
        reading = case.reading(course.first)
        alone = reading is not None and len(reading.models) == 1  # else what belongs to what?
        if reading is None or not alone or not _at_chance(case, course):
            continue
        if reading.target is None:
            continue  # what a sample comes with is not known to be its target
        drawn = follow(reading.trace, target_source(reading)).maker
        if (drawn is not None and drawn.op in NOISE) or has_drawn_target(reading):
            continue  # noise, which is another one each time
        step = course.steps[0].where
        lines = [] if step is None else list(shuffles(step.file))
        called = reading.models[0].where
        yield shuffled_labels.finding(
            f"of {seen} samples that were seen at more than one step, {changed} came with "
            "another target the next time",
            f"the loss ended at {case.healthy_losses(course)[-1]:.4g}, no better than an "
            "answer that ignores the input",
            where=lines[0][1] if lines else called,
            proof=Proof.INFERRED,
            places=[(f"`{name}` is shuffled here", where) for name, where in lines[:1]],
        )


def _pairs_again(case: Case, course: Course) -> tuple[int, int]:
    """How many samples were seen again, and how many of them with another target."""
    known: dict[int, int] = {}
    seen = changed = 0
    for step in course.steps:
        sample = step.sample
        if (
            sample is None
            or len(sample.rows) != len(sample.answers)
            or len(sample.rows) < case.limit("batch")
        ):
            continue
        if len(set(sample.rows)) < len(sample.rows):
            return 0, 0  # samples of which there are several: no pair is expected to last
        for row, answer in zip(sample.rows, sample.answers):
            seen += row in known
            changed += known.setdefault(row, answer) != answer
    return seen, changed


def _together(case: Case, one: Rows, other: Rows) -> bool:
    """Whether nothing speaks against two lists of rows being pairs."""
    if one.length != other.length or one.index.shape != other.index.shape:
        return True
    if not one.shuffles and not other.shuffles:
        return True
    # The same rows, the next ones, or neighbours: a sequence.
    return bool(np.ptp(one.index - other.index) <= case.limit("neighbours"))


def _is_permutation(rows: Rows) -> bool:
    """Whether all rows were put into another order at once; a draw of some may be deliberate."""
    return any(
        each.call.op in SORT or np.array_equal(np.sort(each.index), np.arange(len(each.index)))
        for each in rows.shuffles
    )


def _at_chance(case: Case, course: Course) -> bool:
    """Whether the run ended no better than an answer that ignores the input."""
    level, losses = case.chance(course.last or course.first), case.healthy_losses(course)
    if level is None or level <= 0 or len(losses) < case.limit("losses"):
        return False
    return ending(losses) >= case.limit("unlearned") * level


def _pairs(case: Case) -> str | None:
    reading = case.reading(case.first)
    if reading is None or reading.target is None:
        return None
    target = rows_of(reading.trace, target_source(reading), reading.target)
    for source, tensor in given_inputs(reading):
        rows = rows_of(reading.trace, source, tensor)
        if (
            target is not None
            and rows is not None
            and target.shuffles
            and _together(case, rows, target)
        ):
            return f"input and target of the first batch are the same {len(target.index)} rows"
    return None
