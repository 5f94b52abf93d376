"""CrossMapLRN2d: responses divided by those of neighbouring channels, as Lua Torch did it."""

from __future__ import annotations

import numpy as np

from whygrad.errors import fail
from whygrad.nn.module import Module
from whygrad.tensor import Tensor, wrap

__all__ = ["CrossMapLRN2d"]


class CrossMapLRN2d(Module):
    """x/(k + α/size · Σ x²)^β over about ``size`` neighbouring channels.

    The sums are PyTorch's, which never take the first channel out of the running sum again.
    """

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1) -> None:
        super().__init__()
        self.size = size
        self.alpha = alpha
        self.beta = beta
        self.k = k

    def forward(self, input: Tensor) -> Tensor:
        if input.ndim != 4:
            raise fail(
                ValueError,
                call=f"{self}(…)",
                cause=f"CrossMapLRN2d: Expected input to be 4D, got {input.ndim}D instead.",
                fix="the input is (samples, channels, height, width)",
            )
        counted = wrap(_neighbours(input.shape[1], self.size)).to(
            device=input.device, dtype=input.dtype
        )
        sums = (input * input).movedim(1, -1).matmul(counted).movedim(-1, 1)
        return input * (sums * (self.alpha / self.size) + self.k) ** -self.beta

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


def _neighbours(channels: int, size: int) -> np.ndarray:
    """Which channels (rows) count for which (columns)."""
    reach = int((size - 1) / 2 + 1)
    counted = np.zeros((channels, channels))
    counted[:reach, 0] = 1
    for channel in range(1, channels):
        counted[:, channel] = counted[:, channel - 1]
        if channel < channels - reach + 1:
            counted[channel + reach - 1, channel] += 1
        if channel > reach:
            counted[channel - reach, channel] -= 1
    return counted
