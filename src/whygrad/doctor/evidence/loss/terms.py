"""The terms of a loss, each with the number that it is multiplied by.

A loss that is a sum of several says nothing of each: one that counts a thousandth of the rest falls
by itself or not at all, and the total looks well either way.  So the sum is taken apart, down to
the factors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from whygrad.ops import families as ops
from whygrad.recording.replay import Trace, Traced
from whygrad.source import Where

__all__ = ["Weighed", "terms_of"]

_THROUGH = ops.NEG | ops.RESHAPING | ops.CASTS


@dataclass(frozen=True)
class Weighed:
    """One term of the sum that a loss is."""

    made: Traced  # as the program computed it, before any factor
    factor: float  # by which it goes into the loss
    factor_at: Where | None = None  # the line with a factor that is not 1

    def value(self, trace: Trace) -> float:
        return float(trace.array(self.made.outputs[0]).item())

    def part(self, trace: Trace) -> float:
        """What it is in the loss."""
        return self.factor * self.value(trace)


def terms_of(trace: Trace) -> list[Weighed]:
    """The terms of a loss that gradients flow through, in the order in which they were computed."""
    found: list[Weighed] = []
    waiting: list[tuple[Traced | None, float, Where | None]] = [(trace.root, 1.0, None)]
    while waiting:
        call, factor, line = waiting.pop()
        if call is None or not call.outputs[0].requires_grad:
            continue
        scale = _scale(call)
        if call.op in ops.SHIFTS and _is_number(call.outputs[0]):
            signs = _signs(call)
            waiting += [
                (trace.made_by(source), factor * sign, line)
                for source, sign in zip(call.sources, signs)
            ]
        elif scale is not None and trace.made_by(call.sources[scale[0]]) is not None:
            place, number = scale
            at = call.where if number not in (1.0, -1.0) else line
            waiting.append((trace.made_by(call.sources[place]), factor * number, at))
        else:
            found.append(Weighed(call, factor, line))
    return sorted(found, key=lambda each: each.made.number)


def _signs(call: Traced) -> Sequence[float]:
    if call.op in ops.DIFFERENCES and len(call.inputs) > 1:
        return (1.0, -1.0) if call.op in ops.SUB else (-1.0, 1.0)
    minus = call.op in ops.DIFFERENCES and not hasattr(call.args[0], "requires_grad")
    minus |= call.op in ops.REVERSED_SUB
    return [-1.0 if minus else 1.0] * len(call.inputs)


def _scale(call: Traced) -> tuple[int, float] | None:
    """Which input of a call goes on as a multiple of itself, and of what size."""
    if not _is_number(call.outputs[0]):
        return None
    if call.op in _THROUGH:
        return 0, -1.0 if call.op in ops.NEG else 1.0
    if call.op not in ops.SCALINGS or len(call.args) < 2:
        return None
    learned = [at for at, each in enumerate(call.args[:2]) if getattr(each, "requires_grad", False)]
    if len(learned) != 1:
        return None
    other = call.args[1 - learned[0]]
    if hasattr(other, "numel") and other.numel() != 1:
        return None
    number = float(other)
    if call.op in ops.DIV:
        if learned[0] or not number:
            return None
        number = 1 / number
    place = next(at for at, each in enumerate(call.inputs) if each is call.args[learned[0]])
    return place, number


def _is_number(tensor: Any) -> bool:
    return hasattr(tensor, "numel") and tensor.numel() == 1
