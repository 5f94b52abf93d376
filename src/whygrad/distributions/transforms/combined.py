"""Transforms made of transforms: one after the other, side by side, or over more dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import prod
from typing import Any

import whygrad
from whygrad.distributions import constraints
from whygrad.distributions.transforms.transform import Transform
from whygrad.distributions.utils import sum_rightmost
from whygrad.errors import fail
from whygrad.tensor import Tensor
from whygrad.tensor.memory import Size

__all__ = [
    "CatTransform",
    "ComposeTransform",
    "IndependentTransform",
    "ReshapeTransform",
    "StackTransform",
    "identity_transform",
]


class ComposeTransform(Transform):
    """One transform after the other; the first of ``parts`` comes first."""

    def __init__(self, parts: Sequence[Transform], cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.parts = [each.with_cache(cache_size) for each in parts] if cache_size else list(parts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ComposeTransform) and self.parts == other.parts

    __hash__ = Transform.__hash__

    @property
    def domain(self) -> Any:
        if not self.parts:
            return constraints.real
        domain = self.parts[0].domain
        dim = self.parts[-1].codomain.event_dim
        for part in reversed(self.parts):
            dim += part.domain.event_dim - part.codomain.event_dim
            dim = max(dim, part.domain.event_dim)
        return _enlarged(domain, dim)

    @property
    def codomain(self) -> Any:
        if not self.parts:
            return constraints.real
        codomain = self.parts[-1].codomain
        dim = self.parts[0].domain.event_dim
        for part in self.parts:
            dim += part.codomain.event_dim - part.domain.event_dim
            dim = max(dim, part.codomain.event_dim)
        return _enlarged(codomain, dim)

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        return all(each.bijective for each in self.parts)

    @property
    def sign(self) -> Any:
        return prod([each.sign for each in self.parts])

    @property
    def inv(self) -> Transform:
        if self._inv is None:
            self._inv = ComposeTransform([part.inv for part in reversed(self.parts)])
            self._inv._inv = self
        inverse: Transform = self._inv
        return inverse

    def with_cache(self, cache_size: int = 1) -> ComposeTransform:
        if self._cache_size == cache_size:
            return self
        return ComposeTransform(self.parts, cache_size=cache_size)

    def __call__(self, x: Tensor) -> Tensor:
        for part in self.parts:
            x = part(x)
        return x

    def _inv_call(self, y: Tensor) -> Tensor:
        for part in reversed(self.parts):
            y = part._inv_call(y)
        return y

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Any:
        if not self.parts:
            return x.detach() * 0
        points = [x]
        for part in self.parts[:-1]:
            points.append(part(points[-1]))
        points.append(y)
        dim = self.domain.event_dim
        total: Any = 0
        for part, (before, after) in zip(self.parts, pairwise(points), strict=True):
            stretch = part.log_abs_det_jacobian(before, after)
            total = total + sum_rightmost(stretch, dim - part.domain.event_dim)
            dim += part.codomain.event_dim - part.domain.event_dim
        return total

    def forward_shape(self, shape: Any) -> Size:
        for part in self.parts:
            shape = part.forward_shape(shape)
        return Size(shape)

    def inverse_shape(self, shape: Any) -> Size:
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return Size(shape)

    def __repr__(self) -> str:
        return "ComposeTransform(\n    " + ",\n    ".join(map(repr, self.parts)) + "\n)"


def _enlarged(constraint: Any, dim: int) -> Any:
    missing = dim - constraint.event_dim
    return constraints.independent(constraint, missing) if missing > 0 else constraint


identity_transform = ComposeTransform([])


class IndependentTransform(Transform):
    """``base_transform``, with its stretch added up over more dimensions."""

    def __init__(
        self, base_transform: Transform, reinterpreted_batch_ndims: int, cache_size: int = 0
    ) -> None:
        super().__init__(cache_size=cache_size)
        self.base_transform = base_transform.with_cache(cache_size)
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    def with_cache(self, cache_size: int = 1) -> IndependentTransform:
        if self._cache_size == cache_size:
            return self
        count = self.reinterpreted_batch_ndims
        return IndependentTransform(self.base_transform, count, cache_size=cache_size)

    @property
    def domain(self) -> Any:
        base = self.base_transform.domain
        return constraints.independent(base, self.reinterpreted_batch_ndims)

    @property
    def codomain(self) -> Any:
        base = self.base_transform.codomain
        return constraints.independent(base, self.reinterpreted_batch_ndims)

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        return self.base_transform.bijective

    @property
    def sign(self) -> Any:
        return self.base_transform.sign

    def _call(self, x: Tensor) -> Tensor:
        self._at_least(x.shape, self.domain.event_dim)
        return self.base_transform(x)

    def _inverse(self, y: Tensor) -> Tensor:
        self._at_least(y.shape, self.codomain.event_dim)
        return self.base_transform.inv(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        stretch = self.base_transform.log_abs_det_jacobian(x, y)
        total: Tensor = sum_rightmost(stretch, self.reinterpreted_batch_ndims)
        return total

    def __repr__(self) -> str:
        return f"IndependentTransform({self.base_transform!r}, {self.reinterpreted_batch_ndims})"

    def forward_shape(self, shape: Any) -> Size:
        return self.base_transform.forward_shape(shape)

    def inverse_shape(self, shape: Any) -> Size:
        return self.base_transform.inverse_shape(shape)


class ReshapeTransform(Transform):
    """Events of ``in_shape`` as events of ``out_shape``."""

    bijective = True

    def __init__(self, in_shape: Any, out_shape: Any, cache_size: int = 0) -> None:
        self.in_shape, self.out_shape = Size(in_shape), Size(out_shape)
        if self.in_shape.numel() != self.out_shape.numel():
            raise fail(
                ValueError,
                call=f"ReshapeTransform({tuple(in_shape)}, {tuple(out_shape)})",
                cause="in_shape, out_shape have different numbers of elements",
                fix="pass shapes of the same size",
            )
        super().__init__(cache_size=cache_size)

    @property
    def domain(self) -> Any:
        return constraints.independent(constraints.real, len(self.in_shape))

    @property
    def codomain(self) -> Any:
        return constraints.independent(constraints.real, len(self.out_shape))

    def with_cache(self, cache_size: int = 1) -> ReshapeTransform:
        if self._cache_size == cache_size:
            return self
        return ReshapeTransform(self.in_shape, self.out_shape, cache_size=cache_size)

    def _call(self, x: Tensor) -> Tensor:
        return x.reshape(x.shape[: x.dim() - len(self.in_shape)] + self.out_shape)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.reshape(y.shape[: y.dim() - len(self.out_shape)] + self.in_shape)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return x.new_zeros(x.shape[: x.dim() - len(self.in_shape)])

    def forward_shape(self, shape: Any) -> Size:
        return self._exchanged(shape, self.in_shape, self.out_shape)

    def inverse_shape(self, shape: Any) -> Size:
        return self._exchanged(shape, self.out_shape, self.in_shape)

    def _exchanged(self, shape: Any, old: Size, new: Size) -> Size:
        cut = len(self._at_least(shape, len(old))) - len(old)
        if tuple(shape[cut:]) != tuple(old):
            raise fail(
                ValueError,
                call=f"ReshapeTransform on shape {tuple(shape)}",
                cause=f"Shape mismatch: expected {tuple(old)} but got {tuple(shape[cut:])}",
                fix="pass events of that shape",
            )
        return Size((*shape[:cut], *new))


class _Parts(Transform):
    """A transform per part of the values along ``dim``."""

    def __init__(self, tseq: Sequence[Transform], dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.transforms = [each.with_cache(cache_size) for each in tseq]
        self.dim = dim

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        return all(each.bijective for each in self.transforms)


class StackTransform(_Parts):
    """One transform per entry along ``dim``."""

    def _each(self, name: str, *values: Tensor) -> Tensor:
        parts = zip(self.transforms, *(each.unbind(self.dim) for each in values), strict=True)
        return whygrad.stack([getattr(each, name)(*part) for each, *part in parts], self.dim)

    def _call(self, x: Tensor) -> Tensor:
        return self._each("__call__", x)

    def _inverse(self, y: Tensor) -> Tensor:
        return self._each("_inv_call", y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return self._each("log_abs_det_jacobian", x, y)

    @property
    def domain(self) -> Any:
        return constraints.stack([each.domain for each in self.transforms], self.dim)

    @property
    def codomain(self) -> Any:
        return constraints.stack([each.codomain for each in self.transforms], self.dim)


class CatTransform(_Parts):
    """One transform per run of given ``lengths`` along ``dim``."""

    def __init__(
        self,
        tseq: Sequence[Transform],
        dim: int = 0,
        lengths: Sequence[int] | None = None,
        cache_size: int = 0,
    ) -> None:
        super().__init__(tseq, dim, cache_size)
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)

    @property
    def event_dim(self) -> int:
        """The largest of the parts'."""
        return max(each.domain.event_dim for each in self.transforms)

    def _each(self, name: str, *values: Tensor) -> list[Tensor]:
        parts = (each.split(self.lengths, self.dim) for each in values)
        together = zip(self.transforms, *parts, strict=True)
        return [getattr(each, name)(*part) for each, *part in together]

    def _call(self, x: Tensor) -> Tensor:
        return whygrad.cat(self._each("__call__", x), self.dim)

    def _inverse(self, y: Tensor) -> Tensor:
        return whygrad.cat(self._each("_inv_call", y), self.dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return whygrad.cat(self._each("log_abs_det_jacobian", x, y), self.dim)

    @property
    def domain(self) -> Any:
        parts = [each.domain for each in self.transforms]
        return constraints.cat(parts, self.dim, self.lengths)

    @property
    def codomain(self) -> Any:
        parts = [each.codomain for each in self.transforms]
        return constraints.cat(parts, self.dim, self.lengths)
