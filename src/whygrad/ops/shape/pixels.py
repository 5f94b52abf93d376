"""Channels turned into pixels and back: how a convolution makes an image larger."""

from __future__ import annotations

from whygrad.errors import describe, fail
from whygrad.ops.define import composite
from whygrad.tensor import Tensor

__all__ = ["pixel_shuffle", "pixel_unshuffle"]


def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """(…, C·r², H, W) as (…, C, H·r, W·r): r² channels fill a square of pixels."""
    _check("pixel_shuffle", input, upscale_factor)
    factor = upscale_factor
    *batch, channels, height, width = input.shape
    if channels % factor**2:
        raise _refuse(
            "pixel_shuffle",
            input,
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square "
            f"of upscale_factor, but input.size(-3)={channels} is not divisible by {factor**2}",
        )
    kept = channels // factor**2
    split = input.reshape(*batch, kept, factor, factor, height, width)
    first = len(batch)
    order = (*range(first), *(first + each for each in (0, 3, 1, 4, 2)))
    return split.permute(order).reshape(*batch, kept, height * factor, width * factor)


def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """(…, C, H·r, W·r) as (…, C·r², H, W): the inverse of ``pixel_shuffle``."""
    _check("pixel_unshuffle", input, downscale_factor)
    factor = downscale_factor
    *batch, channels, height, width = input.shape
    for name, size in (("height", height), ("width", width)):
        if size % factor:
            raise _refuse(
                "pixel_unshuffle",
                input,
                f"pixel_unshuffle expects {name} to be divisible by downscale_factor, but {size} "
                f"is not divisible by {factor}",
            )
    split = input.reshape(*batch, channels, height // factor, factor, width // factor, factor)
    first = len(batch)
    order = (*range(first), *(first + each for each in (0, 2, 4, 1, 3)))
    shape = (*batch, channels * factor**2, height // factor, width // factor)
    return split.permute(order).reshape(shape)


def _check(name: str, input: Tensor, factor: int) -> None:
    if input.ndim < 3:
        raise _refuse(
            name,
            input,
            f"{name} expects input to have at least 3 dimensions, but got input with {input.ndim} "
            "dimension(s)",
        )
    if factor <= 0:
        raise _refuse(name, input, f"{name} expects a positive factor, but got {factor}")


def _refuse(name: str, input: Tensor, cause: str) -> RuntimeError:
    return fail(
        RuntimeError,
        call=f"{name} of {describe(input)}",
        cause=cause,
        fix="the input is (…, channels, height, width)",
    )


composite(
    pixel_shuffle,
    "y[c, h·r + i, w·r + j] = x[c·r² + i·r + j, h, w]",
    method=False,
    samples=lambda make: [
        make.call(make(2, 8, 2, 3), 2),
        make.call(make(9, 1, 2), 3),
        make.call(make(2, 2, 4, 1, 1), upscale_factor=2),
    ],
)
composite(
    pixel_unshuffle,
    "y[c·r² + i·r + j, h, w] = x[c, h·r + i, w·r + j]",
    method=False,
    samples=lambda make: [
        make.call(make(2, 2, 4, 6), 2),
        make.call(make(2, 6, 3), downscale_factor=3),
    ],
)
