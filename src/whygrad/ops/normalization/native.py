"""Normalisation with what it was normalised by: PyTorch's ``native_layer_norm`` and its like.

The statistics are results without a gradient, but for those of groups, as in PyTorch; that of the
normalised numbers is whole.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from whygrad.ops.define import composite, table
from whygrad.tensor import Tensor

Normalized = tuple[Tensor, Tensor, Tensor]


def _statistics(x: Tensor, dims: tuple[int, ...], keepdim: bool, eps: float) -> Any:
    """Mean and 1/√(variance + eps)."""
    var, mean = table["var_mean"].public(x, dims, correction=0, keepdim=keepdim)
    return mean, (var + eps).rsqrt()


def native_layer_norm(
    input: Tensor,
    normalized_shape: Any,
    weight: Tensor | None,
    bias: Tensor | None,
    eps: float,
) -> Normalized:
    """``layer_norm``, and the mean and inverse deviation of each row."""
    y = table["layer_norm"].public(input, normalized_shape, weight, bias, eps)
    dims = tuple(range(input.ndim - len(normalized_shape), input.ndim))
    return (y, *_statistics(input.detach(), dims, True, eps))


def native_group_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    N: int,
    C: int,
    HxW: int,
    group: int,
    eps: float,
) -> Normalized:
    """``group_norm``, and the mean and inverse deviation of each group."""
    y = table["group_norm"].public(input, group, weight, bias, eps)
    return (y, *_statistics(input.reshape(N, group, C // group * HxW), (2,), False, eps))


def native_batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
) -> Normalized:
    """``batch_norm``, and in training the mean and inverse deviation of each channel."""
    y = table["batch_norm"].public(
        input, weight, bias, running_mean, running_var, training, momentum, eps, False
    )
    if not training:
        return y, input.new_empty((0,)), input.new_empty((0,))
    dims = tuple(dim for dim in range(input.ndim) if dim != 1)
    return (y, *_statistics(input.detach(), dims, False, eps))


def _normalized(function: Any, *args: Any) -> Any:
    """For samples: the result that has a gradient."""
    return function(*args)[0]


composite(
    native_layer_norm,
    "y, mean, 1/σ = layer_norm and its statistics",
    method=False,
    samples=lambda make: [
        make.around(_normalized, make(2, 3, 4), (4,), make(4), make(4), 1e-5),
        make.call(make.constant(make(2, 3)), (2, 3), None, None, 1e-3),
    ],
)
composite(
    native_group_norm,
    "y, mean, 1/σ = group_norm and its statistics",
    method=False,
    samples=lambda make: [
        make.around(_normalized, make(2, 4, 3), make(4), make(4), 2, 4, 3, 2, 1e-5),
        make.call(make.constant(make(1, 2, 3)), None, None, 1, 2, 3, 1, 1e-3),
    ],
)
composite(
    native_batch_norm,
    "y, mean, 1/σ = batch_norm and its statistics",
    method=False,
    samples=lambda make: [
        make.around(_normalized, make(3, 2, 4), make(2), make(2), None, None, True, 0.1, 1e-5),
        make.call(make.constant(make(3, 2)), None, None, None, None, True, 0.1, 1e-5),
        make.call(
            make(3, 2),
            None,
            None,
            make.constant(np.zeros(2)),
            make.constant(np.ones(2)),
            False,
            0.1,
            1e-5,
        ),
    ],
)
