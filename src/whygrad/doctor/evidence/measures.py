"""The parts of a loss that say how good the prediction is, and the sign with which they enter it.

An error is to become small, a likelihood or a similarity large.  The sign is followed call by call
from the measure to the loss: a ``-``, a difference, a factor.  Where it depends on data (an
advantage, a weight that may be negative) it is unknown, and unknown it stays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from whygrad.doctor.evidence.flow import follow, sums_to_one
from whygrad.ops import families as ops
from whygrad.recording.calls import Produced
from whygrad.recording.replay import Trace, Traced
from whygrad.recording.replay.reading import Reading, Term

__all__ = ["Measure", "Sign", "measures_of", "sign_of"]

_RISING = (
    ops.RESHAPING | ops.TOTALS | ops.ADD | ops.JOINS | ops.PICKS | ops.SPLITS | ops.CLAMPS
    | ops.CHOICES | ops.POWERS | ops.EXTREMES | ops.LOGARITHMS | ops.LOGSUMEXP | ops.EXP
    | ops.SQRT | ops.RELU | ops.SOFTPLUS
)  # fmt: skip
_POSITIVE = (
    ops.EXP | ops.SOFTPLUS | ops.POWERS | ops.ABS | ops.SIGMOIDS | ops.PROBABILITIES | ops.RELU
    | ops.SQRT | ops.SPREADS
)  # fmt: skip
_PLAIN = (
    ops.RESHAPING | ops.TOTALS | ops.NEG | ops.SHIFTS | ops.SCALINGS | ops.DETACHES | ops.LEAVING
)
_HINGES = ops.LOWER_CLAMPS | ops.RELU | ops.SOFTPLUS
_MANY = 32


@dataclass(eq=False)
class Measure:
    """A part of the loss that says how good the prediction is."""

    call: Traced
    wanted: int  # 1: an error, to be made small; -1: a likelihood or a similarity
    name: str
    weighted: bool = False  # with what it was worth: the sign of that is not asked


@dataclass(eq=False)
class Sign:
    """How a measure enters the loss: with +1, -1, or as the data will have it (None)."""

    value: int | None
    turned_at: list[Traced]  # the calls that turned it around


def measures_of(reading: Reading) -> list[Measure]:
    """The measures of a step; of a line in a long loop, the last stands for all."""
    trace = reading.trace
    found: list[Measure] = []
    terms = reading.terms
    if len(terms) > _MANY:
        terms = list({(each.call.where, each.call.op): each for each in terms}.values())
    for term in terms:
        if term.target is None or _is_sampled(trace, term):
            continue
        if term.call.op in ops.LOSSES:
            found.append(Measure(term.call, 1, term.call.op))
        elif term.call.op in ops.DIFFERENCES:
            found += [Measure(each, 1, "the error") for each in _sizes(trace, term.call)]
        elif term.call.op in ops.COSINE_SIMILARITY:
            found.append(Measure(term.call, -1, "the similarity"))
        elif term.call.op in ops.MUL:
            found += _weighted_logarithm(trace, term)
            found += [Measure(each, 1, "the margin loss") for each in _hinges(trace, term)]
        elif _is_logarithm(trace, term.source):
            found.append(Measure(term.call, -1, "the log-likelihood"))
    return found or _own_pairs(trace) or _pairs(trace)


def _own_pairs(trace: Trace) -> list[Measure]:
    """The diagonal of a square of log-probabilities: each row is to find the column of its own."""
    return [
        Measure(call, -1, "the log-likelihood")
        for call in trace.calls
        if call.op in ops.DIAGONALS
        and call.inputs
        and call.inputs[0].ndim == 2
        and call.inputs[0].shape[0] == call.inputs[0].shape[1]
        and _is_logarithm(trace, call.sources[0])
    ]


def _pairs(trace: Trace) -> list[Measure]:
    """The similarity of what is made of two inputs that belong together, if it is all there is.

    With other terms beside it, or between outputs for the same input, it may well be meant to
    become small: outputs that are to differ, pairs that are to stay apart.
    """
    return [
        Measure(call, -1, "the similarity")
        for call in trace.calls
        for pair in (_compared(trace, call),)
        if pair is not None
        and all(each.requires_grad for each in pair.inputs)
        and not _data(trace, pair.sources[0]) & _data(trace, pair.sources[1])
        and _is_all(trace, call)
    ]


def _compared(trace: Trace, call: Traced) -> Traced | None:
    """The call that gets both sides of a cosine: itself, or the product of two unit vectors."""
    product: Traced | None = None
    if call.op in ops.COSINE_SIMILARITY:
        product = call
    elif call.op in ops.SUM and call.sources:
        product = trace.made_by(call.sources[0])
    if product is None or len(product.sources) != 2 or None in product.sources:
        return None
    if product is call:
        return call
    if product.op not in ops.MUL or product.sources[0] == product.sources[1]:
        return None
    one, other = (trace.array(each) for each in product.inputs)
    axis = one.ndim - 1
    if one.shape != other.shape or axis < 1:
        return None
    sums = (one * other).sum(axis=axis)
    made = trace.array(call.outputs[0])
    if made.size != sums.size or not np.allclose(made.ravel(), sums.ravel(), atol=1e-5):
        return None
    unit = all(np.allclose(np.square(each).sum(axis=axis), 1, atol=1e-3) for each in (one, other))
    return product if unit else None


def _data(trace: Trace, source: Produced | None) -> set[int]:
    """The tensors without gradients that met parameters on the way to a value."""
    made = trace.made_by(source)
    if made is None:
        return set()
    numbers = {made.number, *trace.ancestors(made)}
    return {
        id(given)
        for call in trace.calls
        if call.number in numbers and any(each.requires_grad for each in call.inputs)
        for given in call.inputs
        if not given.requires_grad
    }


def _is_all(trace: Trace, call: Traced) -> bool:
    """Whether the loss is a multiple of this call's result and nothing else that is learned.

    A square or a margin would ask for something else than a large or a small value.
    """
    after = {call.number}
    for each in trace.calls:
        inside = [source is not None and source.call in after for source in each.sources]
        if any(inside):
            others = [given for given, own in zip(each.inputs, inside) if not own]
            if each.op not in _PLAIN or any(given.requires_grad for given in others):
                return False
            after.add(each.number)
    return trace.root is not None and trace.root.number in after


def _is_sampled(trace: Trace, term: Term) -> bool:
    """Whether the target was made from the model's own output: an action, a pseudo-label."""
    made = follow(trace, term.target_source).maker
    if made is None:
        return False
    numbers = {made.number, *trace.ancestors(made)}
    return any(
        given.requires_grad
        for each in trace.calls
        if each.number in numbers
        for given in each.inputs
    )


