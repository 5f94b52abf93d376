"""When to write calls down, and when the loop has earned some rest.

A run that has gone well for a while is left alone between sampled steps: of such a step only the
loss, the gradients' sizes and what the model was given are noted.  A loss or gradient out of the
ordinary ends the rest at once, so that the steps on the way to a failure are on the tape.  Passes
are counted, not seconds: the same program is watched the same way.
"""

from __future__ import annotations

import math
from collections import deque

__all__ = ["Vigilance"]

_SETTLED = 32  # passes that are watched without rest
_ALERT = 16  # passes that are watched after something out of the ordinary
_RECENT = 16


class Vigilance:
    """Follows the losses of a run and says whether the next pass needs to be on the tape."""

    def __init__(self) -> None:
        self._losses: deque[float] = deque(maxlen=_RECENT)
        self._sizes: deque[float] = deque(maxlen=_RECENT)
        self._awake_until = _SETTLED

    def loss(self, number: int, value: float) -> None:
        """The pass ``number`` has this loss."""
        if _is_new(self._losses, value):
            self._awake_until = max(self._awake_until, number + _ALERT)
        self._losses.append(value)

    def gradient(self, number: int, size: float) -> None:
        """The gradients of the update after pass ``number`` have this typical size."""
        if self._sizes and not size <= 10 * max(self._sizes):
            self._awake_until = max(self._awake_until, number + _ALERT)
        self._sizes.append(size)

    def may_rest(self, number: int) -> bool:
        """Whether pass ``number`` may go by unrecorded."""
        return number >= self._awake_until


def _is_new(recent: deque[float], value: float) -> bool:
    """Whether a loss is above all recent ones by more than they differ."""
    if len(recent) < _RECENT or not math.isfinite(value):
        return not math.isfinite(value)
    most, least = max(recent), min(recent)
    return not value <= most + 2 * (most - least)
