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


class ConstantPad1d(_ConstantPadNd):
    """A signal with a border of one value."""

    _dims = 1


class ConstantPad2d(_ConstantPadNd):
    """An image with a border of one value."""

    _dims = 2


class ConstantPad3d(_ConstantPadNd):
    """A volume with a border of one value."""

    _dims = 3


class _ZeroPad(_ConstantPadNd):
    def __init__(self, padding: Padding) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ZeroPad1d(_ZeroPad):
    """A signal with a border of zeros."""

    _dims = 1


class ZeroPad2d(_ZeroPad):
    """An image with a border of zeros."""

    _dims = 2


class ZeroPad3d(_ZeroPad):
    """A volume with a border of zeros."""

    _dims = 3


class _ReflectionPadNd(_Pad):
    _mode = "reflect"


class ReflectionPad1d(_ReflectionPadNd):
    """A signal whose border mirrors it."""

    _dims = 1


class ReflectionPad2d(_ReflectionPadNd):
    """An image whose border mirrors it."""

    _dims = 2


class ReflectionPad3d(_ReflectionPadNd):
    """A volume whose border mirrors it."""

    _dims = 3


class _ReplicationPadNd(_Pad):
    _mode = "replicate"


class ReplicationPad1d(_ReplicationPadNd):
    """A signal whose edge is repeated."""

    _dims = 1


class ReplicationPad2d(_ReplicationPadNd):
    """An image whose edge is repeated."""

    _dims = 2


class ReplicationPad3d(_ReplicationPadNd):
    """A volume whose edge is repeated."""

    _dims = 3


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


class CircularPad1d(_CircularPadNd):
    """A signal that goes on at its other end."""

    _dims = 1


class CircularPad2d(_CircularPadNd):
    """An image that goes on at its other end."""

    _dims = 2


class CircularPad3d(_CircularPadNd):
    """A volume that goes on at its other end."""

    _dims = 3
