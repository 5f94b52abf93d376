"""Where a model stands: its loss at the end beside that of the best answer that ignores the input.

A loss that fell is not a loss that is low.  What is known without any model is the cost of one
constant answer: for classes their frequencies, for numbers the mean of each output element, for
soft targets their mean, whose entropy is a ceiling while the mean of their own entropies is a
floor.  Both are taken over all batches that were kept, with the latest weights: one batch alone
makes a constant look better than it is, and what that still amounts to is added back.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.source.lines import code_at
from whygrad.ops.families import (
    BINARY_LOSSES,
    CLASS_LOSSES,
    CROSS_ENTROPY,
    DIFFERENCES,
    DISTANCE_LOSSES,
    MUL,
)
from whygrad.recording.calls import Produced
from whygrad.recording.ranges import Array
from whygrad.recording.record import Course
from whygrad.recording.replay import Trace, Traced
from whygrad.recording.replay.reading import Reading, reduction_of
from whygrad.recording.replay.recipes import tensor_like

__all__ = ["Standing", "batches_of", "has_drawn_target", "is_noise", "standing_of"]

_TINY = 1e-12
_FEW = 24  # samples: the best constant of fewer says little
_RANDOM = re.compile(r"\brand|\.(normal|uniform|choice|standard_normal|integers)\(")
_SHAPE = re.compile(r"(rand\w*|normal|uniform|choice|integers)\([^()]*(\([^()]*\)[^()]*)*\)")
_COMBINED = re.compile(r"[-+*/@%<>&|]")  # a line that computes one thing from others


@dataclass(frozen=True)
class Standing:
    """The same loss of the same batches: of the model at the beginning and the end, of no model."""

    first: float
    reached: float
    constant: float  # of the best answer that ignores the input
    floor: float = 0.0  # of the best answer that there is
    share: float = math.nan  # of the most frequent class


def batches_of(case: Case, course: Course) -> list[Reading]:
    """The steps that are known with all their values, the first one first; of large ones one."""
    found: list[Reading] = []
    for snapshot in dict.fromkeys((course.first, course.earlier, course.last)):
        reading = case.reading(snapshot)
        if reading is not None and reading.trace.reproduced:
            found.append(reading)
            if case.is_large(reading.trace):
                break
    return found


def is_noise(reading: Reading) -> bool:
    """Whether the program draws the targets, and the inputs too: there is nothing to learn.

    Of a target that decides what is drawn for it, or is computed from what was, the line says so.
    """
    log, call = reading.trace.snapshot.log, reading.meeting
    if log is None or call is None or reading.target is None:
        return False
    target = [it for it, given in zip(call.kept, call.inputs) if given is reading.target]
    inputs = [
        it
        for mark in reading.models
        for it in (mark.inputs if isinstance(mark.inputs, (tuple, list)) else (mark.inputs,))
    ]
    given = [*target, *inputs]
    made = [reading.trace.made_by(each) if type(each) is Produced else log.origin(each)
            for each in given]  # fmt: skip
    lines = [code_at(each.where) for each in made if each is not None]
    if len(given) < 2:
        return False
    if len(lines) < len(given) or not all(map(_RANDOM.search, lines)):
        return False
    drawn, *others = [_SHAPE.sub("", each) for each in lines]
    name = drawn.partition("=")[0].strip()
    mixed = any("[" in each or "@" in each or name in each.split() for each in others)
    return _COMBINED.search(drawn) is None and not mixed


def has_drawn_target(reading: Reading) -> bool:
    """Whether the line that made the target draws random numbers."""
    log, call = reading.trace.snapshot.log, reading.meeting
    if log is None or call is None:
        return False
    origins = [
        log.origin(kept)
        for kept, given in zip(call.kept, call.inputs)
        if given is reading.target and type(kept) is not Produced
    ]
    return any(each is not None and _RANDOM.search(code_at(each.where)) for each in origins)


def standing_of(case: Case, course: Course) -> Standing | None:
    """None where the loss is of a kind for which no best constant is known."""
    return case.once(("standing", id(course)), lambda: _standing(case, course))


def _standing(case: Case, course: Course) -> Standing | None:
    known = batches_of(case, course)
    calls = [each.meeting for each in known]
    if not known or course.last is None or any(each is None for each in calls):
        return None
    if len({each.op for each in calls if each is not None}) > 1:
        return None
    level = None if any(map(_is_weighted, known)) else _level(known)
    if level is None:
        return None
    assert course.first is not None
    first, reached = (
        _mean(
            _worth(each, each.trace.again(values=values.values, backward=False)) for each in known
        )
        for values in (course.first, course.last)
    )
    constant, floor, share = level
    found = Standing(first, reached, constant, floor, share)
    return found if all(map(math.isfinite, (first, reached, constant))) else None


def _is_weighted(reading: Reading) -> bool:
    """Whether the losses of the elements are multiplied by a mask or weights before their mean."""
    call = reading.meeting
    if call is None or reduction_of(call) != "none" or not _is_function(call):
        return False
    after = reading.trace.consumers(Produced(call.number, 0))
    return any(each.op in MUL and all(one.ndim for one in each.inputs[:2]) for each in after)


def _mean(values: Iterator[float]) -> float:
    return float(np.mean(list(values)))


def _worth(reading: Reading, trace: Trace) -> float:
    """The loss of a step for each element, without what is added to it; NaN if it got nowhere."""
    assert reading.meeting is not None
    call = trace.call(reading.meeting.number)
    if trace.error is not None or call is None:
        return math.nan
    if not _is_function(call):
        return trace.loss
    made = trace.array(call.outputs[0]).astype(np.float64)
    if made.ndim:
        return float(made.mean())
    return float(made) / (_count(reading) if reduction_of(call) == "sum" else 1)


def _is_function(call: Traced) -> bool:
    """A loss of the library, whose own result can be looked at."""
    return call.op in CLASS_LOSSES | BINARY_LOSSES | DISTANCE_LOSSES


def _count(reading: Reading) -> int:
    target = reading.trace.array(reading.target)
    soft = target.dtype.kind == "f" and _call(reading).op in CROSS_ENTROPY
    return max(1, target.size // (target.shape[1] if soft and target.ndim > 1 else 1))


def _call(reading: Reading) -> Traced:
    assert reading.meeting is not None
    return reading.meeting


def _level(known: list[Reading]) -> tuple[float, float, float] | None:
    """The cost of the best constant, the least cost there is, the share of the largest class."""
    op = _call(known[0]).op
    targets = [each.trace.array(each.target) for each in known if each.target is not None]
    if len(targets) < len(known) or not all(each.size and each.ndim for each in targets):
        return None
    if sum(len(each) for each in targets) < _FEW:
        return None
    if op in CLASS_LOSSES:
        return _of_classes(known, targets)
    shapes = {each.shape[1:] for each in targets}
    numbers = all(each.dtype.kind == "f" and np.isfinite(each).all() for each in targets)
    if len(shapes) > 1 or not numbers or not all(each.ndim for each in targets):
        return None
    pooled = np.concatenate(targets).astype(np.float64)
    if op in BINARY_LOSSES:
        return _of_pairs(_call(known[0]), pooled)
    return _of_numbers(known, pooled) if op in DISTANCE_LOSSES | DIFFERENCES else None


def _of_classes(known: list[Reading], targets: list[Array]) -> tuple[float, float, float] | None:
    call = _call(known[0])
    if call.kwargs.get("weight") is not None:
        return None
    classes = int(known[0].prediction.shape[1 if known[0].prediction.ndim > 1 else 0])
    smoothing = float(call.kwargs.get("label_smoothing", 0.0) or 0.0)
    if targets[0].dtype.kind == "f":  # probabilities
        rows = [np.moveaxis(each, 1, -1).reshape(-1, classes) for each in targets if each.ndim > 1]
        if len(rows) < len(targets):
            return None
        soft = np.concatenate(rows).astype(np.float64)
        soft = soft * (1 - smoothing) + smoothing / classes
        share = soft.mean(axis=0)
        lost = (np.count_nonzero(share) - 1) / (2 * len(soft))
        ceiling = _at_most_even(float(_entropy(share)) + lost, classes)
        return ceiling, float(_entropy(soft).mean()), float(share.max())
    labels = np.concatenate([each.ravel() for each in targets])
    labels = labels[(labels >= 0) & (labels != call.kwargs.get("ignore_index", -100))]
    if not labels.size or labels.max() >= classes:
        return None
    share = np.bincount(labels, minlength=classes) / labels.size
    lost = (np.count_nonzero(share) - 1) / (2 * labels.size)
    smooth = share * (1 - smoothing) + smoothing / classes
    one = np.full(classes, smoothing / classes)
    one[0] += 1 - smoothing
    ceiling = _at_most_even(float(_entropy(smooth)) + lost, classes)
    return ceiling, float(_entropy(one)), float(share.max())


def _at_most_even(cost: float, classes: int) -> float:
    """No best constant costs more than to say the same of all classes."""
    return min(cost, math.log(classes))


def _entropy(shares: Array) -> Any:
    return -(shares * np.log(np.maximum(shares, _TINY))).sum(axis=-1)


def _of_pairs(call: Traced, pooled: Array) -> tuple[float, float, float] | None:
    """Yes or no, for each output element by itself."""
    if any(call.kwargs.get(name) is not None for name in ("weight", "pos_weight")):
        return None
    if pooled.min() < 0 or pooled.max() > 1:
        return None
    share = pooled.mean(axis=0)
    mixed = (share > 0) & (share < 1)
    lost = float(mixed.mean()) / (2 * len(pooled))
    both = np.stack([share, 1 - share], axis=-1)
    own = np.stack([pooled, 1 - pooled], axis=-1)
    largest = float(np.maximum(share, 1 - share).mean())
    return float(_entropy(both).mean()) + lost, float(_entropy(own).mean()), largest


def _of_numbers(known: list[Reading], pooled: Array) -> tuple[float, float, float] | None:
    """The mean of each output element in the place of the prediction."""
    mean = pooled.mean(axis=0)
    costs = []
    for each in known:
        call, prediction = _call(each), each.prediction
        place = next((at for at, it in enumerate(call.args) if it is prediction), None)
        if place is None or tuple(prediction.shape) != tuple(each.target.shape):
            return None
        like = each.trace.array(prediction)
        constant = np.broadcast_to(mean, like.shape).astype(like.dtype)
        tensor = tensor_like(each.trace.engine, constant)
        again = each.trace.again(instead={call.number: {place: tensor}}, backward=False)
        costs.append(_worth(each, again))
    size = len(pooled)
    return float(np.mean(costs)) * size / max(1, size - 1), 0.0, math.nan
