"""Whether the numbers of a sample lie as its axes say.

Pictures and records of sensors are smooth: neighbours along an axis are alike.  If axes were
renamed and not moved, neighbours are numbers of different channels, and the same numbers, read in
the other order, are smooth again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from whygrad.recording.ranges import Array

__all__ = ["Misread", "misread"]

_SAMPLES = 64
_CHANNELS = 16  # at most: more are features, which have no order
_LENGTH = 8  # at least, along which values are compared
_ROUGH = 0.5  # of how numbers without order differ, at least: else all is well as it is
_SMOOTHER = 0.5  # times as rough at most, read in the other order


class Misread(NamedTuple):
    """Numbers that are smooth in another order of the axes."""

    before: tuple[int, ...]  # the shape of one sample in which they are
    rough: float  # mean difference of neighbours, over that of numbers without order: as given …
    smooth: float  # … and in the other order


def misread(given: Array) -> Misread | None:
    """For samples [channels, …]: whether they are [… , channels] that was not moved."""
    if given.dtype.kind != "f" or given.ndim not in (3, 4) or len(given) < 2:
        return None
    channels, *places = given.shape[1:]
    if not 1 < channels <= _CHANNELS or min(places) < _LENGTH:
        return None
    few = given[:_SAMPLES].astype(np.float64)
    other = few.reshape(len(few), *places, channels)
    rough = _roughness(few, first=2)
    smooth = _roughness(np.moveaxis(other, -1, 1), first=2)
    if not rough > _ROUGH or not smooth < _SMOOTHER * rough:
        return None
    return Misread((*places, channels), rough, smooth)


def _roughness(values: Array, first: int) -> float:
    """The mean difference of neighbours, channel by channel, over that of any two numbers."""
    spread = float(values.std())
    if not spread > 0:
        return 0.0
    axes = range(first, values.ndim)
    found = [float(np.abs(np.diff(values, axis=axis)).mean()) for axis in axes]
    return float(np.mean(found)) / (spread * 2 / np.sqrt(np.pi))  # of normal numbers
