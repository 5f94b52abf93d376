"""Batches that hold one class each, because the data are in the order of their labels.

Whatever the model learns from a run of such batches it forgets in the next run: the quickest way to
lower the loss of a batch with a single class is to answer that class to everything.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.source.data import loaders
from whygrad.doctor.source.loops import loops_around
from whygrad.ops.families import CLASS_LOSSES
from whygrad.recording.record import Course, Snapshot
from whygrad.source import Where

__all__ = ["Ordered", "ordered_by_class"]

_SMALLEST = 8  # samples of a batch: fewer are of one class by accident
_BATCHES = 3


@dataclass(frozen=True)
class Ordered:
    """What was seen of the batches."""

    batches: int
    pure: int  # batches with a single class
    classes: int  # that there are in all of them
    where: Where | None  # the loader, or the loop


def ordered_by_class(case: Case, course: Course) -> Ordered | None:
    """Whether nearly every batch that was looked at holds one class, and not always the same."""
    held = list(_noted(course))
    if len(held) < _BATCHES:  # a loss that is written by hand: the batches that were kept
        held = [found for each in _kept(course) if (found := _classes(case, each)) is not None]
    pure = [each for each in held if len(each) == 1]
    classes = len(set().union(*held)) if held else 0
    if len(held) < _BATCHES or 4 * len(pure) < 3 * len(held) or len(set().union(*pure)) < 2:
        return None
    return Ordered(len(held), len(pure), classes, _line(course))


def _noted(course: Course) -> Iterator[frozenset[int]]:
    for step in course.steps:
        for count, classes in step.sample.labels if step.sample is not None else ():
            if count >= _SMALLEST:
                yield classes


def _kept(course: Course) -> Iterator[Snapshot]:
    steps = (each.snapshot for each in course.steps)
    known = {
        each.step: each for each in (course.first, course.earlier, course.last, *steps) if each
    }
    yield from (known[step] for step in sorted(known))


def _classes(case: Case, snapshot: Snapshot) -> frozenset[int] | None:
    """The labels of a batch."""
    reading = case.reading(snapshot)
    if reading is None or reading.target is None or reading.loss_call is None:
        return None
    target = reading.trace.array(reading.target)
    if reading.loss_call.op not in CLASS_LOSSES or target.dtype.kind not in "iu":
        return None
    return frozenset(np.unique(target).tolist()) if target.size >= _SMALLEST else None


def _line(course: Course) -> Where | None:
    """The only loader that does not shuffle, or the innermost loop around backward()."""
    where = next((each.passes[-1].where for each in course.steps if each.passes), None)
    if where is None:
        return None
    plain = [each for each in loaders(where.file) if not (each.shuffles or each.samples)]
    if len(plain) == 1:
        return plain[0].where
    loops = loops_around(where)
    return (where.on_line(loops[0].node.lineno) if loops else None) or where
