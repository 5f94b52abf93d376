"""Every activation as a layer.

The layers that have only numbers to remember are dataclasses: the fields are the arguments of the
constructor and what ``repr`` shows.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from whygrad.errors import describe, fail
from whygrad.nn import functional, init
from whygrad.nn.modules.module import Module
from whygrad.nn.parameter import Parameter
from whygrad.ops import functions
from whygrad.tensor import Tensor

__all__ = [
    "CELU",
    "ELU",
    "GELU",
    "GLU",
    "SELU",
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "LeakyReLU",
    "LogSigmoid",
    "LogSoftmax",
    "Mish",
    "PReLU",
    "RReLU",
    "ReLU",
    "ReLU6",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Softmax2d",
    "Softmin",
    "Softplus",
    "Softshrink",
    "Softsign",
    "Tanh",
    "Tanhshrink",
    "Threshold",
]

_layer = dataclass(eq=False, repr=False, match_args=False)


class _Activation(Module):
    def __post_init__(self) -> None:
        super().__init__()

    def extra_repr(self) -> str:
        shown = {each.name: getattr(self, each.name) for each in fields(self)}  # type: ignore[arg-type]
        if not shown.get("inplace"):
            shown.pop("inplace", None)
        return ", ".join(f"{name}={value!r}" for name, value in shown.items())


@_layer
class ReLU(_Activation):
    """x where positive, 0 elsewhere."""

    inplace: bool = False

    def forward(self, input: Tensor) -> Tensor:
        return functional.relu(input, self.inplace)


@_layer
class ReLU6(_Activation):
    """x held between 0 and 6."""

    inplace: bool = False

    def forward(self, input: Tensor) -> Tensor:
        return functional.relu6(input, self.inplace)


@_layer
class LeakyReLU(_Activation):
    """x where positive, negative_slope·x elsewhere."""

    negative_slope: float = 0.01
    inplace: bool = False

    def forward(self, input: Tensor) -> Tensor:
        return functional.leaky_relu(input, self.negative_slope, self.inplace)


@_layer
class RReLU(_Activation):
    """x where positive, slope·x elsewhere: drawn per element in training, the average in eval."""

    lower: float = 1.0 / 8
    upper: float = 1.0 / 3
    inplace: bool = False

    def forward(self, input: Tensor) -> Tensor:
        return functional.rrelu(input, self.lower, self.upper, self.training, self.inplace)


class PReLU(Module):
    """x where positive, weight·x elsewhere: the slope is learned, one or one per channel."""

    weight: Parameter

    def __init__(
        self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.num_parameters = num_parameters
        self.init = init
        self.weight = Parameter(functions["empty"](num_parameters, device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Every slope as it was given."""
        init.constant_(self.weight, self.init)

    def forward(self, input: Tensor) -> Tensor:
        return functional.prelu(input, self.weight)

    def extra_repr(self) -> str:
        return f"num_parameters={self.num_parameters}"


@_layer
class ELU(_Activation):
    """x where positive, alpha·(exp(x) − 1) elsewhere."""

    alpha: float = 1.0
    inplace: bool = False

    def forward(self, input: Tensor) -> Tensor:
        return functional.elu(input, self.alpha, self.inplace)


@_layer
class CELU(_Activation):
    """x where positive, alpha·(exp(x/alpha) − 1) elsewhere."""

    alpha: float = 1.0
    inplace: bool = False

    def forward(self, input: Tensor) -> Tensor:
        return functional.celu(input, self.alpha, self.inplace)


@_layer
class SELU(_Activation):
    """ELU with the constants that keep mean 0 and variance 1."""

    inplace: bool = False

    def forward(self, input: Tensor) -> Tensor:
        return functional.selu(input, self.inplace)


@_layer
class GELU(_Activation):
    """x times the probability that a normal number is below x; exactly, or by ``"tanh"``."""

    approximate: str = "none"

    def forward(self, input: Tensor) -> Tensor:
        return functional.gelu(input, approximate=self.approximate)


@_layer
class SiLU(_Activation):
    """x·sigmoid(x), also called swish."""

    inplace: bool = False

    def forward(self, input: Tensor) -> Tensor:
        return functional.silu(input, self.inplace)


@_layer
class Mish(_Activation):
    """x·tanh(softplus(x))."""

    inplace: bool = False

    def forward(self, input: Tensor) -> Tensor:
        return functional.mish(input, self.inplace)


@_layer
class GLU(_Activation):
    """The first half along ``dim`` times the sigmoid of the second."""

    dim: int = -1

    def forward(self, input: Tensor) -> Tensor:
        return functional.glu(input, self.dim)


