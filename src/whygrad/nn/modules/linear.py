"""Layers that multiply by a matrix."""

from __future__ import annotations

import math
from typing import Any

from whygrad.errors import fail
from whygrad.nn import functional, init
from whygrad.nn.modules.lazy import LazyTwin
from whygrad.nn.modules.module import Module
from whygrad.nn.parameter import Parameter, UninitializedParameter
from whygrad.ops import functions
from whygrad.tensor import Tensor

__all__ = ["Bilinear", "Identity", "LazyLinear", "Linear"]


class Identity(Module):
    """What came in; takes any arguments, so that it can stand in for another layer."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        return input


class Linear(Module):
    """input · weightᵀ + bias, on the last dimension of the input."""

    weight: Parameter
    bias: Parameter | None

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        empty = functions["empty"]
        self.weight = Parameter(empty(out_features, in_features, device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(empty(out_features, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Uniform in ±1/√in_features, weight and bias alike."""
        # A slope of √5 makes kaiming's bound just that.
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            bound = 1 / math.sqrt(self.in_features) if self.in_features > 0 else 0.0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Tensor) -> Tensor:
        return functional.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, "
            f"bias={self.bias is not None}"
        )


class Bilinear(Module):
    """input1ᵀ · A · input2 + bias, with a matrix A per output."""

    weight: Parameter
    bias: Parameter | None

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if in1_features <= 0:
            raise fail(
                ValueError,
                call=f"Bilinear({in1_features}, {in2_features}, {out_features})",
                cause=f"in1_features must be > 0, but got (in1_features={in1_features})",
                fix="pass the size of the first input's last dimension",
            )
        self.in1_features = in1_features
        self.in2_features = in2_features
        self.out_features = out_features
        empty = functions["empty"]
        sizes = (out_features, in1_features, in2_features)
        self.weight = Parameter(empty(sizes, device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(empty(out_features, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Uniform in ±1/√in1_features, weight and bias alike."""
        bound = 1 / math.sqrt(self.in1_features)
        for parameter in self.parameters(recurse=False):
            init.uniform_(parameter, -bound, bound)

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        return functional.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        return (
            f"in1_features={self.in1_features}, in2_features={self.in2_features}, "
            f"out_features={self.out_features}, bias={self.bias is not None}"
        )


class NonDynamicallyQuantizableLinear(Linear):
    """A :class:`Linear` under the name that PyTorch prints for it inside attention."""


class LazyLinear(LazyTwin, Linear):
    """A :class:`Linear` that finds ``in_features`` by itself."""

    def __init__(
        self, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(0, 0, False)
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_features = out_features
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        """As soon as there is something to fill."""
        if not self.has_uninitialized_params() and self.in_features:
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor) -> None:
        """``in_features`` is the last size of the input."""
        if self.has_uninitialized_params():
            self.in_features = input.shape[-1]
            self.weight.materialize((self.out_features, self.in_features))  # type: ignore[attr-defined]
            if self.bias is not None:
                self.bias.materialize((self.out_features,))  # type: ignore[attr-defined]
            self.reset_parameters()
        self.in_features = self.weight.shape[-1]
