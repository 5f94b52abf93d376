"""Sampling images at given places: ``grid_sample``, and grids from affine maps.

A place is given as (x, y) or (x, y, z) between −1 and 1.  It becomes a position in pixels, the
padding mode brings it back inside, and what is read there is one pixel or a weighted mean of those
around it.  All of this is made of other ops: positions carry gradients through the weights alone.
"""

from __future__ import annotations

import operator
import warnings
from collections.abc import Sequence
from itertools import product
from math import prod
from typing import Any

import numpy as np

from whygrad.errors import describe, fail
from whygrad.ops.define import alias, composite
from whygrad.ops.namespace import recorded
from whygrad.ops.resampling.taps import SHARPNESS
from whygrad.ops.ties import joined
from whygrad.tensor import Tensor, dtypes, wrap

__all__ = [
    "GRID_SAMPLE_INTERPOLATION_MODES",
    "GRID_SAMPLE_PADDING_MODES",
    "affine_grid",
    "grid_sample",
]

Positions = list[Tensor]  # one per dimension of the image, slowest first
Tap = tuple[Tensor, Tensor]

# PyTorch's numbers for the modes, which ``grid_sampler`` takes.
GRID_SAMPLE_INTERPOLATION_MODES = {"bilinear": 0, "nearest": 1, "bicubic": 2}
GRID_SAMPLE_PADDING_MODES = {"zeros": 0, "border": 1, "reflection": 2}

# Where a place that no whole number can hold is taken to be: outside of every image.
_NOWHERE = -100.0


