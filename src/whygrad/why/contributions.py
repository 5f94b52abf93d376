"""What a gradient is the sum of: one contribution per use of the value.

The *share* of a contribution c in the gradient g is ⟨c, g⟩ / ⟨g, g⟩: how much of g's length its
projection on g makes up.  Shares add up to 100 %, and one is negative if the contribution pulls the
other way.  The *cosine* says how much of the contribution points along g at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from whygrad.source import Where
from whygrad.why.flow import Box, Edge

__all__ = ["Contribution", "Term", "Terms", "contributions_to", "is_rounding", "norm_of"]

_ROUNDINGS = 4  # of the last digit, that a sum of a few contributions may be off


@dataclass(frozen=True)
class Term:
    """One element of the gradient that came in, times the slope between two elements."""

    index: tuple[int, ...]  # of the consumer
    incoming: float
    slope: float

    @property
    def product(self) -> float:
        return self.incoming * self.slope


@dataclass(frozen=True)
class Terms:
    """Which elements of the consumer an element's contribution came from."""

    largest: tuple[Term, ...]
    count: int  # of those with a slope other than zero
    of: int  # elements of the consumer
    left_out_sum: float  # of the products that are not among the largest

    @property
    def sum(self) -> float:
        return sum(term.product for term in self.largest) + self.left_out_sum


@dataclass(frozen=True)
class Contribution:
    """What one use of the value sent back."""

    name: str  # what the value was used for
    op: str | None
    argument: str  # which argument of the op it was
    where: Where | None
    value: Any  # an array in the shape of the gradient; a float for a Value
    norm: float
    share: float | None  # None: the gradient is zero, no more than rounding, or not finite
    cosine: float | None
    summed: tuple[int, ...] = ()  # axes over which broadcasting made it a sum
    stretched: tuple[int, ...] = ()  # the shape before that sum
    paths: int | None = None  # from the result, where all values on the way are numbers
    element: Any = None  # the chosen one
    terms: Terms | None = None  # of the chosen element


def contributions_to(
    target: Box,
    paths: dict[Edge, int] | None = None,
    index: tuple[int, ...] | None = None,
    terms: Mapping[Edge, Terms | None] = MappingProxyType({}),
) -> list[Contribution]:
    """In the order in which the program used the value; shares are those of element ``index``."""
    edges = [edge for edge in target.consumers if edge.contribution is not None]
    edges.sort(key=lambda edge: (edge.consumer.order, edge.position))
    gradient = _double(target.gradient)
    length = 0.0 if is_rounding(target) else norm_of(gradient)
    found = [_measured(edge, gradient, length, (paths or {}).get(edge)) for edge in edges]
    if index is None:
        return found
    whole = gradient[index].item()
    return [
        _followed(each, index, whole, terms.get(edge))
        for edge, each in zip(edges, found, strict=True)
    ]


def is_rounding(target: Box) -> bool:
    """Whether contributions cancel so far that the gradient is no more than their rounding."""
    dtype = np.asarray(target.gradient).dtype
    precision = float(np.finfo(dtype).eps) if dtype.kind in "fc" else 2.0**-8  # bfloat16
    sizes = sum(
        norm_of(edge.contribution) for edge in target.consumers if edge.contribution is not None
    )
    return norm_of(target.gradient) <= _ROUNDINGS * precision * sizes < np.inf and sizes > 0.0


def norm_of(value: Any) -> float:
    """The 2-norm, without overflow in the squares."""
    array = np.abs(_double(value)).ravel()
    peak = float(array.max(initial=0.0))
    if peak == 0.0 or not np.isfinite(peak):
        return peak
    return peak * float(np.linalg.norm(array / peak))


def _measured(edge: Edge, gradient: Any, length: float, paths: int | None) -> Contribution:
    value = _double(edge.contribution)
    norm = norm_of(value)
    share = cosine = None
    if 0.0 < length < np.inf and norm < np.inf:
        along = float(np.vdot(gradient / length, value).real)  # complex: as pairs of real numbers
        share = along / length
        cosine = None if norm == 0.0 else min(max(along / norm, -1.0), 1.0)
    return Contribution(
        edge.consumer.name,
        edge.consumer.op,
        edge.argument,
        edge.consumer.where,
        edge.contribution,
        norm,
        share,
        cosine,
        edge.summed,
        edge.stretched,
        paths,
    )


def _followed(
    contribution: Contribution, index: tuple[int, ...], whole: Any, terms: Terms | None
) -> Contribution:
    """The same with one element in view."""
    element = _double(contribution.value)[index].item()
    share = None
    if whole and np.isfinite(whole) and np.isfinite(element):
        share = (element / whole).real
    return replace(contribution, element=element, share=share, cosine=None, terms=terms)


def _double(value: Any) -> Any:
    array = np.asarray(value)
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)
