"""``whygrad.convolution``: PyTorch's one name for all of its convolutions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from whygrad.errors import describe, fail
from whygrad.ops import functions
from whygrad.tensor import Tensor

__all__ = ["convolution"]


def convolution(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
) -> Tensor:
    """``conv1d`` to ``conv3d`` or ``conv_transpose1d`` to ``…3d``, by the shape of ``weight``."""
    dims = weight.ndim - 2
    if dims not in (1, 2, 3):
        raise fail(
            RuntimeError,
            call=f"convolution({describe(input)}, {describe(weight)})",
            cause=f"the weight has {weight.ndim} dimensions, not 3, 4 or 5",
            fix="its shape is (out channels, in channels / groups, *kernel)",
        )
    options: dict[str, Any] = {
        "stride": tuple(stride), "padding": tuple(padding), "dilation": tuple(dilation),
        "groups": groups,
    }  # fmt: skip
    if transposed:
        options["output_padding"] = tuple(output_padding)
    name = f"conv_transpose{dims}d" if transposed else f"conv{dims}d"
    result: Tensor = functions[name](input, weight, bias, **options)
    return result