def grid_sample(
    input: Tensor,
    grid: Tensor,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Tensor:
    """``input`` (N, C, H, W) read at the places ``grid`` (N, …, 2); 5-D input has places in 3-D.

    ``mode`` is ``bilinear``, ``nearest`` or ``bicubic``; ``padding_mode`` says what is outside:
    ``zeros``, the ``border``, or the inside by ``reflection``.  With ``align_corners`` ±1 are the
    centers of the outermost pixels, else their outer edges.
    """
    if mode not in GRID_SAMPLE_INTERPOLATION_MODES:
        raise _refuse(
            input, grid,
            "nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', "
            f"but got: '{mode}'", "use one of these", ValueError,
        )  # fmt: skip
    if padding_mode not in GRID_SAMPLE_PADDING_MODES:
        raise _refuse(
            input, grid,
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or "
            f"'reflection', but got: '{padding_mode}'", "use one of these", ValueError,
        )  # fmt: skip
    if align_corners is None:
        _warn_of_default("grid_sample")
        align_corners = False
    _check(input, grid, mode)
    input, grid = joined(input, grid, by=(input, grid))
    sizes = tuple(input.shape[2:])
    places = [
        _unnormalized(grid.select(-1, dim), size, align_corners)
        for dim, size in enumerate(reversed(sizes))
    ][::-1]
    if mode == "bicubic":
        return _cubic(input, places, padding_mode, align_corners)
    inside = [
        _safe(_padded(place, size, padding_mode, align_corners))
        for place, size in zip(places, sizes, strict=True)
    ]
    if mode == "nearest":
        rounded = [place.round() for place in inside]
        one = sum((each - each.detach() for each in rounded), 1.0)  # constant, but connected
        taps = [_whole(each, size) for each, size in zip(rounded, sizes, strict=True)]
        return _read(input, taps) * one.unsqueeze(1)  # type: ignore[union-attr]
    reached, shares = [], []
    for place, size in zip(inside, sizes, strict=True):
        low = place.detach().floor()
        reached.append([_whole(low + step, size) for step in (0, 1)])
        shares.append([low + 1.0 - place, place - low])
    total: Any = None
    for corner in product((0, 1), repeat=len(sizes)):
        weight: Any = 1.0
        for share, step in zip(shares, corner, strict=True):
            weight = weight * share[step]
        taps = [each[step] for each, step in zip(reached, corner, strict=True)]
        part = _read(input, taps) * weight.unsqueeze(1)
        total = part if total is None else total + part
    return total


def _unnormalized(place: Tensor, size: int, align_corners: bool) -> Tensor:
    """From −1 … 1 to pixels."""
    if align_corners:
        return (place + 1.0) * ((size - 1) / 2)
    return ((place + 1.0) * size - 1.0) / 2


def _padded(place: Tensor, size: int, padding_mode: str, align_corners: bool) -> Tensor:
    """A position brought inside, as far as the padding mode does so."""
    if padding_mode == "reflection":
        low, high = (0, 2 * (size - 1)) if align_corners else (-1, 2 * size - 1)
        place = _reflected(place, low, high)
    if padding_mode == "zeros":
        return place
    last = size - 1
    # At the very edge the slope is 0 on both sides; a place that is no number goes to pixel 0.
    held = recorded.where(place.detach() >= last, float(last), place)
    return recorded.where(~(place.detach() > 0), 0.0, held)


def _reflected(place: Tensor, twice_low: int, twice_high: int) -> Tensor:
    """Reflected at both ends until it is between them (which are given doubled)."""
    if twice_low == twice_high:
        return place * 0.0
    start, span = twice_low / 2, (twice_high - twice_low) / 2
    away = (place - start).abs()
    flips = (away.detach() / span).floor()
    extra = away - flips * span
    return recorded.where(flips.remainder(2.0) == 0, extra + start, span - extra + start)


def _safe(place: Tensor) -> Tensor:
    """What lies beyond all whole numbers is nowhere; what is no number stays and spreads."""
    return recorded.where(place.detach().abs() > 2.0**31, _NOWHERE, place)


def _whole(corner: Tensor, size: int) -> Tap:
    """A position along one dimension: whether it is in the image, and the pixel next to it."""
    whole = corner.detach().nan_to_num(_NOWHERE).to(dtypes.of("int64"))
    return (whole >= 0) & (whole < size), whole.clamp(0, size - 1)


def _read(input: Tensor, taps: Sequence[Tap]) -> Tensor:
    """The pixels at whole positions, one tap per dimension, 0 outside: (N, C, *places)."""
    inside, flat = taps[0]
    for (here, near), size in zip(taps[1:], input.shape[3:], strict=True):
        inside, flat = inside & here, flat * size + near
    batch, channels = input.shape[:2]
    index = flat.reshape(batch, 1, -1).expand(batch, channels, prod(flat.shape[1:]))
    picked = input.flatten(2).gather(2, index).reshape(batch, channels, *flat.shape[1:])
    return recorded.where(inside.unsqueeze(1), picked, 0.0)


def _cubic(input: Tensor, places: Positions, padding_mode: str, align_corners: bool) -> Tensor:
    taps, weights = [], []
    for place, size in zip(map(_safe, places), input.shape[2:], strict=True):
        low = place.detach().floor()
        share = place - low
        weights.append([_cubic_weight(share, step).unsqueeze(1) for step in range(-1, 3)])
        reached = [_padded(low + step, size, padding_mode, align_corners) for step in range(-1, 3)]
        taps.append([_whole(_safe(each), size) for each in reached])
    total: Any = None
    for row, down in zip(taps[0], weights[0], strict=True):
        across: Any = None
        for column, right in zip(taps[1], weights[1], strict=True):
            part = _read(input, (row, column)) * right
            across = part if across is None else across + part
        total = across * down if total is None else total + across * down
    return total


def _cubic_weight(share: Tensor, step: int) -> Tensor:
    """Of the pixel ``step`` to the right of the one that ``share`` is counted from."""
    a = SHARPNESS
    x = share - step if step <= 0 else step - share
    if step in (0, 1):
        return ((a + 2) * x - (a + 3)) * x * x + 1
    return ((x - 5) * x + 8) * x * a - 4 * a


def _check(input: Tensor, grid: Tensor, mode: str) -> None:
    def refuse(cause: str, fix: str) -> Exception:
        return _refuse(input, grid, f"grid_sampler(): {cause}", fix)

    if input.ndim not in (4, 5) or input.ndim != grid.ndim:
        raise refuse(
            "expected 4D or 5D input and grid with same number of dimensions, but got input with "
            f"sizes {list(input.shape)} and grid with sizes {list(grid.shape)}",
            "an image is (N, C, H, W) with a grid (N, H', W', 2), a volume (N, C, D, H, W)",
        )
    if input.shape[0] != grid.shape[0]:
        raise refuse(
            "expected grid and input to have same batch size, but got input with sizes "
            f"{list(input.shape)} and grid with sizes {list(grid.shape)}",
            "give one grid per sample: grid.expand(samples, …)",
        )
    if grid.shape[-1] != input.ndim - 2:
        raise refuse(
            f"expected grid to have size {input.ndim - 2} in last dimension, but got grid with "
            f"sizes {list(grid.shape)}",
            "the last dimension holds the place: (x, y) or (x, y, z)",
        )
    if 0 in input.shape[2:]:
        raise refuse(
            "expected input to have non-empty spatial dimensions, but input has sizes "
            f"{list(input.shape)}",
            "skip images without pixels",
        )
    if mode == "bicubic" and input.ndim != 4:
        raise refuse("bicubic interpolation only supports 4D input", "use bilinear for volumes")
    if input.dtype is not grid.dtype:
        raise refuse(
            f"expected input and grid to have same dtype, but input has {input.dtype} and grid has "
            f"{grid.dtype}",
            "convert the grid: grid.to(input.dtype)",
        )


def _refuse(
    input: Tensor, grid: Tensor, cause: str, fix: str, kind: type[Exception] = RuntimeError
) -> Exception:
    return fail(
        kind,
        call=f"grid_sample({describe(input)}, {describe(grid)})",
        cause=cause,
        fix=fix,
    )


def _warn_of_default(name: str) -> None:
    warnings.warn(
        f"Default {name} behavior is align_corners=False (it was True before PyTorch 1.3); say "
        "which one you mean",
        stacklevel=4,
    )


def affine_grid(theta: Tensor, size: Any, align_corners: bool | None = None) -> Tensor:
    """The places that ``theta`` (N, 2, 3) makes of the pixels of an image of ``size`` (N, C, H, W).

    For :func:`grid_sample`; ``theta`` (N, 3, 4) and a size (N, C, D, H, W) are for volumes.
    """
    sizes = tuple(map(operator.index, size))
    dims = len(sizes) - 2

    def refuse(cause: str, fix: str, kind: type[Exception] = ValueError) -> Exception:
        call = f"affine_grid({describe(theta)}, {list(sizes)})"
        return fail(kind, call=call, cause=cause, fix=fix)

    if not theta.dtype.is_floating_point:
        raise refuse(
            f"Expected theta to have floating point type, but got {theta.dtype}",
            "use theta.float()",
        )
    if dims not in (1, 2, 3):
        raise refuse(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, "
            f"respectively. Got size {list(sizes)}",
            "the size is (N, C, H, W) or (N, C, D, H, W)",
            NotImplementedError,
        )
    if theta.ndim != 3 or dims not in (2, 3) or tuple(theta.shape[1:]) != (dims, dims + 1):
        raise refuse(
            f"Expected a batch of {dims}D affine matrices of shape Nx{dims}x{dims + 1} for size "
            f"{list(sizes)}. Got {list(theta.shape)}",
            "one matrix per sample, its last column is the shift",
        )
    if align_corners is None:
        _warn_of_default("affine_grid")
        align_corners = False
    if min(sizes) <= 0:
        raise refuse(
            f"Expected non-zero, positive output size. Got {list(sizes)}", "ask for pixels"
        )

    inside = sizes[2:]
    axes = [np.linspace(-1.0, 1.0, count) if count > 1 else np.zeros(1) for count in inside]
    if not align_corners:
        axes = [axis * ((count - 1) / count) for axis, count in zip(axes, inside, strict=True)]
    mesh = np.meshgrid(*axes, indexing="ij")
    base = np.stack([*reversed(mesh), np.ones(inside)], -1).reshape(1, prod(inside), dims + 1)
    points = wrap(base).to(device=theta.device, dtype=theta.dtype)
    points = points.expand(sizes[0], *points.shape[1:])
    return points.bmm(theta.transpose(1, 2)).reshape(sizes[0], *inside, dims)


def grid_sampler(
    input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Tensor:
    """:func:`grid_sample` with numbers for its modes."""
    modes = {number: name for name, number in GRID_SAMPLE_INTERPOLATION_MODES.items()}
    paddings = {number: name for name, number in GRID_SAMPLE_PADDING_MODES.items()}
    return grid_sample(
        input,
        grid,
        modes[operator.index(interpolation_mode)],
        paddings[operator.index(padding_mode)],
        align_corners,
    )


def _samples(make: Any) -> list[Any]:
    def grid(*shape: int) -> Any:
        return make(*shape, low=-1.4, high=1.4)

    return [
        make.call(make(1, 2, 2, 3), grid(1, 1, 3, 2), "bilinear", "zeros", True),
        make.call(make(1, 1, 2, 3), grid(1, 1, 3, 2), "bilinear", "border", False),
        make.call(make(2, 1, 2, 2), grid(2, 1, 1, 2), "bilinear", "reflection", True),
        make.call(make(1, 2, 3, 2), grid(1, 2, 2, 2), "nearest", "zeros", False),
        make.call(make(1, 1, 2, 3), grid(1, 1, 2, 2), "nearest", "reflection", False),
        make.call(make(1, 1, 2, 2), grid(1, 1, 1, 2), "bicubic", "zeros", True),
        make.call(make(1, 1, 2, 2), grid(1, 1, 1, 2), "bicubic", "reflection", align_corners=False),
        make.call(make(1, 1, 2, 1, 2), grid(1, 1, 1, 2, 3), align_corners=False),
    ]


composite(
    grid_sample,
    "y = the image read at the places of the grid, interpolated",
    torch="nn.functional.grid_sample",
    samples=_samples,
    autocast="float32",
)
composite(
    grid_sampler,
    "y = the image read at the places of the grid, interpolated",
    method=False,
    samples=lambda make: [
        make.call(make(1, 1, 3, 3), make(1, 2, 2, 2, low=-1.2, high=1.2), 0, 1, True)
    ],
    autocast="float32",
)
composite(
    affine_grid,
    "y = θ·(x, y, 1) for the center (x, y) of every pixel",
    torch="nn.functional.affine_grid",
    samples=lambda make: [
        make.call(make(2, 2, 3), (2, 1, 3, 2), True),
        make.call(make(1, 2, 3), (1, 4, 1, 3), align_corners=False),
        make.call(make(1, 3, 4), (1, 1, 2, 3, 2), False),
    ],
)
alias("affine_grid_generator", "affine_grid")
alias("grid_sampler_2d", "grid_sampler")
alias("grid_sampler_3d", "grid_sampler")
