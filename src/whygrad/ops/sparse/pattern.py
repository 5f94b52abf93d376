"""Where the elements of a sparse tensor are.

A sparse array is a pattern (integers: coordinates and a shape) and one value per coordinate.
Everything in this module is integer work with no derivative; the ops on the values are ordinary
ops on dense vectors, and that is why they need no rules of their own.
"""

from __future__ import annotations

from functools import cached_property
from math import prod
from typing import Any

import numpy as np

__all__ = ["CooArray", "CooPattern", "CsrArray", "CsrPattern", "Pattern", "SparseArray", "matched"]

Array = Any
Shape = tuple[int, ...]


class Pattern:
    """The coordinates that a sparse array stores, in the order of its values."""

    shape: Shape
    indices: Array  # one row per dimension, one column per stored element
    coalesced: bool  # sorted by coordinate, none twice
    kind: type[SparseArray]

    @property
    def count(self) -> int:
        return int(self.indices.shape[1])

    @cached_property
    def flat(self) -> Array:
        """Row-major position of each stored element in the dense array."""
        steps = [prod(self.shape[axis + 1 :]) for axis in range(len(self.shape))]
        return np.asarray(steps, dtype=np.int64) @ self.indices

    @property
    def distinct(self) -> tuple[Pattern, Array, Array]:
        """The same places sorted and each once; for every value its new position; one
        representative of each place."""
        if self.coalesced:
            everything = np.arange(self.count)
            return self, everything, everything
        return self._merged

    @cached_property
    def _merged(self) -> tuple[Pattern, Array, Array]:
        order = np.lexsort(self.indices[::-1])
        ordered = self.indices[:, order]
        starts = np.ones(self.count, dtype=bool)
        starts[1:] = (ordered[:, 1:] != ordered[:, :-1]).any(axis=0)
        group = np.empty(self.count, dtype=np.int64)
        group[order] = np.cumsum(starts) - 1
        merged = CooPattern(ordered[:, starts], self.shape, coalesced=True)
        return self.like(merged), group, order[starts]

    @cached_property
    def by_row(self) -> tuple[Array, Array, Array]:
        """Compressed rows of a matrix: order of the values, row starts, columns."""
        rows, columns = self.indices
        order = np.argsort(rows, kind="stable")
        return order, _row_starts(rows, self.shape[0]), columns[order]

    @cached_property
    def transposed(self) -> Pattern:
        """Of a matrix, with the values in the same order."""
        return CooPattern(self.indices[::-1], self.shape[::-1], coalesced=False)

    def like(self, pattern: CooPattern) -> Pattern:
        """``pattern`` in the format of this one."""
        return pattern

    def array(self, values: Array) -> SparseArray:
        """Values at these coordinates."""
        return self.kind(self, values)

    def same_as(self, other: Pattern) -> bool:
        return self is other or (
            self.shape == other.shape and np.array_equal(self.indices, other.indices)
        )


class CooPattern(Pattern):
    """Coordinates in any order, repeats allowed: their values add up."""

    def __init__(self, indices: Array, shape: Shape, coalesced: bool) -> None:
        self.indices = indices
        self.shape = shape
        self.coalesced = coalesced
        self.kind = CooArray


class CsrPattern(Pattern):
    """A matrix by rows: where each row starts, and the columns in it."""

    coalesced = True

    def __init__(self, row_starts: Array, columns: Array, shape: Shape) -> None:
        self.row_starts = row_starts
        self.columns = columns
        self.shape = shape
        self.kind = CsrArray

    @cached_property
    def indices(self) -> Array:  # worked out on first use
        rows = np.repeat(np.arange(self.shape[0]), np.diff(self.row_starts))
        return np.stack([rows, self.columns])

    @cached_property
    def by_row(self) -> tuple[Array, Array, Array]:
        return slice(None), self.row_starts, self.columns

    def like(self, pattern: CooPattern) -> Pattern:
        return CsrPattern.of(pattern)

    @classmethod
    def of(cls, pattern: Pattern) -> CsrPattern:
        """From coordinates that are sorted and distinct."""
        rows, columns = pattern.indices
        return cls(_row_starts(rows, pattern.shape[0]), columns, pattern.shape)


def _row_starts(rows: Array, count: int) -> Array:
    starts = np.zeros(count + 1, dtype=np.int64)
    np.cumsum(np.bincount(rows, minlength=count), out=starts[1:])
    return starts


class SparseArray:
    """The payload of a sparse tensor: one value per coordinate of the pattern."""

    __slots__ = ("pattern", "values")

    def __init__(self, pattern: Pattern, values: Array) -> None:
        self.pattern = pattern
        self.values = values

    @property
    def shape(self) -> Shape:
        return self.pattern.shape

    @property
    def ndim(self) -> int:
        return len(self.pattern.shape)

    @property
    def dtype(self) -> Any:
        return self.values.dtype

    @property
    def nbytes(self) -> int:
        return int(self.values.nbytes)


class CooArray(SparseArray):
    """Payload of ``whygrad.sparse_coo``."""

    __slots__ = ()


class CsrArray(SparseArray):
    """Payload of ``whygrad.sparse_csr``."""

    __slots__ = ()


def matched(left: Pattern, right: Pattern) -> tuple[Array, Array]:
    """Positions in two coalesced patterns that name the same coordinate."""
    both = np.concatenate([left.indices, right.indices], axis=1)
    merged = CooPattern(both, left.shape, coalesced=False)
    _, group, _ = merged.distinct
    of_left, of_right = group[: left.count], group[left.count :]
    _, positions_left, positions_right = np.intersect1d(
        of_left, of_right, assume_unique=True, return_indices=True
    )
    return positions_left, positions_right
