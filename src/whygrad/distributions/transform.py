"""Transform: what all invertible functions share, and those made of others."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import prod
from typing import Any

from whygrad.distributions import constraints
from whygrad.distributions.utils import sum_rightmost
from whygrad.errors import fail
from whygrad.memory import Size
from whygrad.tensor import Tensor

__all__ = [
    "ComposeTransform",
    "IndependentTransform",
    "ReshapeTransform",
    "Transform",
    "identity_transform",
]


class Transform:
    """A function with an inverse; a subclass defines ``_call``, ``_inverse`` and the stretch.

    With ``cache_size=1`` the last pair (x, y) is kept, so that the way back from y is x itself.
    """

    bijective = False
    domain: Any
    codomain: Any

    def __init__(self, cache_size: int = 0) -> None:
        if cache_size not in (0, 1):
            raise fail(
                ValueError,
                call=f"{type(self).__name__}(cache_size={cache_size})",
                cause="cache_size must be 0 or 1",
                fix="pass 1 to keep the last pair, 0 to keep none",
            )
        self._cache_size = cache_size
        self._inv: Any = None
        self._cached: tuple[Any, Any] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_inv": None, "_cached": None}

    @property
    def event_dim(self) -> int:
        """How many dimensions belong together."""
        dim: int = self.domain.event_dim
        return dim

    @property
    def inv(self) -> Transform:
        """The way back."""
        if self._inv is None:
            self._inv = _Inverse(self)
        inverse: Transform = self._inv
        return inverse

    @property
    def sign(self) -> Any:
        """+1 where it rises, −1 where it falls."""
        raise fail(
            NotImplementedError,
            call=f"{type(self).__name__}.sign",
            cause="it does not only rise or only fall",
            fix="use a transform that does, such as ExpTransform",
        )

    def with_cache(self, cache_size: int = 1) -> Any:
        """The same transform with another size of the cache."""
        if self._cache_size == cache_size:
            return self
        if type(self).__init__ is Transform.__init__:
            return type(self)(cache_size=cache_size)
        raise NotImplementedError(f"{type(self)}.with_cache is not implemented")

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def __call__(self, x: Tensor) -> Tensor:
        """y of x."""
        if self._cache_size == 0:
            return self._call(x)
        if self._cached is not None and self._cached[0] is x:
            return self._cached[1]
        y = self._call(x)
        self._cached = x, y
        return y

    def _inv_call(self, y: Tensor) -> Tensor:
        if self._cache_size == 0:
            return self._inverse(y)
        if self._cached is not None and self._cached[1] is y:
            return self._cached[0]
        x = self._inverse(y)
        self._cached = x, y
        return x

    def _call(self, x: Tensor) -> Tensor:
        raise NotImplementedError

    def _inverse(self, y: Tensor) -> Tensor:
        raise NotImplementedError

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """ln |dy/dx|."""
        raise fail(
            NotImplementedError,
            call=f"{type(self).__name__}.log_abs_det_jacobian(x, y)",
            cause="it is not invertible, so volumes do not tell densities",
            fix="use a bijective transform",
        )

    def __repr__(self) -> str:
        return type(self).__name__ + "()"

    def forward_shape(self, shape: Any) -> Size:
        """The shape of y for a shape of x."""
        return Size(shape)

    def inverse_shape(self, shape: Any) -> Size:
        """The shape of x for a shape of y."""
        return Size(shape)

    def _at_least(self, shape: Any, count: int) -> Size:
        if len(shape) < count:
            raise fail(
                ValueError,
                call=f"{type(self).__name__} on shape {tuple(shape)}",
                cause=f"Too few dimensions on input: it maps events of {count} dimensions",
                fix="pass whole events",
            )
        return Size(shape)


class _Inverse(Transform):
    """The way back of a transform."""

    def __init__(self, transform: Transform) -> None:
        super().__init__(cache_size=transform._cache_size)
        self._of = transform

    @property
    def domain(self) -> Any:
        return self._of.codomain

    @property
    def codomain(self) -> Any:
        return self._of.domain

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        return self._of.bijective

    @property
    def sign(self) -> Any:
        return self._of.sign

    @property
    def inv(self) -> Transform:
        return self._of

    def with_cache(self, cache_size: int = 1) -> Transform:
        inverse: Transform = self._of.with_cache(cache_size).inv
        return inverse

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Inverse) and self._of == other._of

    __hash__ = Transform.__hash__

    def __repr__(self) -> str:
        return f"_InverseTransform({self._of!r})"

    def __call__(self, x: Tensor) -> Tensor:
        return self._of._inv_call(x)

    def _inv_call(self, y: Tensor) -> Tensor:
        return self._of(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -self._of.log_abs_det_jacobian(y, x)

    def forward_shape(self, shape: Any) -> Size:
        return self._of.inverse_shape(shape)

    def inverse_shape(self, shape: Any) -> Size:
        return self._of.forward_shape(shape)


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
