"""When to write calls down, and when the loop has earned some rest.

A run that has gone well for a while is left alone between sampled steps: of such a step only the
loss, the gradients' sizes and what the model was given are noted.  A loss or gradient out of the
ordinary ends the rest at once, so that the steps on the way to a failure are on the tape.  Passes
are counted, not seconds: the same program is watched the same way.
"""

from __future__ import annotations

import math
import sys
from collections import deque

__all__ = ["Vigilance"]

_SETTLED = 32  # passes that are watched without rest
_ALERT = 16  # passes that are watched after something out of the ordinary
_RECENT = 16
_REVIEW = 4  # passes between two looks at what is usual
_FAR = 10  # times the largest recent gradient


class Vigilance:
    """Follows the losses of a run and says whether the next pass needs to be on the tape."""

    def __init__(self) -> None:
        self._losses: deque[float] = deque(maxlen=_RECENT)
        self._sizes: deque[float] = deque(maxlen=_RECENT)
        self._most = math.inf  # of a usual loss …
        self._largest = math.inf  # … and of a usual gradient
        self._hints: deque[float] = deque(maxlen=_RECENT)
        self._largest_hint = sys.float_info.max
        self._awake_until = _SETTLED

    def wake(self, number: int) -> None:
        """Something new begins with pass ``number``: watch it as the beginning was."""
        self._awake_until = max(self._awake_until, number + _SETTLED)

    def is_usual(self, value: float) -> bool:
        """Whether this loss is one like the others."""
        return -math.inf < value <= self._most and value != math.inf

    def loss(self, number: int, value: float) -> None:
        """The pass ``number`` has this loss."""
        if not self.is_usual(value):
            self._awake_until = max(self._awake_until, number + _ALERT)
        self._losses.append(value)
        if number % _REVIEW == 0 and len(self._losses) == _RECENT:
            most = max(self._losses)
            self._most = most + 2 * (most - min(self._losses))

    def gradient(self, number: int, size: float) -> None:
        """The gradients of the update after pass ``number`` have this typical size."""
        if not size <= self._largest:
            self._awake_until = max(self._awake_until, number + _ALERT)
        self._sizes.append(size)
        self._largest = _FAR * max(self._sizes)

    def hint(self, number: int, size: float) -> bool:
        """Whether a hint at the size of the gradients is like the others."""
        if not size <= self._largest_hint:
            self._awake_until = max(self._awake_until, number + _ALERT)
            return False
        self._hints.append(size)
        if number % _REVIEW == 0 and len(self._hints) == _RECENT:
            self._largest_hint = _FAR * max(self._hints)
        return True

    def may_rest(self, number: int) -> bool:
        """Whether pass ``number`` may go by unrecorded."""
        return number >= self._awake_until
