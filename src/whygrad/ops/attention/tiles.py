"""Attention on arrays, a tile of scores at a time.

The matrix of scores is queries × keys large, and nothing of it is kept: with the arguments and one
number per row, the logarithm of the sum that normalises the row (``lse``), backward makes each
tile again.  A tile is several small matrices together, or a band of rows of a large one.

Scores of ordinary size go into ``exp`` as they are.  The largest score of a row is subtracted
first only where ``exp`` could overflow or a row could vanish: finding it takes longer than all
the exponentials.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

__all__ = ["attend", "batch_shape", "pull_back"]

Array = Any
Shape = tuple[int, ...]
Index = tuple[Any, ...]

TILE = 2**18  # scores at a time: a megabyte of float32, which the second level of cache holds
BAND = 128  # rows of a causal band: what lies right of it is never computed
# Scores up to here, with a mask up to there, need no shift: e²⁰ is far from the limits of float32.
ORDINARY_SCORE, ORDINARY_MASK, ORDINARY_LSE = 16.0, 4.0, 20.0

_ALL = slice(None)


def attend(
    query: Array, key: Array, value: Array, mask: Array | None, causal: bool, scale: float
) -> tuple[Array, Array]:
    """softmax(scale·query·keyᵀ + mask)·value, and the lse of each row of scores."""
    batch = batch_shape(query, key, value, mask)
    scores = _Scores(batch, query, key, mask, causal, scale)
    value = _spread(value, batch)
    y = _empty_like(scores.query, value.shape[-1])
    lse = np.empty((*batch, query.shape[-2], 1), query.dtype)
    ones = np.ones((key.shape[-2], 1), query.dtype)
    for where, rows, columns in scores.tiles():
        here = (*where, rows, _ALL)
        tile = scores.at(where, rows, columns)
        highest = None if scores.are_ordinary else _highest(tile)
        if highest is not None:
            tile -= highest
        np.exp(tile, tile)
        total = np.matmul(tile, ones[columns])  # a product adds up rows faster than a sum does
        total[total == 0] = np.inf  # a row that sees no key: its probabilities are 0, not 0/0
        part = y[here]
        np.matmul(tile, value[(*where, columns, _ALL)], out=part)
        part /= total
        np.log(total, out=total)
        if highest is not None:
            total += highest
        lse[here] = total
    return y, lse


def _highest(tile: Array) -> Array:
    """The largest score of each row; 0 for a row of −inf, where nothing can be subtracted."""
    highest = np.maximum.reduce(tile, -1, keepdims=True, initial=-np.inf)
    highest[highest == -np.inf] = 0
    return highest


def pull_back(
    of_y: Array | None,
    of_lse: Array | None,
    query: Array,
    key: Array,
    value: Array,
    mask: Array | None,
    y: Array,
    lse: Array,
    causal: bool,
    scale: float,
    mask_needs_it: bool,
) -> tuple[Array, Array, Array, Array | None]:
    """The gradients of query, key, value and mask, in the shape of the whole batch.

    With p the probabilities, ∂scores = p·(of_y·valueᵀ − mean), where the mean over a row is a
    product of two rows that are there already, Σ of_y·y.
    """
    batch = lse.shape[:-2]
    scores = _Scores(batch, query, key, mask, causal, scale)
    query, key, value = scores.query, scores.key, _spread(value, batch)
    of_y = np.zeros_like(y) if of_y is None else of_y
    mean = np.einsum("...i,...i->...", of_y, y)[..., None]
    if of_lse is not None:
        mean -= of_lse
    # p = exp(scores − lse), and exp(−lse) may as well be a factor of the smaller matrices.
    shifted = not _within(lse, ORDINARY_LSE)
    if not shifted:
        weight = np.exp(-lse)
        of_y = of_y * weight
        mean *= weight
    of_query, of_key, of_value = map(_empty_like, (query, key, value))
    of_mask = np.zeros((*batch, *scores.size), query.dtype) if mask_needs_it else None
    value_t = _transposed(value)
    once = scores.is_one_band
    if not once:
        of_key[...] = 0
        of_value[...] = 0
    for where, rows, columns in scores.tiles():
        here, there = (*where, rows, _ALL), (*where, columns, _ALL)
        tile = scores.at(where, rows, columns)
        if shifted:
            tile -= lse[here]
        np.exp(tile, tile)
        _add_product(of_value[there], tile, of_y[here], once)
        of_scores = np.matmul(of_y[here], value_t[(*where, _ALL, columns)])
        of_scores -= mean[here]
        of_scores *= tile
        np.matmul(of_scores, key[there], out=of_query[here])
        _add_product(of_key[there], of_scores, query[here], once)
        if of_mask is not None:
            of_mask[(*where, rows, columns)] = of_scores
    of_query *= scale
    of_key *= scale
    return of_query, of_key, of_value, of_mask


def _add_product(total: Array, a: Array, b: Array, first: bool) -> None:
    """total = aᵀ·b, or total += aᵀ·b"""
    a = np.swapaxes(a, -1, -2)
    if first:
        np.matmul(a, b, out=total)
    else:
        total += np.matmul(a, b)


class _Scores:
    """scale·query·keyᵀ + mask, one tile after the other in the same memory."""

    def __init__(
        self,
        batch: Shape,
        query: Array,
        key: Array,
        mask: Array | None,
        causal: bool,
        scale: float,
    ) -> None:
        self.size = rows, columns = query.shape[-2], key.shape[-2]
        self.query, self.key = _spread(query, batch), _spread(key, batch)
        self.are_ordinary = False  # whether the latest tile needs no shift
        # The copy makes the product faster by more than it costs, and takes the factor along.
        self._key_t = _transposed(self.key)
        self._key_t *= scale
        self._mask: Array | None = None
        self._limit = ORDINARY_SCORE
        if mask is not None:
            added = _as_addend(mask, query.dtype)
            if not _within(added[added != -np.inf], ORDINARY_MASK):
                self._limit = 0.0
            self._mask = np.broadcast_to(added, (*batch, rows, columns))
        self._causal = causal
        self._batch = batch
        self._band = _band(rows, columns, causal)
        self._memory = np.empty(0, query.dtype)

    @property
    def is_one_band(self) -> bool:
        """Whether every tile has all rows and all columns."""
        rows, columns = self.size
        return 0 < rows <= self._band and not (self._causal and columns > rows)

    def tiles(self) -> Iterator[tuple[Index, slice, slice]]:
        """Where in the batch, which rows, and the columns that these rows see."""
        rows, columns = self.size
        for where in _pieces(self._batch, TILE // max(self._band * columns, 1)):
            for start in range(0, rows, self._band):
                stop = min(start + self._band, rows)
                seen = min(stop, columns) if self._causal else columns
                yield where, slice(start, stop), slice(0, seen)

    def at(self, where: Index, rows: slice, columns: slice) -> Array:
        """The scores of a tile; they are gone when the next one is made."""
        query, key_t = self.query[(*where, rows, _ALL)], self._key_t[(*where, _ALL, columns)]
        shape = (*query.shape[:-1], key_t.shape[-1])
        size = prod(shape)
        if self._memory.size < size:
            self._memory = np.empty(size, query.dtype)
        tile = self._memory[:size].reshape(shape)
        np.matmul(query, key_t, out=tile)
        self.are_ordinary = _within(tile, self._limit)
        if self._mask is not None:
            tile += self._mask[(*where, rows, columns)]
        if self._causal and columns.stop > rows.start:
            later = _later(rows.stop - rows.start, columns.stop - rows.start, tile.dtype)
            tile[..., rows.start :] += later
        return tile


def batch_shape(*arrays: Array | None) -> Shape:
    """The dimensions before the last two, broadcast."""
    return np.broadcast_shapes(*[each.shape[:-2] for each in arrays if each is not None])


def _band(rows: int, columns: int, causal: bool) -> int:
    """How many rows a tile has."""
    if rows * columns <= TILE // 4:
        return max(rows, 1)
    fitting = max(TILE // columns, 16)
    return min(fitting, BAND) if causal else fitting


def _pieces(batch: Shape, count: int) -> Iterator[Index]:
    """Indices that take a batch apart, about ``count`` matrices each."""
    axis = len(batch)
    while axis and prod(batch[axis - 1 :]) <= count:
        axis -= 1
    if not axis:
        yield (...,)
        return
    step = max(count // prod(batch[axis:]), 1)
    for outer in np.ndindex(*batch[: axis - 1]):
        for start in range(0, batch[axis - 1], step):
            yield (*outer, slice(start, start + step), ...)


def _within(x: Array, limit: float) -> bool:
    """Whether all numbers are between ±limit; NaN is not."""
    return x.size == 0 or bool(x.min() > -limit and x.max() < limit)


def _as_addend(mask: Array, dtype: Any) -> Array:
    """A mask that says who sees whom as one to add: 0 or −inf."""
    if mask.dtype != np.bool_:
        return mask
    return np.where(mask, dtype.type(0), dtype.type(-np.inf))


@lru_cache(maxsize=32)
def _later(rows: int, columns: int, dtype: Any) -> Array:
    """−inf where the column is later than the row, else 0."""
    return np.triu(np.full((rows, columns), -np.inf, dtype), 1)


def _spread(x: Array, batch: Shape) -> Array:
    shape = (*batch, *x.shape[-2:])
    return x if x.shape == shape else np.broadcast_to(x, shape)


def _transposed(x: Array) -> Array:
    return np.array(np.swapaxes(x, -1, -2), order="C")


def _empty_like(x: Array, columns: int | None = None) -> Array:
    """Fresh memory in the order of ``x``, so that heads cut from one tensor join without a copy."""
    if columns is None or columns == x.shape[-1]:
        return np.empty_like(x)
    return np.empty((*x.shape[:-1], columns), x.dtype)
