"""Padding layers: a border of one kind around signals, images and volumes."""

from __future__ import annotations

from typing import Any, ClassVar

from whygrad.errors import describe, fail
from whygrad.nn import functional as F
from whygrad.nn.modules.module import Module
from whygrad.tensor import Tensor

__all__ = [
    "CircularPad1d",
    "CircularPad2d",
    "CircularPad3d",
    "ConstantPad1d",
    "ConstantPad2d",
    "ConstantPad3d",
    "ReflectionPad1d",
    "ReflectionPad2d",
    "ReflectionPad3d",
    "ReplicationPad1d",
    "ReplicationPad2d",
    "ReplicationPad3d",
    "ZeroPad1d",
    "ZeroPad2d",
    "ZeroPad3d",
]

Padding = int | tuple[int, ...]


class _Pad(Module):
    """One number for every border, or (before, after) per dimension, the last dimension first."""

    _dims: ClassVar[int]
    _mode: ClassVar[str]

    def __init_subclass__(cls, dims: int | None = None, **others: Any) -> None:
        super().__init_subclass__(**others)
        if dims is not None:  # a class of the user's has those of its base
            cls._dims = dims

    def __init__(self, padding: Padding) -> None:
        super().__init__()
        self.padding = _borders(padding, self._dims)

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, self._mode)

    def extra_repr(self) -> str:
        return f"{self.padding}"


def _borders(padding: Padding, dims: int) -> tuple[int, ...]:
    return tuple(padding) if isinstance(padding, (tuple, list)) else (padding,) * (2 * dims)


class _ConstantPadNd(_Pad):
    _mode = "constant"

    def __init__(self, padding: Padding, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_ConstantPadNd, dims=1):
    """A signal with a border of one value."""


class ConstantPad2d(_ConstantPadNd, dims=2):
    """An image with a border of one value."""


class ConstantPad3d(_ConstantPadNd, dims=3):
    """A volume with a border of one value."""


class _ZeroPad(_ConstantPadNd):
    def __init__(self, padding: Padding) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ZeroPad1d(_ZeroPad, dims=1):
    """A signal with a border of zeros."""


class ZeroPad2d(_ZeroPad, dims=2):
    """An image with a border of zeros."""


class ZeroPad3d(_ZeroPad, dims=3):
    """A volume with a border of zeros."""


class _ReflectionPadNd(_Pad):
    _mode = "reflect"


class ReflectionPad1d(_ReflectionPadNd, dims=1):
    """A signal whose border mirrors it."""


class ReflectionPad2d(_ReflectionPadNd, dims=2):
    """An image whose border mirrors it."""


class ReflectionPad3d(_ReflectionPadNd, dims=3):
    """A volume whose border mirrors it."""


class _ReplicationPadNd(_Pad):
    _mode = "replicate"


class ReplicationPad1d(_ReplicationPadNd, dims=1):
    """A signal whose edge is repeated."""


class ReplicationPad2d(_ReplicationPadNd, dims=2):
    """An image whose edge is repeated."""


class ReplicationPad3d(_ReplicationPadNd, dims=3):
    """A volume whose edge is repeated."""


class _CircularPadNd(_Pad):
    _mode = "circular"

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        return super().forward(input)

    def _check_input_dim(self, input: Any) -> None:
        dims = self._dims
        if input.ndim not in (dims + 1, dims + 2):
            raise fail(
                ValueError,
                call=f"{self}({describe(input)})",
                cause=f"expected {dims + 1}D or {dims + 2}D input (got {input.ndim}D input)",
                fix=f"pass (samples, channels, *{dims} sizes), or one sample without the first",
            )


class CircularPad1d(_CircularPadNd, dims=1):
    """A signal that goes on at its other end."""


class CircularPad2d(_CircularPadNd, dims=2):
    """An image that goes on at its other end."""


class CircularPad3d(_CircularPadNd, dims=3):
    """A volume that goes on at its other end."""
