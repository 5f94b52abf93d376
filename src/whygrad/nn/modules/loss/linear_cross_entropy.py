"""The last linear layer of a classifier together with its loss."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from whygrad.errors import describe, fail
from whygrad.nn import functional as F
from whygrad.nn.modules.linear import Linear
from whygrad.nn.modules.loss.common import _WeightedLoss
from whygrad.tensor import Tensor

__all__ = ["LinearCrossEntropyLoss", "LinearCrossEntropyOptions"]


@dataclass(frozen=True)
class LinearCrossEntropyOptions:
    """How PyTorch may cut the computation into chunks; here the loss is computed in one piece."""

    chunking_method: str | None = None
    batch_chunk_size: int | None = None
    acc_policy: str = "auto"
    acc_dtype: Any = None
    allow_retain_graph: bool = False


class LinearCrossEntropyLoss(_WeightedLoss):
    """Cross entropy of ``linear(input)``; ``out_features`` are further dimensions of the target."""

    def __init__(
        self,
        in_features: int,
        num_classes: int,
        *,
        out_features: tuple[int, ...] = (),
        bias: bool = False,
        device: Any = None,
        dtype: Any = None,
        reduction: str = "mean",
        weight: Tensor | None = None,
        ignore_index: int | None = None,
        label_smoothing: float = 0.0,
        options: LinearCrossEntropyOptions | None = None,
    ) -> None:
        cause = None
        if weight is not None and tuple(weight.shape) != (num_classes,):
            cause = f"expected weight shape to be {(num_classes,)}, got {tuple(weight.shape)}"
        elif not 0 <= label_smoothing <= 1:
            cause = f"expected label_smoothing to be in range [0, 1], got {label_smoothing}"
        if cause is not None:
            raise fail(
                RuntimeError,
                call=f"LinearCrossEntropyLoss({in_features}, {num_classes}, "
                f"weight={'None' if weight is None else describe(weight)}, "
                f"label_smoothing={label_smoothing})",
                cause=cause,
                fix="one weight per class; smoothing is a share",
            )
        super().__init__(weight, reduction=reduction)
        self.num_classes = num_classes
        self.out_features = out_features
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing
        rows = math.prod(out_features, start=num_classes)
        self.linear = Linear(in_features, rows, bias=bias, device=device, dtype=dtype)
        self.options = options

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        shape = (self.num_classes, *self.out_features)
        bias = self.linear.bias
        return F.linear_cross_entropy(
            input,
            self.linear.weight.reshape(*shape, self.linear.in_features),
            target,
            linear_bias=None if bias is None else bias.reshape(shape),
            weight=self.weight,
            reduction=self.reduction,
            ignore_index=self.ignore_index,
            label_smoothing=self.label_smoothing,
            options=self.options,
        )

    def extra_repr(self) -> str:
        return (
            f"in_features={self.linear.in_features}, num_classes={self.num_classes}, "
            f"out_features={self.out_features}, bias={self.linear.bias is not None}, "
            f"reduction={self.reduction}, ignore_index={self.ignore_index}, "
            f"label_smoothing={self.label_smoothing}, options={self.options}"
        )
