"""Functions that PyTorch keeps under their older names; each says which one to use instead."""

from __future__ import annotations

import warnings
from typing import Any

from whygrad.ops import functions
from whygrad.tensor import Tensor

__all__ = ["upsample", "upsample_bilinear", "upsample_nearest"]


def upsample(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor:
    """The older name of ``interpolate``."""
    _warn("upsample")
    return functions["interpolate"](input, size, scale_factor, mode, align_corners)


def upsample_nearest(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """Every element repeated: ``interpolate(mode="nearest")``."""
    _warn("upsample_nearest")
    return functions["interpolate"](input, size, scale_factor)


def upsample_bilinear(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """``interpolate(mode="bilinear", align_corners=True)``."""
    _warn("upsample_bilinear")
    return functions["interpolate"](input, size, scale_factor, "bilinear", True)


def _warn(name: str) -> None:
    warnings.warn(
        f"`nn.functional.{name}` is deprecated. Use `nn.functional.interpolate` instead.",
        stacklevel=3,
    )
