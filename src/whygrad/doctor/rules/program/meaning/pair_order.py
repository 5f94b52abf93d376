"""Two things of which one is to be preferred, the wrong way round.

A ranking (BPR, hinge, triplet, preference) says that a positive is nearer than a negative.  With
the two exchanged the loss falls all the same.  Which is which is known to the program alone, so its
names are asked, as a pair: ``pos`` and ``neg`` in names that are otherwise the same.  Whether near
is a large number or a small one is known from the calls, what the loss wants from its gradient, and
what came of it from the run: the two moved apart the wrong way.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.evidence.flow import feature_axis, follow
from whygrad.doctor.experiments.changes import mended
from whygrad.doctor.rules.rule import Finding, Proof, rule
from whygrad.doctor.source.opposites import is_far, opposite, parts_at
from whygrad.ops import families as ops
from whygrad.recording.calls import Produced
from whygrad.recording.record import Course
from whygrad.recording.replay import Trace, Traced

__all__: list[str] = []


@dataclass(eq=False)
class _Side:
    """The good one, or the bad one."""

    name: str
    near: int  # 1: a large number means near, -1: a small one
    pull: int  # 1: the loss wants it nearer, -1: farther
    base: Produced | None = None  # the number


@dataclass(eq=False)
class _Pair:
    call: Traced
    good: _Side
    bad: _Side


@rule(
    thresholds={"moved": (0.02, "of their spread by which the two must have moved apart wrongly")}
)
def swapped_pair(case: Case, course: Course) -> Iterator[Finding]:
    """Positive and negative are the wrong way round.

    The loss pulls the negative nearer and pushes the positive away: in a difference of two scores
    or distances, or among the arguments of a ranking loss, they are exchanged. The loss falls as it
    should, and the model learns the opposite of what is meant.

    Measured: The names of both sides in the text of the program, which must be each other's
    opposite; whether they are distances or scores, by the calls that made them; the direction in
    which the loss moves each, by its gradient; and how far apart they are for the first batch with
    the first and with the latest weights.
    Fix: Exchange the two: for scores -logsigmoid(pos - neg), for distances relu(d_pos - d_neg + m).
    Guardrail: assert (pos_scores > neg_scores).float().mean() > 0.5
    """
    trace = case.trace(course.first)
    if trace is None or not trace.reproduced or course.last is None:
        return
    pairs = [found for call in trace.calls if (found := _pair(trace, call)) is not None]
    if not pairs or any(each.good.pull > 0 or each.bad.pull < 0 for each in pairs):
        return
    pair = pairs[0]
    later = trace.again(values=course.last.values, backward=False)
    before, after = (_apart(each, pair) for each in (trace, later))
    if before is None or after is None or later.error is not None:
        return
    spread = max(float(np.std(before)), float(np.std(after)))
    if not after.mean() < before.mean() - case.limit("moved") * spread:
        return
    kind, less, more = (
        ("score", "smaller", "larger") if pair.good.near > 0 else ("distance", "larger", "smaller")
    )
    yield swapped_pair.finding(
        f"at {pair.call.spot} a smaller loss means a {less} {kind} of {pair.good.name} and a "
        f"{more} one of {pair.bad.name}: by their names it should be the other way",
        f"for the first batch {pair.good.name} was nearer than {pair.bad.name} by "
        f"{before.mean():.4g} on average with the first weights and is by {after.mean():.4g} with "
        f"the latest ones; nearer in {(after > 0).mean():.0%} of the pairs",
        where=pair.call.where,
        proof=Proof.REPLAYED,
        remedy=mended(trace.snapshot, {pair.call.number: _exchanged(pair.call)})
        if pair.call.op not in ops.ADD
        else None,
    )


def _exchanged(call: Traced) -> Any:
    """The call with the two in each other's place."""
    if call.op in ops.TRIPLETS:
        return lambda inner: (
            lambda one, two, three, *rest, **named: inner(one, three, two, *rest, **named)
        )
    return lambda inner: lambda one, two, *rest, **named: inner(two, one, *rest, **named)


def _pair(trace: Trace, call: Traced) -> _Pair | None:
    if call.op in ops.TRIPLETS:
        return _of_triplets(trace, call)
    if call.op not in ops.SHIFTS and call.op not in ops.MARGIN_RANKING:
        return None
    if len(call.inputs) < 2 or not all(each.requires_grad for each in call.inputs[:2]):
        return None
    if tuple(call.inputs[0].shape) != tuple(call.inputs[1].shape):
        return None
    slopes = _slopes(trace, call)
    parts = parts_at(call.where) if slopes is not None else None
    if slopes is None or parts is None or len(parts[1]) < 2:
        return None
    named = opposite(parts[1][0], parts[1][1])
    if named is None or is_far(named[0]) != is_far(named[1]):
        return None
    sides = []
    for place, slope in enumerate(slopes):
        found = _side(trace, call.sources[place], named[:2][place], slope)
        if found is None:
            return None
        sides.append(found)
    if sides[0].near != sides[1].near:
        return None
    return _Pair(call, *(sides if named[2] > 0 else sides[::-1]))


