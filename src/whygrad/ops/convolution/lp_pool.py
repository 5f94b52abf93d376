"""The p-norm of every window: between the mean (p = 1) and the maximum (p = ∞)."""

from __future__ import annotations

from math import prod
from typing import Any

from whygrad.ops.convolution.avg_pool import mean_of_windows
from whygrad.ops.define import composite
from whygrad.tensor import Tensor

__all__: list[str] = []


def _declare(dims: int, samples: Any) -> None:
    name = f"lp_pool{dims}d"

    def pool(
        input: Tensor,
        norm_type: float,
        kernel_size: Any,
        stride: Any = None,
        ceil_mode: bool = False,
    ) -> Tensor:
        kernel = kernel_size if isinstance(kernel_size, (tuple, list)) else (kernel_size,) * dims
        powers = input.pow(norm_type)
        means = mean_of_windows(name, dims, powers, kernel_size, stride, 0, ceil_mode)
        return (means.sign() * means.abs().relu()).mul(prod(kernel)).pow(1.0 / norm_type)

    pool.__name__ = pool.__qualname__ = name
    pool.__doc__ = f"""(Σ xᵖ)^(1/p) over every window of the last {dims} dimensions."""
    composite(
        pool,
        "y = (Σ xᵖ)^(1/p) over every window",
        samples=samples,
        torch=f"nn.functional.{name}",
        autocast="float32" if dims == 3 else None,
    )


_declare(
    1,
    lambda make: [
        make.call(make(1, 2, 5), 2, 2),
        make.call(make(2, 5, low=0.5), 1.5, 3, 2, ceil_mode=True),
    ],
)
_declare(2, lambda make: [make.call(make(1, 2, 3, 4), 2.0, (2, 3), 1)])
_declare(3, lambda make: [make.call(make(1, 1, 2, 3, 2, low=0.5), 3, 2, (1, 2, 1))])