def _sizes(trace: Trace, difference: Traced) -> list[Traced]:
    """Where a difference loses its sign: squared, or its absolute value taken."""
    users = trace.consumers(Produced(difference.number, 0))
    return [each for each in users if _forgets_sign(each)]


def _forgets_sign(call: Traced) -> bool:
    if call.op in ops.POWERS:
        exponent = call.argument(1, "exponent", 2)
        return isinstance(exponent, (int, float)) and exponent % 2 == 0
    if call.op in ops.MUL:
        return len(call.sources) == 2 and call.sources[0] == call.sources[1]
    return call.op in ops.ABS | ops.NORM


def _hinges(trace: Trace, term: Term) -> list[Traced]:
    """``relu(1 - y * score)`` and its like, with labels -1 and 1."""
    if not np.isin(trace.array(term.target), (-1, 1)).all():
        return []
    reached = {term.call.number}
    found = []
    for call in trace.calls:
        if not any(source and source.call in reached for source in call.sources):
            continue
        if call.op in ops.SHIFTS | ops.NEG and len(call.inputs) == 1:
            reached.add(call.number)
        elif call.op in _HINGES:
            found.append(call)
    return found


def _is_logarithm(trace: Trace, source: Produced | None) -> bool:
    """Whether a value is a log-probability."""
    maker = follow(trace, source).maker
    if maker is None:
        return False
    if maker.op in ops.LOG | ops.LOG_PROBABILITIES:
        return True
    if maker.op not in ops.SUB or len(maker.sources) < 2 or not maker.inputs[0].requires_grad:
        return False  # log p − log q with a given p is a divergence
    return follow(trace, maker.sources[1]).op in ops.LOGSUMEXP | ops.LOG


