"""Convolution over signals with time first: (time, samples, channels)."""

from __future__ import annotations

from whygrad.errors import describe, fail
from whygrad.ops.define import composite, table
from whygrad.tensor import Tensor

__all__ = ["conv_tbc"]


def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: int = 0) -> Tensor:
    """``conv1d`` of (time, samples, channels) with a weight (kernel, channels in, channels out)."""
    if input.ndim != 3 or weight.ndim != 3 or bias.ndim != 1:
        raise fail(
            RuntimeError,
            call=f"conv_tbc({describe(input)}, {describe(weight)}, {describe(bias)})",
            cause="Input must have 3 dims: time, batch, in_channel; weight 3: kernel_width, "
            "in_channels, out_channels; bias must be 1-D",
            fix="conv1d takes (samples, channels, time)",
        )
    signal, kernel = input.permute(1, 2, 0), weight.permute(2, 1, 0)
    found = table["conv1d"].public(signal, kernel, bias, padding=pad)
    return found.permute(2, 0, 1).contiguous()


composite(
    conv_tbc,
    "y[t, n, o] = Σ x[t + k − pad, n, c]·W[k, c, o] + b[o]",
    method=False,
    samples=lambda make: [make.call(make(4, 2, 3), make(2, 3, 2), make(2), 1)],
)