@_layer
class Sigmoid(_Activation):
    """1/(1 + exp(−x))."""

    def forward(self, input: Tensor) -> Tensor:
        return input.sigmoid()


@_layer
class LogSigmoid(_Activation):
    """log(sigmoid(x)), without overflow."""

    def forward(self, input: Tensor) -> Tensor:
        return functional.logsigmoid(input)


@_layer
class Tanh(_Activation):
    """The hyperbolic tangent."""

    def forward(self, input: Tensor) -> Tensor:
        return input.tanh()


@_layer
class Tanhshrink(_Activation):
    """x − tanh(x)."""

    def forward(self, input: Tensor) -> Tensor:
        return functional.tanhshrink(input)


@_layer
class Softsign(_Activation):
    """x/(1 + |x|)."""

    def forward(self, input: Tensor) -> Tensor:
        return functional.softsign(input)


@_layer
class Softplus(_Activation):
    """log(1 + exp(beta·x))/beta, and x itself where beta·x is above ``threshold``."""

    beta: float = 1.0
    threshold: float = 20.0

    def forward(self, input: Tensor) -> Tensor:
        return functional.softplus(input, self.beta, self.threshold)


class _Shrink(_Activation):
    lambd: float

    def extra_repr(self) -> str:
        return str(self.lambd)


@_layer
class Softshrink(_Shrink):
    """x moved by ``lambd`` towards 0."""

    lambd: float = 0.5

    def forward(self, input: Tensor) -> Tensor:
        return functional.softshrink(input, self.lambd)


@_layer
class Hardshrink(_Shrink):
    """x, and 0 between −lambd and lambd."""

    lambd: float = 0.5

    def forward(self, input: Tensor) -> Tensor:
        return functional.hardshrink(input, self.lambd)


@_layer
class Hardtanh(_Activation):
    """x held between min_val and max_val."""

    min_val: float = -1.0
    max_val: float = 1.0
    inplace: bool = False

    def __post_init__(self) -> None:
        if not self.max_val > self.min_val:
            raise fail(
                AssertionError,
                call=f"Hardtanh({self.min_val}, {self.max_val})",
                cause=f"max_val ({self.max_val}) must be greater than min_val ({self.min_val})",
                fix="swap them",
            )
        super().__post_init__()

    def forward(self, input: Tensor) -> Tensor:
        return functional.hardtanh(input, self.min_val, self.max_val, self.inplace)


class _Quiet(_Activation):
    def extra_repr(self) -> str:
        return ""


@_layer
class Hardsigmoid(_Quiet):
    """x/6 + ½ held between 0 and 1."""

    inplace: bool = False

    def forward(self, input: Tensor) -> Tensor:
        return functional.hardsigmoid(input, self.inplace)


@_layer
class Hardswish(_Quiet):
    """x·hardsigmoid(x)."""

    inplace: bool = False

    def forward(self, input: Tensor) -> Tensor:
        return functional.hardswish(input, self.inplace)


@_layer
class Threshold(_Activation):
    """x where greater than ``threshold``, ``value`` elsewhere."""

    threshold: float
    value: float
    inplace: bool = False

    def forward(self, input: Tensor) -> Tensor:
        return functional.threshold(input, self.threshold, self.value, self.inplace)


@_layer
class Softmax(_Activation):
    """Positive numbers that sum to 1 along ``dim``, in the proportions of exp(x)."""

    dim: int | None = None

    def forward(self, input: Tensor) -> Tensor:
        return functional.softmax(input, self.dim)


@_layer
class Softmin(_Activation):
    """Softmax of −x."""

    dim: int | None = None

    def forward(self, input: Tensor) -> Tensor:
        return functional.softmin(input, self.dim)


@_layer
class LogSoftmax(_Activation):
    """log(softmax(x)), without ever forming the softmax."""

    dim: int | None = None

    def forward(self, input: Tensor) -> Tensor:
        return functional.log_softmax(input, self.dim)


@_layer
class Softmax2d(_Activation):
    """Softmax over the channels of (N, C, H, W) or (C, H, W)."""

    def forward(self, input: Tensor) -> Tensor:
        if input.ndim not in (3, 4):
            raise fail(
                ValueError,
                call=f"Softmax2d of {describe(input)}",
                cause=f"Softmax2d: expected input to be 3D or 4D, got {input.ndim}D instead",
                fix="pass (N, C, H, W) or (C, H, W), or use Softmax(dim)",
            )
        return functional.softmax(input, -3)
