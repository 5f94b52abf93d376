"""An optimizer of the program's kind that works on copies, for experiments.

It has the options of the real one (momentum, betas, weight decay) and none of its state: what would
have happened *from here*, at another rate.  Only the engines' own classes are copied: an optimizer
of the program's own might hold on to the program's parameters by ways of its own.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from whygrad.recording.engines import Engine
from whygrad.recording.record import Course

__all__ = ["copied_optimizer", "is_copy", "peak_rates", "rate_of", "rates_by_hand"]

_MARK = "_whygrad_copy"
_NEEDS_CLOSURE = ("LBFGS",)


def is_copy(optimizer: Any) -> bool:
    """Whether an optimizer belongs to an experiment and not to the program."""
    return hasattr(optimizer, _MARK)


def copied_optimizer(
    engine: Engine,
    course: Course,
    copies: Mapping[int, Any],
    factor: float,
    options: dict[str, Any],
    also: Sequence[int] = (),
) -> Any:
    """Something with ``step()`` that updates ``copies`` as the course does its parameters.

    ``factor`` multiplies the learning rate, the largest that the course had; ``options`` replace
    those of the optimizer; ``also`` are copies that join its first group.  None if that cannot be
    done faithfully.
    """
    real = course.optimizer.thing
    if real is None:
        return _ByHand(engine, rates_by_hand(course), copies, factor)
    kind: Any = type(real)
    if not kind.__module__.startswith(f"{engine.name}.optim") or kind.__name__ in _NEEDS_CLOSURE:
        return None
    peaks = peak_rates(course)
    groups = []
    for place, group in enumerate(real.param_groups):
        own = {name: value for name, value in group.items() if name != "params"}
        rate = peaks[place] if place < len(peaks) else float(own["lr"])
        own |= {name: value for name, value in options.items() if name in own}
        own["lr"] = rate * factor
        own["params"] = [copies[id(each)] for each in group["params"] if id(each) in copies]
        groups.append(own)
    groups[0]["params"] += [copies[name] for name in also if name in copies]
    copied = kind.__new__(kind)
    state = {"defaults": dict(real.defaults), "state": defaultdict(dict), "param_groups": groups}
    copied.__setstate__(state)
    setattr(copied, _MARK, True)
    return copied


def peak_rates(course: Course) -> list[float]:
    """The largest learning rate that each group ever had."""
    seen = [step.rates for step in course.steps if step.rates]
    width = max((len(each) for each in seen), default=0)
    return [
        max((each[place] for each in seen if place < len(each) and math.isfinite(each[place])),
            default=0.0)
        for place in range(width)
    ]  # fmt: skip


def rate_of(course: Course) -> float:
    """The learning rate of a course: the largest it had."""
    rates = peak_rates(course) or list(rates_by_hand(course).values())
    return max(rates, default=math.nan)


def rates_by_hand(course: Course) -> dict[int, float]:
    """What updates by hand amount to: the size of a change over that of the gradient."""
    found: dict[int, float] = {}
    for step in course.steps:
        if step.sample is None or step.contaminated:
            continue
        for each in course.parameters:
            change = step.sample.updates.get(each.name, 0.0)
            gradient = step.gradients.get(each.name) or 0.0
            if id(each.tensor) in found or not (change > 0 and gradient > 0):
                continue
            if math.isfinite(change / gradient):
                found[id(each.tensor)] = change / gradient
        if len(found) == len(course.parameters):
            break
    return found


class _ByHand:
    """Plain gradient descent."""

    def __init__(
        self, engine: Engine, rates: dict[int, float], copies: Mapping[int, Any], factor: float
    ) -> None:
        self._engine = engine
        self._pairs = [(copies[name], rate * factor) for name, rate in rates.items()]

    def step(self) -> None:
        with self._engine.unrecorded():
            for copy, rate in self._pairs:
                if copy.grad is not None:
                    copy -= rate * copy.grad
