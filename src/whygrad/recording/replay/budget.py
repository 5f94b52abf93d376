"""What the replays of an examination may cost, counted in work.

Seconds are others on a busy machine, and a doctor that counts them says something else there about
the same program.  So what is granted and what is spent are both counted from the sizes of recorded
calls: a tenth of what the passes of the run took, within limits.  Every replay counts.  A training
that would cost more than is left is refused, and of a run that seems to be well one that would cost
most of it.  A single look at a step is not, until far more was spent than was granted: where one
look takes a second, dozens of rules would take a minute.

Memory has a limit as well: a replay that would need more is given up, and of the values that
replays leave behind only those of the latest are kept.
"""

from __future__ import annotations

import math
from typing import Any
from weakref import WeakKeyDictionary

from whygrad.ops.families import LINEAR, RECURRENT
from whygrad.recording.record import Snapshot
from whygrad.recording.replay.runner import replay
from whygrad.recording.replay.trace import Trace, Traced

__all__ = ["LEAST", "LITTLE", "MEMORY", "MOST", "SECOND", "SHARE", "Budget", "work_of"]

_PRODUCTS = LINEAR | RECURRENT

# The unit is one number read or written, about a nanosecond of an ordinary core.
_CALL = 25_000.0  # what a call costs beside its arithmetic
_PRODUCT = 1 / 32  # a multiplication and addition of a matrix product
_BACKWARD = 2.0  # times the forward pass
_LOOK = 2.0  # times what is looked at
_PASS = 1.0 + _BACKWARD

SECOND = 1e9  # units

SHARE = 0.1  # of the work of the run's own passes, but …
LEAST = 5.0 * SECOND  # … this for a short run, …
LITTLE = 1.0 * SECOND  # … this for a short one that seems to be well, …
MOST = 7.0 * SECOND  # … and no more than this for a long one
_BEYOND = 3.0 * SECOND  # what was granted: then single looks are refused as well
_AT_ONCE = 0.8  # of what is left, for one training of a run that seems to be well
MEMORY = 1 << 30  # bytes


class Budget:
    """The work that may still be done for one examination, and the way to do it.

    ``most``: the user's own limit, which is granted whatever the length of the run was.
    """

    def __init__(
        self, least: float = LEAST, most: float | None = None, memory: float = MEMORY
    ) -> None:
        self.least = least
        self._most = most
        self.memory = memory
        self._of_run = 0.0
        self._spent = 0.0
        self._at_once = 1.0  # of what is left, for one training
        self.starved = False  # whether a replay found no memory
        self._forward: WeakKeyDictionary[Snapshot, float] = WeakKeyDictionary()

    @property
    def left(self) -> float:
        if self._most is not None:
            return self._most - self._spent
        return max(self.least, min(SHARE * self._of_run, MOST)) - self._spent

    def spare(self, part: float = 1.0) -> None:
        """The run seems to be well, or is ``part`` of the way there: spend little on it."""
        self.least = min(self.least, LEAST + part * (LITTLE - LEAST))
        if part >= 1.0:
            self._at_once = _AT_ONCE

    def add_passes(self, snapshot: Snapshot, passes: int) -> None:
        """The run made this many passes like that of the snapshot."""
        self._of_run += passes * _PASS * self._forward.get(snapshot, 0.0)

    def allows(self, snapshot: Snapshot, replays: int) -> bool:
        """Whether so many replays, forward and backward, can be paid for."""
        cost = replays * _PASS * self._forward.get(snapshot, 0.0)
        return cost <= self._at_once * self.left

    def note(self, snapshot: Snapshot, forward: float) -> None:
        """Say what the forward pass of a snapshot costs that was made out of another one."""
        self._forward[snapshot] = forward

    def replay(
        self, snapshot: Snapshot, *, backward: bool = True, look: bool = False, **how: Any
    ) -> Trace:
        """Run a step again; see :func:`.runner.replay`."""
        if self.left < -_BEYOND:
            return Trace(snapshot, [], math.nan, False, {}, error=TimeoutError("it cost enough"))
        trace = replay(snapshot, backward=backward, look=look, memory=self.memory, **how)
        trace.budget = self
        self.starved |= isinstance(trace.error, MemoryError) or "allocate" in str(trace.error)
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
