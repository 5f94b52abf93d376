"""Losses that the program writes itself, whose input has to be a probability.

Two formulas are known by their dataflow, whatever their names: a cross-entropy of yes and no, which
weights ``log p`` with the target and ``log (1 - p)`` with the rest; and an overlap (Dice, IoU,
Tversky), in which the product of prediction and target is divided by a sum of both.  Each takes
probabilities, and what each is given is known from the call that computed it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from whygrad.doctor.evidence.flow import Way, feature_axis, follow
from whygrad.doctor.evidence.forms import Mismatch, probability_form
from whygrad.ops import families as ops
from whygrad.recording.calls import Produced
from whygrad.recording.ranges import Array
from whygrad.recording.replay import Trace, Traced

__all__ = ["probabilities_by_hand"]

_SUMS = ops.RESHAPING | ops.TOTALS | ops.SHIFTS | ops.MUL | ops.CLAMPS | ops.CASTS
_OUTSIDE = 0.05  # of the values that are no probabilities: fewer may be rounding


def probabilities_by_hand(trace: Trace) -> Iterator[tuple[Traced, Mismatch]]:
    """Where a loss by hand wants a probability and gets something else, and what to do."""
    for call in trace.calls:
        if call.op not in ops.MUL or len(call.inputs) != 2:
            continue
        learned = [each.requires_grad for each in call.inputs]
        if sum(learned) != 1:
            continue
        place = learned.index(True)
        target = trace.array(call.inputs[1 - place])
        if not _is_yes_or_no(target) or call.inputs[place].numel() != target.size:
            continue
        found = _of_logarithms(trace, call, place, target) or _of_overlap(
            trace, call, place, target
        )
        if found is not None:
            yield call, found


def _is_yes_or_no(target: Array) -> bool:
    if target.dtype.kind not in "fiub" or target.size < 2:
        return False
    return bool(np.isin(target, (0, 1)).all()) and target.min() != target.max()


def _of_logarithms(trace: Trace, call: Traced, place: int, target: Array) -> Mismatch | None:
    """``y * log p + (1 - y) * log (1 - p)``."""
    logarithm = follow(trace, call.sources[place]).maker
    if logarithm is None or logarithm.op not in ops.LOG or not _has_twin(trace, call, target):
        return None
    way, clamp = _bare(trace, logarithm.sources[0])
    if way.maker is None or (way.op in ops.DIFFERENCES and feature_axis(trace, way) is None):
        return None  # the other half, log (1 - p): its own twin was looked at
    return probability_form(trace, logarithm, way, clamp, target)


def _bare(trace: Trace, source: Produced | None) -> tuple[Way, Traced | None]:
    """The value behind a small number that is added and limits that keep it from 0 and 1."""
    clamp: Traced | None = None
    while True:
        way = follow(trace, source)
        maker = way.maker
        if maker is None:
            return way, clamp
        if maker.op in ops.CLAMPS:
            clamp = maker
        elif maker.op not in ops.ADD or len(maker.inputs) != 1:
            return way, clamp
        source = maker.sources[0]


def _has_twin(trace: Trace, call: Traced, target: Array) -> bool:
    """Whether another product weights a logarithm with one minus the target."""
    for each in trace.calls:
        if each is call or each.op not in ops.MUL or len(each.inputs) != 2:
            continue
        for given, source in zip(each.inputs, each.sources[::-1]):
            if given.requires_grad or given.numel() != target.size:
                continue
            rest = trace.array(given)
            if rest.shape == target.shape and np.allclose(rest + target, 1):
                return follow(trace, source).op in ops.LOGARITHMS
    return False


def _of_overlap(trace: Trace, call: Traced, place: int, target: Array) -> Mismatch | None:
    """``sum(p * y) / (sum(p) + sum(y))``, of raw scores."""
    way = follow(trace, call.sources[place])
    maker = way.maker
    if maker is None or feature_axis(trace, way) is None:
        return None
    scores = trace.array(call.inputs[place])
    outside = float(((scores < 0) | (scores > 1)).mean())
    if outside < _OUTSIDE:
        return None
    sums = _summed_from(trace, maker, call)
    labels = follow(trace, call.sources[1 - place])
    given = {id(each) for each in _origins(call, 1 - place, labels)}
    for quotient in trace.calls:
        if quotient.op not in ops.DIV or len(quotient.sources) != 2 or None in quotient.sources:
            continue
        above, below = (trace.made_by(each) for each in quotient.sources)
        if above is None or below is None or not {above.number, below.number} <= sums:
            continue
        if trace.descends(above, call) and _adds(trace, below, maker, given):
            break
    else:
        return None
    evidence = [
        f"at {quotient.spot} the product of prediction and target is divided by the sum of both: "
        "an overlap, of probabilities between 0 and 1",
        f"the predictions come from {maker.op} at {maker.spot} as raw scores, from "
        f"{scores.min():.3g} to {scores.max():.3g}; {outside:.0%} are no probabilities",
        "large scores of either sign make such a quotient anything, whatever the mask is",
    ]
    sigmoid: Any = trace.engine.namespace.sigmoid

    def squashed(inner: Any) -> Any:
        return lambda *args, **named: sigmoid(inner(*args, **named))

    fix = "Take the sigmoid (of several classes the softmax) of the scores before the overlap."
    return Mismatch(None, evidence, fix, (maker.number, squashed))


def _origins(call: Traced, place: int, way: Way) -> list[Any]:
    """The labels, as the product has them and as they were before they were reshaped."""
    return [call.kept[place], *(each.kept[at] for each, at, _ in way.passed)]


def _summed_from(trace: Trace, maker: Traced, product: Traced) -> set[int]:
    """The calls that are sums of a prediction and of its product with the target, no more."""
    found = {maker.number, product.number}
    for call in trace.calls:
        given = [each for each in call.sources if each is not None and each.call in found]
        if given and call.op in _SUMS and not _is_a_square(call):
            found.add(call.number)
    return found


def _is_a_square(call: Traced) -> bool:
    """A sum of squares has a least value where a sum has none: raw scores may do well there."""
    return call.op in ops.MUL and len(call.inputs) == 2 and call.sources[0] == call.sources[1]


def _adds(trace: Trace, below: Traced, maker: Traced, given: set[int]) -> bool:
    """Whether the lower part of a quotient holds the prediction and the labels."""
    numbers = {below.number, *trace.ancestors(below)}
    used = {id(each) for call in trace.calls if call.number in numbers for each in call.kept}
    return maker.number in numbers and bool(used & given)
