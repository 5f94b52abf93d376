"""Vectors brought to length 1, and channels damped by their neighbours."""

from __future__ import annotations

from whygrad.errors import describe, fail
from whygrad.ops.define import composite, table
from whygrad.tensor import Tensor

__all__ = ["local_response_norm", "normalize"]


def normalize(
    input: Tensor,
    p: float = 2.0,
    dim: int | tuple[int, ...] = 1,
    eps: float = 1e-12,
) -> Tensor:
    """Divide by the p-norm along ``dim``, or by ``eps`` where the norm is smaller."""
    return input / input.norm(p, dim, keepdim=True).clamp_min(eps)


composite(
    normalize,
    "y = x / max(‖x‖ₚ, ε) along dim",
    torch="nn.functional.normalize",
    samples=lambda make: [
        make.call(make(3, 4)),
        make.call(make(3, 4), 1.0, 0),
        make.call(make(2, 3, 2), p=3, dim=-1),
        make.call(make(2, 3, 2), dim=(0, 2)),
        make.call(make(3, 4), eps=100.0),
        make.call(make(5), dim=0),
        make.call(make(0, 3)),
    ],
)


def local_response_norm(
    input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Tensor:
    """Divide by (k + alpha·mean of the squares of ``size`` neighbouring channels) to ``beta``."""
    if input.ndim < 3 or size < 1:
        few = input.ndim < 3
        raise fail(
            ValueError if few else RuntimeError,
            call=f"local_response_norm({describe(input)}, size={size})",
            cause=f"Expected 3D or higher dimensionality input (got {input.ndim} dimensions)"
            if few
            else f"the window size should be greater than zero, but got {size}",
            fix="the input is (samples, channels, positions…)"
            if few
            else "pass how many channels count as neighbours",
        )
    if not input.numel():
        return input
    before, after = size // 2, (size - 1) // 2
    beside = (0, 0) * (input.ndim - 2)
    squares = table["pad"].public(input * input, (*beside, before, after))
    power = squares.unfold(1, size, 1).mean(-1)
    return input / (power * alpha + k) ** beta


composite(
    local_response_norm,
    "y = x / (k + α·mean(x² of neighbouring channels))^β",
    torch="nn.functional.local_response_norm",
    samples=lambda make: [
        make.call(make(2, 5, 3), 3, 0.5),
        make.call(make(2, 5, 3), 2, 0.5, 0.6, 2.0),
        make.call(make(2, 4, 2, 2), 1, alpha=0.1),
        make.call(make(2, 4, 0), 2),
    ],
)
