"""Layers that only rearrange."""

from __future__ import annotations

from typing import Any

from whygrad.errors import fail
from whygrad.nn import functional
from whygrad.nn.modules.module import Module
from whygrad.tensor import Tensor

__all__ = ["ChannelShuffle", "Flatten", "PixelShuffle", "PixelUnshuffle", "Unflatten"]


class ChannelShuffle(Module):
    """The channels of several groups dealt out in turn."""

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = groups

    def forward(self, input: Tensor) -> Tensor:
        return functional.channel_shuffle(input, self.groups)

    def extra_repr(self) -> str:
        return f"groups={self.groups}"


class Flatten(Module):
    """Join neighbouring dimensions into one; all but the batch unless told otherwise."""

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, input: Tensor) -> Tensor:
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Unflatten(Module):
    """Split one dimension into several."""

    def __init__(self, dim: int, unflattened_size: tuple[int, ...] | list[int]) -> None:
        super().__init__()
        _check_size(unflattened_size)
        self.dim = dim
        self.unflattened_size = unflattened_size

    def forward(self, input: Tensor) -> Tensor:
        return input.unflatten(self.dim, self.unflattened_size)

    def extra_repr(self) -> str:
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"


def _check_size(size: Any) -> None:
    cause = None
    if not isinstance(size, (tuple, list)):
        cause = f"unflattened_size must be a tuple of ints, but found type {type(size).__name__}"
    else:
        for position, each in enumerate(size):
            if not isinstance(each, int):
                cause = (
                    "unflattened_size must be tuple of ints, but found element of type "
                    f"{type(each).__name__} at pos {position}"
                )
    if cause is not None:
        raise fail(
            TypeError,
            call=f"Unflatten(…, {size!r})",
            cause=cause,
            fix="pass the sizes of the new dimensions: (3, 4)",
        )


class PixelShuffle(Module):
    """(…, C·r², H, W) as (…, C, H·r, W·r)."""

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, input: Tensor) -> Tensor:
        return functional.pixel_shuffle(input, self.upscale_factor)

    def extra_repr(self) -> str:
        return f"upscale_factor={self.upscale_factor}"


class PixelUnshuffle(Module):
    """(…, C, H·r, W·r) as (…, C·r², H, W)."""

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = downscale_factor

    def forward(self, input: Tensor) -> Tensor:
        return functional.pixel_unshuffle(input, self.downscale_factor)

    def extra_repr(self) -> str:
        return f"downscale_factor={self.downscale_factor}"
