"""Which places of a batch of sequences are filling: what shorter ones are brought to one length by.

Each sequence ends (or begins) with a run of one value that stands nowhere else, and the runs are of
different lengths.
"""

from __future__ import annotations

import numpy as np

from whygrad.recording.ranges import Array

__all__ = ["filling_of"]

_LEAST = 0.02  # of all places: of less it is not known what it is


def filling_of(values: Array) -> Array | None:
    """True where a place of [N, T] tokens or [N, T, F] numbers is filling; None without any."""
    if values.ndim == 2 and values.dtype.kind in "iu" and values.size:
        numbers, counts = np.unique(values[:, [0, -1]], return_counts=True)
        found = values == numbers[counts.argmax()]
    elif values.ndim == 3 and values.dtype.kind == "f":
        found = (values == 0).all(axis=-1)
    else:
        return None
    return found if _is_run(found) or _is_run(found[:, ::-1]) else None


def _is_run(found: Array) -> bool:
    """Whether it stands at the end of rows only, as a run of more than one length."""
    at_the_end = bool((found[:, 1:] >= found[:, :-1]).all())
    lengths = found.sum(axis=1)
    several = len(np.unique(lengths)) > 1 and lengths.max(initial=0) < found.shape[1]
    return at_the_end and several and bool(found.mean() > _LEAST)