def _weighted_logarithm(trace: Trace, term: Term) -> list[Measure]:
    """``target * log p`` with the target a distribution, or with ``(1 - target) * log(1 - p)``."""
    target = trace.array(term.target)
    if not _is_logarithm(trace, term.source) or not target.size:
        return []
    if target.min() < 0 or target.max() > 1:
        return []
    whole = target.ndim > 1 and target.shape[-1] > 1 and sums_to_one(target, target.ndim - 1)
    if whole or _has_twin(trace, term, target):
        return [Measure(term.call, -1, "the log-likelihood")]
    return []


def _has_twin(trace: Trace, term: Term, target: np.ndarray[Any, Any]) -> bool:
    """Whether another product weights a logarithm with one minus the target."""
    for each in trace.calls:
        if each is term.call or each.op not in ops.MUL or len(each.inputs) != 2:
            continue
        for given, source in zip(each.inputs, each.sources[::-1]):
            if given.requires_grad or tuple(given.shape) != target.shape:
                continue
            if np.allclose(trace.array(given) + target, 1) and _is_logarithm(trace, source):
                return True
    return False


def sign_of(trace: Trace, measure: Measure) -> Sign:
    """The sign of a measure in the loss, through everything that is computed from it."""
    start = measure.call
    signs: dict[int, int | None] = {start.number: 1}
    turned: list[Traced] = []
    for call in trace.calls:
        places = [n for n, source in enumerate(call.sources) if source and source.call in signs]
        if call.number <= start.number or not places:
            continue
        reached: set[int | None] = set()
        for place in places:
            source = call.sources[place]
            assert source is not None
            before, turn = signs[source.call], _turn(trace, call, place, measure)
            reached.add(None if before is None or turn is None else before * turn)
            if turn == -1:
                turned.append(call)
        signs[call.number] = reached.pop() if len(reached) == 1 else None
    root = trace.root
    return Sign(None if root is None else signs.get(root.number), turned)


def _turn(trace: Trace, call: Traced, place: int, measure: Measure) -> int | None:
    """Whether a call keeps the sign of what goes in at ``place`` (1), turns it (-1), or depends."""
    given = call.inputs[place]
    first = bool(call.args) and call.args[0] is given
    if call.op in ops.ADD and not first:
        return _of_number(call.kwargs.get("alpha", 1))
    if call.op in ops.POWERS and not first:
        return None
    if call.op in _RISING:
        return 1
    if call.op in ops.NEG:
        return -1
    if call.op in ops.SUB:
        return 1 if first else -1
    if call.op in ops.REVERSED_SUB:
        return -1 if first else 1
    if call.op in ops.SCALINGS:
        if call.op in ops.DIV and not first:
            return None
        others = [each for each in call.args if each is not given]
        return _factor(trace, call, others[0], measure) if len(others) == 1 else None
    return None


def _of_number(number: Any) -> int | None:
    if not isinstance(number, (int, float)) or number == 0:
        return None
    return 1 if number > 0 else -1


def _factor(trace: Trace, call: Traced, other: Any, measure: Measure) -> int | None:
    """The sign of a factor: a number's own; that of a mask or of a positive function is 1."""
    if isinstance(other, (int, float)):
        return _of_number(other)
    place = next((n for n, each in enumerate(call.inputs) if each is other), None)
    if place is None:
        return None
    if measure.weighted and not other.requires_grad:
        return 1
    values = trace.array(other)
    if values.size and np.isin(values, (0, 1)).all():
        # Zeros and ones on an error are a mask; on a log-likelihood they may be rewards or costs.
        return 1 if measure.wanted > 0 else None
    maker = follow(trace, call.sources[place]).maker
    if maker is not None and maker.op in ops.MUL and maker.sources:  # 2 * sigma ** 2
        maker = follow(trace, maker.sources[0]).maker
    positive = maker is not None and maker.op in _POSITIVE and bool((values > 0).all())
    return 1 if positive else None
