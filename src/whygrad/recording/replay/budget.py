"""What the replays of an examination may cost, counted in work.

Seconds are others on a busy machine, and a doctor that counts them says something else there about
the same program.  So what is granted and what is spent are both counted from the sizes of recorded
calls: half of what the passes of the run took, or, for a short run, a fixed amount.  Every replay
counts.  A single look at a step is never refused; a training that would cost more than is left is.
"""

from __future__ import annotations

import math
from typing import Any
from weakref import WeakKeyDictionary

from whygrad.ops.families import LINEAR, RECURRENT
from whygrad.recording.record import Snapshot
from whygrad.recording.replay.runner import replay
from whygrad.recording.replay.trace import Trace, Traced

__all__ = ["LEAST", "SHARE", "Budget", "work_of"]

_PRODUCTS = LINEAR | RECURRENT

# The unit is one number read or written, about a nanosecond of an ordinary core.
_CALL = 25_000.0  # what a call costs beside its arithmetic
_PRODUCT = 1 / 32  # a multiplication and addition of a matrix product
_BACKWARD = 2.0  # times the forward pass
_LOOK = 2.0  # times what is looked at
_PASS = 1.0 + _BACKWARD

SHARE = 0.5  # of the work of the run's own passes
LEAST = 2.5e9  # for a run that was shorter than twice that


class Budget:
    """The work that may still be done for one examination, and the way to do it."""

    def __init__(self, least: float = LEAST) -> None:
        self._least = least
        self._of_run = 0.0
        self._spent = 0.0
        self._forward: WeakKeyDictionary[Snapshot, float] = WeakKeyDictionary()

    @property
    def left(self) -> float:
        return max(self._least, SHARE * self._of_run) - self._spent

    def add_passes(self, snapshot: Snapshot, passes: int) -> None:
        """The run made this many passes like that of the snapshot."""
        self._of_run += passes * _PASS * self._forward.get(snapshot, 0.0)

    def allows(self, snapshot: Snapshot, replays: int) -> bool:
        """Whether so many replays, forward and backward, can be paid for."""
        return replays * _PASS * self._forward.get(snapshot, 0.0) <= self.left

    def note(self, snapshot: Snapshot, forward: float) -> None:
        """Say what the forward pass of a snapshot costs that was made out of another one."""
        self._forward[snapshot] = forward

    def replay(
        self, snapshot: Snapshot, *, backward: bool = True, look: bool = False, **how: Any
    ) -> Trace:
        """Run a step again; see :func:`.runner.replay`."""
        trace = replay(snapshot, backward=backward, look=look, **how)
        trace.budget = self
        forward = self._forward.get(snapshot)
        if forward is None:
            forward = sum(map(work_of, trace.calls))
            if trace.error is None:
                self._forward[snapshot] = forward
        passes = 1.0 + (_BACKWARD if backward else 0.0)
        self._spent += forward * passes * (1.0 + _LOOK if look else 1.0)
        return trace


def work_of(call: Traced) -> float:
    """The work of one call, by the sizes of what went in and what came out."""
    given = [_size(each) for each in call.inputs]
    made = sum(_size(each) for each in call.outputs)
    work = _CALL + sum(given) + made
    if call.op in _PRODUCTS:
        # For matrices of m × k and k × n numbers this is the m · k · n of their product.
        work += _PRODUCT * math.sqrt(made * math.prod(sorted(given)[-2:]))
    return work


def _size(value: Any) -> int:
    return math.prod(getattr(value, "shape", ()))
