"""The training batches judged as other samples are judged: in evaluation mode, or by another model.

A figure on other samples can be bad because they are others, or because of how it is taken.  The
samples of training tell the two apart: what they cost as they were trained on, and what they cost
in the way in which the program evaluates.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.experiments.repairs import without_dropout
from whygrad.ops.families import BATCH_NORM
from whygrad.recording.record import Course, Snapshot
from whygrad.recording.replay.recipes import swapped

__all__ = ["Norm", "by_other_weights", "by_statistics", "kept", "loss_with", "norms_of"]


@dataclass(frozen=True)
class Norm:
    """A batch normalisation in a recorded step: the calls of one layer."""

    path: str
    module: Any
    calls: tuple[int, ...]


def kept(course: Course) -> list[Snapshot]:
    """The latest steps that are known, without what is dropped at random."""
    steps = {id(each): each for each in (course.last, course.earlier, *course.others) if each}
    return [without_dropout(each) for each in steps.values()]


def norms_of(snapshot: Snapshot) -> list[Norm]:
    """The layers that normalise by their batch in training, and keep statistics for evaluation."""
    found = []
    for mark in snapshot.marks:
        own = getattr(mark.module, "running_mean", None)
        calls = tuple(
            number
            for number in range(mark.before, mark.after)
            if number in snapshot.calls and snapshot.calls[number].op in BATCH_NORM
        )
        if mark.training and own is not None and len(calls) == 1:
            found.append(Norm(mark.path, mark.module, calls))
    return found


def by_statistics(case: Case, steps: Iterable[Snapshot], fresh: bool) -> float | None:
    """The mean loss of these batches with statistics in the place of the batch's own.

    Those that the layers have at the end of the run or, if ``fresh``, the mean of the batches';
    in both cases with the weights of the first of the steps, the latest.
    """
    steps = list(steps)
    weights = steps[0].values if steps else {}
    seen: dict[int, list[tuple[Any, Any]]] = {}
    if fresh:
        for step in steps:
            reading = {
                number: _noting(norm, seen) for norm in norms_of(step) for number in norm.calls
            }
            noting = swapped(step, reading)
            case.budget.replay(noting, values=weights, backward=False, look=False)
    losses = []
    for step in steps:
        changes = {}
        for norm in norms_of(step):
            known = seen.get(id(norm.module)) if fresh else None
            if fresh and not known:
                return None
            changes[norm.calls[0]] = _with(step, norm, known)
        loss = loss_with(case, swapped(step, changes), weights)
        if loss is None:
            return None
        losses.append(loss)
    return statistics.fmean(losses) if losses else None


def loss_with(case: Case, step: Snapshot, weights: Mapping[int, Any]) -> float | None:
    """What a batch costs with weights of another step, by the ids of the leaves."""
    replayed = case.budget.replay(step, values=weights, backward=False, look=False)
    return None if replayed.error is not None else replayed.loss


def _noting(norm: Norm, seen: dict[int, list[tuple[Any, Any]]]) -> Callable[..., Any]:
    def wrapper(inner: Callable[..., Any]) -> Callable[..., Any]:
        def noted(given: Any, *rest: Any, **named: Any) -> Any:
            axes = [axis for axis in range(given.ndim) if axis != 1]
            seen.setdefault(id(norm.module), []).append(
                (given.detach().mean(axes), given.detach().var(axes))
            )
            return inner(given, *rest, **named)

        return noted

    return wrapper


def _with(step: Snapshot, norm: Norm, known: list[tuple[Any, Any]] | None) -> Callable[..., Any]:
    layer = norm.module
    mean, spread = layer.running_mean, layer.running_var
    if known is not None:
        mean = sum(each for each, _ in known) / len(known)
        spread = sum(each for _, each in known) / len(known)
    space: Any = step.engine.namespace

    def judged(given: Any, *rest: Any, **named: Any) -> Any:
        return space.nn.functional.batch_norm(
            given, mean, spread, layer.weight, layer.bias, False, 0.0, layer.eps
        )

    return lambda inner: judged


def by_other_weights(
    case: Case, steps: Iterable[Snapshot], other: Mapping[int, Any]
) -> float | None:
    """The mean loss of these steps with values in the place of the leaves', by their ids."""
    losses = [loss_with(case, step, other) for step in steps]
    known = [each for each in losses if each is not None]
    return statistics.fmean(known) if known and len(known) == len(losses) else None
