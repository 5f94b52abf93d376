"""Scores that are products of two learned things: each row is to find its own column.

A contrastive loss (CLIP, SimCLR, InfoNCE) compares all of one batch with all of another and asks,
by a softmax over each row, which column belongs to it.  Known by the dataflow: a softmax, a
cross-entropy or a logsumexp runs over a matrix product both of whose sides are learned, with
nothing but factors, shifts and masks in between.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from whygrad.doctor.evidence.flow import axis_of, follow
from whygrad.ops import families as ops
from whygrad.recording.calls import Produced
from whygrad.recording.ranges import Array
from whygrad.recording.replay import Trace, Traced

__all__ = ["Contrast", "contrasts"]

_CHOOSING = ops.CROSS_ENTROPY | ops.LOG_SOFTMAX | ops.LOGSUMEXP | ops.SOFTMAX
_BETWEEN = ops.SCALINGS | ops.SHIFTS | ops.CLAMPS | ops.CASTS | ops.MASKED_FILL
_UNIT = 1e-3  # by which the squared length of a unit vector may differ from one
_MASKED = -1e3  # a score below this was masked out
_LEAST = 4  # rows and columns: of fewer nothing is told


@dataclass(eq=False)
class Contrast:
    """Rows that choose among columns by a product."""

    choice: Traced  # the softmax or the loss
    product: Traced
    scores: Array  # as the softmax gets them, rows first
    cosines: Array | None  # of unit vectors: the product itself
    scaled: Traced | None  # the call that multiplies or divides by a temperature
    learned_scale: bool  # whether a factor on the way is learned: it finds its own size
    itself: bool  # whether both sides are the same vectors
    target: Array | None  # the columns that a cross-entropy asks for

    @property
    def guess(self) -> float:
        """What it costs to know nothing: the logarithm of the number of columns to choose from."""
        return float(np.log((self.scores > _MASKED).sum(axis=1).clip(min=1)).mean())

    @property
    def scale(self) -> float:
        """What a cosine is multiplied with: one over the temperature."""
        if self.cosines is None:
            return math.nan
        kept = (self.scores > _MASKED) & np.isfinite(self.scores)
        spread = float(np.ptp(self.cosines[kept])) if kept.any() else 0.0
        return float(np.ptp(self.scores[kept])) / spread if spread > 0 else math.nan

    @property
    def floor(self) -> float:
        """The least loss of cosines times this: 1 for the right column and -1 for all others."""
        others = math.exp(self.guess) - 1
        return math.log1p(others * math.exp(-2 * abs(self.scale)))


def contrasts(trace: Trace) -> Iterator[Contrast]:
    """All such choices of a step."""
    for call in trace.calls:
        if call.op not in _CHOOSING or not call.inputs or call.inputs[0].ndim != 2:
            continue
        if not call.inputs[0].requires_grad or call.sources[0] is None:
            continue
        if call.op in ops.SOFTMAX and not _becomes_a_loss(trace, call):
            continue
        found = _contrast(trace, call)
        if found is not None:
            yield found


def _becomes_a_loss(trace: Trace, softmax: Traced) -> bool:
    """Whether the logarithm of it is taken: attention does not do that."""
    users = trace.consumers(Produced(softmax.number, 0))
    return any(
        each.op in ops.LOG
        or any(after.op in ops.LOG for after in trace.consumers(Produced(each.number, 0)))
        for each in users
    )


def _contrast(trace: Trace, call: Traced) -> Contrast | None:
    found = _product(trace, call.sources[0])
    product, scaled = found.product, found.scaled
    learned, turned = found.learned, found.turned
    if product is None or len(product.inputs) != 2:
        return None
    sides = [trace.array(each) for each in product.inputs]
    if not all(each.requires_grad for each in product.inputs) or any(
        each.ndim != 2 for each in sides
    ):
        return None
    if any(_is_a_weight(trace, each) for each in product.sources):
        return None
    scores = trace.array(call.inputs[0]).astype(np.float64)
    along = 1 if call.op in ops.CROSS_ENTROPY else axis_of(call)
    if along == 0:
        scores, turned = scores.T, not turned
    cosines = trace.array(product.outputs[0]).astype(np.float64)
    cosines = cosines.T if turned else cosines
    if cosines.shape != scores.shape or min(scores.shape) < _LEAST:
        return None
    rows, columns = sides[0], sides[1].T
    unit = all(np.allclose(np.square(each).sum(axis=1), 1, atol=_UNIT) for each in (rows, columns))
    itself = rows.shape == columns.shape and bool(np.array_equal(rows, columns))
    target = trace.array(call.inputs[1]) if _has_labels(call) else None
    known = cosines if unit else None
    return Contrast(call, product, scores, known, scaled, learned, itself, target)


def _has_labels(call: Traced) -> bool:
    if call.op not in ops.CROSS_ENTROPY or len(call.inputs) < 2:
        return False
    return not call.inputs[1].is_floating_point() and call.inputs[1].ndim == 1


def _is_a_weight(trace: Trace, source: Produced | None) -> bool:
    """Whether a side is a parameter, as it is or normalised: the weights of a classifier."""
    made = trace.made_by(source)
    while made is not None:
        sources = [each for each in made.sources if each is not None]
        if not sources:
            leaves = {id(each) for each in trace.parameters.values()}
            return made.op not in ops.EMBEDDING and all(id(each) in leaves for each in made.inputs)
        made = trace.made_by(sources[0])
    return True


@dataclass(eq=False)
class _Way:
    """From a choice back to the product that it is about."""

    product: Traced | None = None
    scaled: Traced | None = None
    learned: bool = False
    turned: bool = False  # transposed on the way


def _product(trace: Trace, source: Produced | None) -> _Way:
    """The matrix product behind factors, shifts and masks."""
    found = _Way()
    while True:
        way = follow(trace, source)
        found.turned ^= sum(call.op in ops.TRANSPOSES for call, _, _ in way.passed) % 2 == 1
        made = way.maker
        if made is None or made.op in ops.MATRIX_PRODUCTS:
            found.product = made
            return found
        if made.op not in _BETWEEN or not made.inputs:
            return found
        sizes = [each.numel() for each in made.inputs]
        place = sizes.index(max(sizes))
        others = [each for n, each in enumerate(made.inputs) if n != place]
        if made.op in ops.SCALINGS:
            if any(each.requires_grad and each.numel() > 1 for each in others):
                return found  # divided by their lengths: cosines, and not known as such here
            found.scaled = made
        found.learned |= any(each.requires_grad for each in others)
        source = made.sources[place]
