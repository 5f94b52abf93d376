"""Cross entropy of a linear map: the head of a classifier and its loss in one call."""

from __future__ import annotations

from typing import Any

import numpy as np

from whygrad.ops.define import composite, table
from whygrad.ops.loss.shared import refusal
from whygrad.tensor import Tensor

__all__ = ["linear_cross_entropy"]


def linear_cross_entropy(
    input: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    *,
    linear_bias: Tensor | None = None,
    weight: Tensor | None = None,
    reduction: str = "mean",
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
    options: Any = None,
) -> Tensor:
    """``cross_entropy(linear(input, linear_weight, linear_bias), target)``.

    ``linear_weight`` is (classes, …, features); dimensions between are those of a target with
    several classes per sample.  ``options``, which tells PyTorch how to save memory, changes
    nothing here.
    """
    _check(input, linear_weight, target, linear_bias, ignore_index)
    logits = input.matmul(linear_weight.reshape(-1, linear_weight.shape[-1]).t())
    if linear_bias is not None:
        logits = logits + linear_bias.reshape(-1)
    logits = logits.reshape(*input.shape[:-1], *linear_weight.shape[:-1])
    return table["cross_entropy"].public(
        logits, target, weight, ignore_index=-100 if ignore_index is None else ignore_index,
        reduction=reduction, label_smoothing=label_smoothing,
    )  # fmt: skip


def _check(
    input: Tensor, linear_weight: Tensor, target: Tensor, bias: Tensor | None, ignored: int | None
) -> None:
    cause = None
    if input.ndim not in (1, 2):
        cause = f"expected input with dimensionality 1 or 2, got {input.ndim}"
    elif linear_weight.ndim < 2:
        cause = f"expected linear_weight with dimensionality at least 2, got {linear_weight.ndim}"
    elif input.shape[-1] != linear_weight.shape[-1]:
        cause = (
            "expected equal input and linear_weight last dimensions (in_features), got "
            f"{input.shape[-1]} and {linear_weight.shape[-1]}, respectively"
        )
    elif bias is not None and bias.shape != linear_weight.shape[:-1]:
        cause = (
            f"expected linear_bias shape {tuple(linear_weight.shape[:-1])}, got {tuple(bias.shape)}"
        )
    elif linear_weight.ndim > 2 and input.ndim == 1:
        cause = (
            f"K-dimensional loss defined by linear_weight shape {tuple(linear_weight.shape)} "
            "requires batched input"
        )
    elif ignored is not None and target.shape == (*input.shape[:-1], *linear_weight.shape[:-1]):
        cause = "ignore_index cannot be specified when target contains probabilities"
    if cause is not None:
        raise refusal(
            RuntimeError,
            "linear_cross_entropy",
            {"input": input, "linear_weight": linear_weight, "target": target},
            cause,
            "input is (samples, features), linear_weight (classes, features)",
        )


composite(
    linear_cross_entropy,
    "y = cross_entropy(x·Wᵀ + b, target)",
    torch="nn.functional.linear_cross_entropy",
    samples=lambda make: [
        make.call(make(3, 2), make(4, 2), np.array([1, 0, 3]), linear_bias=make(4)),
        make.call(make(2), make(3, 2), np.array(1), reduction="sum", label_smoothing=0.1),
        make.call(make(2, 2), make(3, 2, 2), np.array([[1, 0], [2, 1]]), ignore_index=1),
    ],
)
