"""``interpolate``: arguments as PyTorch takes them, checked."""

from __future__ import annotations

import math
import operator
from typing import Any

from whygrad.errors import describe, fail
from whygrad.ops.convolution.adaptive import averages
from whygrad.ops.define import composite
from whygrad.ops.resampling.resample import resample
from whygrad.ops.resampling.taps import NEAREST
from whygrad.tensor import Tensor

__all__ = ["interpolate"]

# What each mode does along a dimension, and how many dimensions it is for.
_LINEAR = {"linear": 1, "bilinear": 2, "trilinear": 3}
_MODES = (*NEAREST, "linear", "bilinear", "bicubic", "trilinear", "area")


def interpolate(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """A signal, image or volume (samples, channels, *sizes) brought to another size.

    Give ``size`` or ``scale_factor``, one number or one per dimension.  ``mode`` is ``nearest``,
    ``nearest-exact``, ``linear`` (3-D input), ``bilinear`` or ``bicubic`` (4-D), ``trilinear``
    (5-D) or ``area``.  ``align_corners`` puts the outermost elements of input and output at the
    same place, not their outer edges.  ``antialias`` averages where the output is smaller.
    """
    request = _Request(input, size, scale_factor, mode)
    dims = input.ndim - 2
    request.check_mode(align_corners, antialias)
    sizes, scales = request.sizes(recompute_scale_factor)
    if mode == "area":
        return averages(input, sizes)
    request.check_sizes(sizes)
    kind = mode if mode in NEAREST else "cubic" if mode == "bicubic" else "linear"
    return resample(input, sizes, kind, bool(align_corners), scales or (None,) * dims, antialias)


class _Request:
    """One call: what was asked for, and what is wrong with it."""

    def __init__(self, input: Tensor, size: Any, scale_factor: Any, mode: str) -> None:
        self.input = input
        self.size = size
        self.scale_factor = scale_factor
        self.mode = mode
        self.dims = input.ndim - 2

    def refused(self, cause: str, fix: str, kind: type[Exception] = ValueError) -> Exception:
        return fail(
            kind,
            call=f"interpolate({describe(self.input)}, size={self.size}, "
            f"scale_factor={self.scale_factor}, mode={self.mode!r})",
            cause=cause,
            fix=fix,
        )

    def check_mode(self, align_corners: bool | None, antialias: bool) -> None:
        mode, dims = self.mode, self.dims
        if mode in (*NEAREST, "area") and align_corners is not None:
            raise self.refused(
                "align_corners option can only be set with the interpolating modes: linear | "
                "bilinear | bicubic | trilinear",
                "leave align_corners out",
            )
        wanted = 2 if mode == "bicubic" else _LINEAR.get(mode, dims)
        if mode not in _MODES or dims not in (1, 2, 3) or dims != wanted:
            raise self.refused(
                "Input Error: Only 3D, 4D and 5D input Tensors supported (got "
                f"{self.input.ndim}D) for the modes: nearest | linear | bilinear | bicubic | "
                f"trilinear | area | nearest-exact (got {mode})",
                "the input is (samples, channels, *sizes); linear takes one size, bilinear and "
                "bicubic two, trilinear three",
                NotImplementedError,
            )
        if antialias and not (mode in ("bilinear", "bicubic") and dims == 2):
            raise self.refused(
                "Anti-alias option is restricted to bilinear and bicubic modes and requires a 4-D "
                "tensor as input",
                "leave antialias out, or use one of these modes",
            )
        if not self.input.dtype.is_floating_point and not (
            self.input.dtype.name == "uint8" and mode in NEAREST
        ):
            raise self.refused(
                f"'{mode}' interpolation is not implemented for {self.input.dtype.name} tensors",
                "convert the input first: x.float()",
                NotImplementedError,
            )

    def sizes(self, recompute: bool | None) -> tuple[tuple[int, ...], tuple[float, ...] | None]:
        """The wanted sizes, and the scales if they should be taken as given."""
        if (self.size is None) == (self.scale_factor is None):
            raise self.refused(
                "either size or scale_factor should be defined"
                if self.size is None
                else "only one of size or scale_factor should be defined",
                "give one of them",
            )
        if self.size is not None:
            if recompute:
                raise self.refused(
                    "recompute_scale_factor is not meaningful with an explicit size.",
                    "leave recompute_scale_factor out",
                )
            return tuple(map(operator.index, self._each(self.size, "size"))), None
        factors = tuple(map(float, self._each(self.scale_factor, "scale_factor")))
        sizes = tuple(
            math.floor(size * factor)
            for size, factor in zip(self.input.shape[2:], factors, strict=True)
        )
        return sizes, None if recompute else factors

    def _each(self, value: Any, name: str) -> tuple[Any, ...]:
        if not isinstance(value, (list, tuple)):
            return (value,) * self.dims
        if len(value) != self.dims:
            raise self.refused(
                f"Input and output must have the same number of spatial dimensions, but got input "
                f"with spatial dimensions of {list(self.input.shape[2:])} and {name} of {value}",
                f"give {name} as one number, or one for each of {self.dims} dimensions",
            )
        return tuple(value)

    def check_sizes(self, sizes: tuple[int, ...]) -> None:
        inside = tuple(self.input.shape[2:])
        if min(sizes) < 1 or min(inside) < 1:
            raise self.refused(
                "Input and output sizes should be greater than 0, but got input "
                f"{list(inside)} and output {list(sizes)}",
                "ask for at least one element per dimension",
                RuntimeError,
            )
        if self.input.shape[1] < 1:
            raise self.refused(
                "Non-empty data tensor expected but got a tensor with sizes "
                f"{list(self.input.shape)}",
                "an input has at least one channel",
                RuntimeError,
            )


composite(
    interpolate,
    "y = x brought to another size: the nearest element, or a mean of those around",
    torch="nn.functional.interpolate",
    samples=lambda make: [
        make.call(make(2, 1, 3), 5),
        make.call(make(1, 2, 3, 2), scale_factor=2),
        make.call(make(1, 1, 5, 7), scale_factor=(0.6, 1.3)),
        make.call(make(1, 1, 2, 2, 3), (3, 2, 4), mode="nearest-exact"),
        make.call(make(1, 2, 4), 7, mode="linear"),
        make.call(make(1, 2, 4), scale_factor=1.6, mode="linear", align_corners=True),
        make.call(make(1, 1, 3, 4), (5, 2), mode="bilinear"),
        make.call(
            make(1, 1, 3, 4), scale_factor=1.7, mode="bilinear", recompute_scale_factor=True
        ),
        make.call(make(1, 1, 3, 4), (1, 6), mode="bilinear", align_corners=True),
        make.call(make(1, 1, 4, 5), scale_factor=(1.3, 2.0), mode="bicubic"),
        make.call(make(1, 1, 2, 3), (3, 5), mode="bicubic", align_corners=True),
        make.call(make(1, 1, 7, 6), (3, 4), mode="bilinear", antialias=True),
        make.call(make(1, 1, 7, 6), (3, 9), mode="bicubic", antialias=True),
        make.call(
            make(1, 1, 7, 5), scale_factor=0.4, mode="bicubic", align_corners=True, antialias=True
        ),
        make.call(make(1, 1, 2, 3, 2), (3, 2, 4), mode="trilinear"),
        make.call(make(1, 2, 5, 6), (2, 4), mode="area"),
        make.call(make(0, 2, 3), 5),
        make.call(make.ints(1, 1, 3).astype("uint8"), 5),
    ],
)  # fmt: skip
