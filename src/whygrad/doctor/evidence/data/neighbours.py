"""Whether samples that are alike have targets that are alike.

Where inputs say anything about their targets, the target of the nearest other sample is a better
guess than that of any.  If it is not, what was learned was learned by heart.  Nothing is trained
for this: it is asked of the data alone, of all batches that were kept.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from whygrad.doctor.evidence.case import Case
from whygrad.recording.ranges import Array
from whygrad.recording.record import Course
from whygrad.recording.replay.reading import Reading

__all__ = ["Agreement", "agreement_of"]

_NEAREST = 3
_FEATURES = 4096  # elements of a sample: more are too many to compare
_MOST = 512  # samples


@dataclass(frozen=True)
class Agreement:
    """How often neighbours have the same class, or how their values go together."""

    samples: int
    found: float
    chance: float
    margin: float  # two standard deviations of what chance gives

    @property
    def is_chance(self) -> bool:
        return self.found <= self.chance + self.margin

    @property
    def told(self) -> str:
        return (
            f"of {self.samples} samples, those that are alike agree in their targets no more than "
            f"any others ({self.found:.2f}; by chance {self.chance:.2f} ± {self.margin / 2:.2f})"
        )


def agreement_of(case: Case, course: Course) -> Agreement | None:
    """What neighbours in the kept batches say of each other; None if they cannot be compared."""
    steps = [course.first, *course.others, course.earlier, course.last]
    unique = {id(each): each for each in steps if each is not None}
    readings = [case.reading(each) for each in unique.values()]
    pairs = [pair for each in readings if each is not None and (pair := _pair(each)) is not None]
    if not pairs or len({(one.shape[1], other.dtype.kind) for one, other in pairs}) > 1:
        return None
    rows = np.concatenate([one for one, _ in pairs])
    targets = np.concatenate([other for _, other in pairs])
    _, first = np.unique(rows, axis=0, return_index=True)
    first = np.sort(first)[:_MOST]
    rows, targets = rows[first], targets[first]
    return _agreement(rows, targets) if len(rows) > _NEAREST else None


def _pair(reading: Reading) -> tuple[Array, Array] | None:
    """The samples of a step as rows of numbers, and one target for each."""
    if reading.target is None or len(reading.inputs) != 1:
        return None
    given = reading.trace.array(reading.inputs[0])
    target = reading.trace.array(reading.target)
    if given.dtype.kind != "f" or given.ndim < 2 or target.size != len(given):
        return None
    rows = given.reshape(len(given), -1).astype(np.float64)
    if rows.shape[1] > _FEATURES or not np.isfinite(rows).all():
        return None
    flat = target.ravel()
    if flat.dtype.kind == "f" and np.isin(flat, (0, 1)).all():
        flat = flat.astype(np.int64)
    return rows, flat


def _agreement(rows: Array, targets: Array) -> Agreement:
    spread = rows.std(axis=0)
    rows = (rows - rows.mean(axis=0)) / np.where(spread > 0, spread, 1)
    squares = np.square(rows).sum(axis=1)
    far = squares[:, None] + squares[None] - 2 * rows @ rows.T
    np.fill_diagonal(far, np.inf)
    nearest = np.argsort(far, axis=1)[:, :_NEAREST]
    count = len(rows)
    if targets.dtype.kind in "iub":
        same = float((targets[nearest] == targets[:, None]).mean())
        shares = np.unique(targets, return_counts=True)[1] / count
        chance = float(np.square(shares).sum())
        return Agreement(count, same, chance, 2 * math.sqrt(chance * (1 - chance) / count))
    around = targets[nearest].mean(axis=1)
    flat = not (np.ptp(around) and np.ptp(targets))
    found = 0.0 if flat else float(np.corrcoef(around, targets)[0, 1])
    return Agreement(count, found, 0.0, 2 / math.sqrt(count))