def _slopes(trace: Trace, call: Traced) -> tuple[int, int] | None:
    """In which direction a larger first and second number moves the loss."""
    if call.op in ops.MARGIN_RANKING:
        wanted = trace.array(call.inputs[2]) if len(call.inputs) > 2 else np.empty(0)
        if not wanted.size or len(np.unique(np.sign(wanted))) != 1 or not wanted.flat[0]:
            return None
        first = -1 if wanted.flat[0] > 0 else 1
        return first, -first
    found = call.gradients.get(0)
    if found is None or not found.low * found.high >= 0 or found.low == found.high == 0:
        return None
    slope = 1 if found.high > 0 else -1
    if call.op in ops.ADD:
        return slope, slope
    return (slope, -slope) if call.op in ops.SUB else (-slope, slope)


def _side(trace: Trace, source: Produced | None, name: str, slope: int) -> _Side | None:
    """What a number is: followed back through signs, factors and offsets that are numbers."""
    while True:
        way = follow(trace, source)
        made = way.maker
        if made is None or not made.inputs:
            return None
        own = [each for each in made.inputs if each.requires_grad]
        if len(made.inputs) == 1 and made.op in ops.NEG | ops.SHIFTS | ops.SCALINGS:
            slope *= _turn(made)
            if not slope:
                return None
            source = made.sources[0]
            continue
        near = _nearness(trace, made, way)
        if near is None or not own or (near > 0 and is_far(name)):
            return None
        return _Side(name, near, -slope * near, way.source)


def _turn(call: Traced) -> int:
    """The sign with which the one tensor of a call goes on; 0 if it is not known."""
    first = bool(call.args) and call.args[0] is call.inputs[0]
    number = next((each for each in call.args if isinstance(each, (int, float))), None)
    if call.op in ops.NEG:
        return -1
    if call.op in ops.SCALINGS:
        return 0 if not number or (call.op in ops.DIV and not first) else int(np.sign(number))
    if call.op in ops.REVERSED_SUB:
        return -1
    return -1 if call.op in ops.SUB and not first else 1


def _nearness(trace: Trace, call: Traced, way: Any) -> int | None:
    """1 for a similarity or a score, -1 for a distance."""
    if call.op in ops.COSINE_SIMILARITY:
        return 1
    if call.op in ops.LIKENESSES | ops.NORM:
        return -1
    if call.op in ops.LINEAR | ops.EINSUM or feature_axis(trace, way) is not None:
        return 1
    if call.op in ops.LOG_PROBABILITIES:
        return 1
    inner = follow(trace, call.sources[0]).maker if call.sources else None
    if inner is None:
        return None
    if call.op in ops.SQRT:
        return -1
    if call.op in ops.TOTALS:
        if inner.op in ops.POWERS | ops.ABS or _is_square(inner):
            return -1
        if inner.op in ops.MUL and len(inner.inputs) == 2:
            return 1
        return 1 if inner.op in ops.LOG_PROBABILITIES else None
    return None


def _is_square(call: Traced) -> bool:
    return call.op in ops.MUL and len(call.sources) == 2 and call.sources[0] == call.sources[1]


def _of_triplets(trace: Trace, call: Traced) -> _Pair | None:
    """anchor, positive, negative: the loss wants the second nearer than the third."""
    parts = parts_at(call.where)
    two = [] if parts is None else parts[1][1:]  # without the anchor
    if len(two) < 2 or len(call.inputs[1:]) < 2:
        return None
    named = opposite(two[0], two[1], letters=True)
    if named is None:
        return None
    sides = [
        _Side(named[:2][n], -1, 1 - 2 * n, call.sources[1 + n]) for n in (0, 1)
    ]  # the first is pulled, the second pushed
    return _Pair(call, *(sides if named[2] > 0 else sides[::-1]))


def _apart(trace: Trace, pair: _Pair) -> np.ndarray[Any, Any] | None:
    """By how much the good one is nearer than the bad one, pair by pair."""
    made = [trace.made_by(each.base) for each in (pair.good, pair.bad)]
    if any(each is None for each in made):
        return None
    values = [
        trace.array(call.outputs[side.base.place]).astype(np.float64)
        for call, side in zip(made, (pair.good, pair.bad))
        if call is not None and side.base is not None
    ]
    if pair.call.op in ops.TRIPLETS:
        again = trace.call(pair.call.number)
        if again is None:
            return None
        anchor = trace.array(again.inputs[0]).astype(np.float64)
        values = [np.linalg.norm(anchor - each, axis=-1) for each in values]
    if values[0].shape != values[1].shape:
        return None
    return np.asarray((values[0] - values[1]) * pair.good.near).ravel()
