"""Transform: what all invertible functions share."""

from __future__ import annotations

from typing import Any

from whygrad.errors import fail
from whygrad.tensor import Tensor
from whygrad.tensor.memory import Size

__all__ = ["PlainTransform", "Transform"]


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


class PlainTransform(Transform):
    """A transform without parameters: all of a class are equal."""

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self)

    __hash__ = Transform.__hash__
