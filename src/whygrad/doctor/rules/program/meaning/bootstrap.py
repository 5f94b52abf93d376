"""What a state is worth, learned from the worth of the next one, with a gradient for both.

``reward + gamma * value(next)`` is a target: what is known of the future, taken as it is.  If it
keeps its history, the step also changes the value of the next state, towards what is said of this
one, and knowledge flows backwards.  The form tells such a target from other comparisons of a model
with itself: a given number for each sample, plus a part of what the model answers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from whygrad.doctor.evidence.cuts import Ways
from whygrad.doctor.source.reader import source_of
from whygrad.ops import families as ops
from whygrad.recording.calls import Produced
from whygrad.recording.replay import Trace, Traced
from whygrad.source import Where

__all__ = ["Bootstrap", "learned_target"]

_DISCOUNTS = 0.8, 1.0  # what a factor on the future lies between: a half is a step in time
_ON_PURPOSE = re.compile(r"residual.gradient|bellman.residual|baird", re.IGNORECASE)
_HANDED_ON = ops.RESHAPING | ops.CASTS | ops.GETITEM


class Bootstrap(NamedTuple):
    """A target with a way back to what is trained."""

    value: Where  # the worth of what comes next
    target: Where
    discount: float


def learned_target(trace: Trace, trained: set[int]) -> Bootstrap | None:
    """The target of a step that is a reward and a part of the model's own answer, in the graph."""
    ways = Ways(trace)
    for call in trace.calls:
        compares = call.op in ops.DISTANCE_LOSSES or (call.op in ops.SUB and len(call.inputs) == 2)
        if not compares or call.number not in ways.live:
            continue
        sides = list(zip(call.inputs, call.sources))[:2]
        if len(sides) < 2 or not all(given.requires_grad for given, _ in sides):
            continue
        for own, other in (sides, sides[::-1]):
            found = _target(trace, other[1])
            behind = [_leaves(ways, trace, each[1], trained) for each in (own, other)]
            if found is not None and behind[0] & behind[1]:
                return None if _ON_PURPOSE.search(source_of(found.target).text) else found
    return None


def _target(trace: Trace, source: Produced | None) -> Bootstrap | None:
    """``given + discount * learned``, if that is how a value was computed."""
    made = _behind(trace, source)
    if made is None or made.op not in ops.ADD or len(made.inputs) != 2:
        return None
    learned = [each.requires_grad for each in made.inputs]
    if sum(learned) != 1 or made.inputs[learned.index(False)].numel() < 2:
        return None
    factors: list[float] = []
    value: Traced | None = None
    future = _behind(trace, made.sources[learned.index(True)])
    while future is not None and future.op in ops.MUL:
        factors += _numbers(trace, future)
        grows = [each for given, each in zip(future.inputs, future.sources) if given.requires_grad]
        if len(grows) != 1:
            return None
        value, future = trace.made_by(grows[0]), _behind(trace, grows[0])
    low, high = _DISCOUNTS
    discounts = [each for each in factors if low <= each < high]
    if not discounts or future is None:
        return None
    return Bootstrap(future.where if value is None else value.where, made.where, discounts[0])


def _behind(trace: Trace, source: Produced | None) -> Traced | None:
    """The call that computed a value, before it was reshaped."""
    made = trace.made_by(source)
    while made is not None and made.op in _HANDED_ON and made.sources:
        made = trace.made_by(made.sources[0])
    return made


def _numbers(trace: Trace, product: Traced) -> Iterator[float]:
    """The plain numbers among the factors of a product, and of a factor that has no history."""
    yield from (each for each in product.args if isinstance(each, float))
    for given, source in zip(product.inputs, product.sources):
        made = None if given.requires_grad else trace.made_by(source)
        if made is not None and made.op in ops.MUL:
            yield from (each for each in made.args if isinstance(each, float))


def _leaves(ways: Ways, trace: Trace, source: Produced | None, trained: set[int]) -> set[int]:
    """The parameters that the gradient of a value gets to."""
    live: set[Any] = Ways(trace, trace.made_by(source)).live
    return {leaf for leaf in trained if any(each.number in live for each in ways.uses([leaf]))}
