"""What a tensor's values look like, in a few numbers."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

__all__ = [
    "Array", "Range", "glance", "hint", "magnitudes", "rms", "row_marks",
    "sample_marks", "summarize", "thinned",
]  # fmt: skip

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Range:
    """Shape, extremes and composition of an array; low, high, mean and std of its finite part."""

    shape: tuple[int, ...]
    dtype: str
    low: float
    high: float
    mean: float
    std: float
    zeros: float  # the fraction that is exactly zero
    nans: int
    infs: int

    @property
    def finite(self) -> bool:
        return not self.unsound

    @property
    def unsound(self) -> int:
        """How many values are not finite."""
        return self.nans + self.infs

    @property
    def size(self) -> int:
        size = 1
        for each in self.shape:
            size *= each
        return size

    @property
    def largest(self) -> float:
        """The largest magnitude among the finite values."""
        return max(abs(self.low), abs(self.high))

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    def __str__(self) -> str:
        parts = []
        if not math.isnan(self.low):
            parts = [f"[{self.low:.4g}, {self.high:.4g}]", f"mean {self.mean:.3g}"]
        parts += [f"{self.nans} NaN"] if self.nans else []
        parts += [f"{self.infs} Inf"] if self.infs else []
        return f"{list(self.shape)} {self.dtype} {', '.join(parts)}"


def glance(array: Array) -> Range:
    """The range of at most some thousand values of an array, for looks that happen often."""
    few = thinned(array)
    if few.size == array.size or not math.isfinite(rms(array)):
        return summarize(array)
    return replace(summarize(few), shape=array.shape)


def summarize(array: Array) -> Range:
    """The range of an array of any dtype, empty ones included."""
    dtype = array.dtype.name
    values = array.astype(np.float64) if array.dtype.kind != "c" else np.abs(array)
    if array.size:
        low, high = float(values.min()), float(values.max())  # both are NaN if anything is
        if low > -1e150 and high < 1e150:
            flat = values.ravel()
            mean = float(flat.sum()) / flat.size
            square = _square_sum(flat) / flat.size
            spread = square - mean * mean
            if spread < 1e-6 * square:  # too few digits are left of it
                spread = float(flat.var())
            zeros = np.count_nonzero(flat == 0) / flat.size
            return Range(array.shape, dtype, low, high, mean, math.sqrt(spread), zeros, 0, 0)
    mask = np.isfinite(values)
    count = int(mask.sum())
    nans = int(np.isnan(values).sum())
    infs = values.size - count - nans
    finite = values if count == values.size else values[mask]
    if count == 0:
        return Range(array.shape, dtype, np.nan, np.nan, np.nan, np.nan, 0.0, nans, infs)
    return Range(
        array.shape,
        dtype,
        float(finite.min()),
        float(finite.max()),
        float(finite.mean()),
        float(finite.std()),
        float((finite == 0).sum()) / values.size,
        nans,
        infs,
    )


def magnitudes(array: Array) -> tuple[float, float, int]:
    """The smallest and the largest magnitude, and how many values are not finite."""
    sizes = np.abs(array).astype(np.float64)
    finite = sizes[np.isfinite(sizes)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (math.nan, math.nan)
    return low, high, sizes.size - finite.size


_FOLD = 32  # bits that are folded onto the others
_MIXER = 0x9E3779B97F4A7C15  # an odd number whose bits are spread evenly


def row_marks(array: Array, most: int = 64) -> list[int]:
    """A number for each of the first rows, the same for rows that are the same."""
    return [hash(each.tobytes()) for each in array[:most]] if array.ndim else []


def sample_marks(array: Array, columns: int = 64) -> list[int]:
    """A number for each row that cannot be the same as another by chance, from some of its values.

    Rows with few different values (flags, one-hot vectors, blank images) are left out.
    """
    flat = array.reshape(len(array), -1)
    few = flat[:, :: -(-flat.shape[1] // columns)].astype(np.float64)
    ordered = np.sort(few, axis=1)
    different = 1 + np.count_nonzero(ordered[:, 1:] != ordered[:, :-1], axis=1)
    weights = np.random.default_rng(0).integers(1, 1 << 62, few.shape[1], dtype=np.uint64) | 1
    # Round numbers have zeros in most of their bits: mixed, so that all bits tell them apart.
    bits = few.view(np.uint64)
    bits = (bits ^ (bits >> np.uint64(_FOLD))) * np.uint64(_MIXER)
    bits ^= bits >> np.uint64(_FOLD)
    # whole numbers that wrap around: the same sum in whatever order it is taken
    marks = (bits * weights).sum(axis=1, dtype=np.uint64)
    return [int(each) for each in marks[different >= min(4, few.shape[1])]]


def rms(array: Array) -> float:
    """The root of the mean square: one pass, and not finite if anything in the array is not."""
    if array.size == 0:
        return 0.0
    flat = array.ravel()
    if flat.dtype.kind == "c":
        flat = np.abs(flat)
    if flat.dtype.kind != "f" or flat.dtype.itemsize < 4:
        flat = flat.astype(np.float64)
    square = _square_sum(flat)
    if not math.isfinite(square) and flat.dtype.itemsize < 8:  # perhaps only the squares overflow
        flat = flat.astype(np.float64)
        square = _square_sum(flat)
    return math.sqrt(square / flat.size)


def _square_sum(flat: Array, piece: int = 8192) -> float:
    """The sum of the squares of real numbers.

    In pieces, because BLAS takes threads for longer vectors, and they go on spinning for tens of
    milliseconds in which the watched program's own threads want the cores.  ``vdot``, because NumPy
    warns of an overflow in ``dot``.
    """
    if flat.size <= piece:
        return float(np.vdot(flat, flat))
    pieces = (flat[start : start + piece] for start in range(0, flat.size, piece))
    return sum(float(np.vdot(each, each)) for each in pieces)


def hint(array: Array) -> float:
    """The rms of some 16 values, for looks that happen at every step.

    Each value is likely to be a cache miss, and so is the code of a library that is called for it.
    """
    flat = array.ravel("K")
    few = flat[:: max(1, flat.size // 16)]
    few = (few if few.dtype.kind == "f" else np.abs(few)).tolist()
    return math.hypot(*few) / math.sqrt(max(1, len(few)))


def thinned(array: Array, most: int = 4096) -> Array:
    """At most about ``most`` elements, evenly spread: enough for the size of a typical one."""
    flat = array.ravel()
    return flat[:: flat.size // most] if flat.size >= 2 * most else flat
