"""Layers that drop, in training only."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from whygrad.errors import fail
from whygrad.nn import functional
from whygrad.nn.modules.module import Module
from whygrad.tensor import Tensor

__all__ = [
    "AlphaDropout",
    "Dropout",
    "Dropout1d",
    "Dropout2d",
    "Dropout3d",
    "FeatureAlphaDropout",
]


class _DropoutNd(Module):
    """A function ``drop(input, p, training, inplace)`` as a layer."""

    _drop: ClassVar[Callable[..., Tensor]]

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if not 0 <= p <= 1:
            raise fail(
                ValueError,
                call=f"{type(self).__name__}({p})",
                cause=f"dropout probability has to be between 0 and 1, but got {p}",
                fix="pass the share to drop, such as 0.5",
            )
        self.p = p
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return type(self)._drop(input, self.p, self.training, self.inplace)

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_DropoutNd):
    """Each element is 0 with probability ``p``, and the others grow so that the mean stays."""

    _drop = staticmethod(functional.dropout)


class Dropout1d(_DropoutNd):
    """Dropout of whole channels of (N, C, L) or (C, L)."""

    _drop = staticmethod(functional.dropout1d)


class Dropout2d(_DropoutNd):
    """Dropout of whole channels of (N, C, H, W)."""

    _drop = staticmethod(functional.dropout2d)


class Dropout3d(_DropoutNd):
    """Dropout of whole channels of (N, C, D, H, W) or (C, D, H, W)."""

    _drop = staticmethod(functional.dropout3d)


class AlphaDropout(_DropoutNd):
    """Dropout that keeps mean 0 and variance 1, for networks with SELU."""

    _drop = staticmethod(functional.alpha_dropout)


class FeatureAlphaDropout(_DropoutNd):
    """Alpha dropout of whole channels."""

    _drop = staticmethod(functional.feature_alpha_dropout)
