"""The gradients of convolutions as functions: what backward computes for input and weight."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from whygrad.autograd.api import grad
from whygrad.ops import functions
from whygrad.tensor import Tensor
from whygrad.tensor.modes import enable_grad, is_grad_enabled

__all__ = [
    "conv1d_input",
    "conv1d_weight",
    "conv2d_input",
    "conv2d_weight",
    "conv3d_input",
    "conv3d_weight",
]


def _declare(dims: int) -> tuple[Callable[..., Tensor], Callable[..., Tensor]]:
    convolution = functions[f"conv{dims}d"]

    def by_input(
        input_size: Any,
        weight: Tensor,
        grad_output: Tensor,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
    ) -> Tensor:
        with enable_grad():
            input = grad_output.new_zeros(tuple(input_size)).requires_grad_()
            output = convolution(input, weight, None, stride, padding, dilation, groups)
        return grad(output, input, grad_output, create_graph=is_grad_enabled())[0]  # type: ignore[return-value]

    def by_weight(
        input: Tensor,
        weight_size: Any,
        grad_output: Tensor,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
    ) -> Tensor:
        with enable_grad():
            weight = grad_output.new_zeros(tuple(weight_size)).requires_grad_()
            output = convolution(input, weight, None, stride, padding, dilation, groups)
        return grad(output, weight, grad_output, create_graph=is_grad_enabled())[0]  # type: ignore[return-value]

    for function, word in ((by_input, "input"), (by_weight, "weight")):
        function.__name__ = function.__qualname__ = f"conv{dims}d_{word}"
        function.__doc__ = f"The gradient of ``conv{dims}d`` with respect to its {word}."
    return by_input, by_weight


conv1d_input, conv1d_weight = _declare(1)
conv2d_input, conv2d_weight = _declare(2)
conv3d_input, conv3d_weight = _declare(3)
