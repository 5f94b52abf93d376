"""Losses that compare a prediction with a target element by element.

Each op is the loss of one element, so its rules are formulas of one number; the public function
adds PyTorch's checks and the reduction.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from whygrad.autograd.source import caller
from whygrad.errors import describe, fail
from whygrad.ops.activation.smooth import NUMBERS
from whygrad.ops.define import elementwise, table
from whygrad.tensor import Tensor

__all__ = ["reduced", "reduction_from"]

Array = Any

_FLOOR = 1e-12  # PyTorch's: keeps the slope of binary_cross_entropy finite at 0 and 1
_LOWEST_LOG = -100.0  # PyTorch's: keeps its value finite there


def reduction_from(reduction: str, size_average: bool | None, reduce: bool | None) -> str:
    """Check ``reduction``; its two predecessors still decide where they are given."""
    if size_average is not None or reduce is not None:
        over_all = "sum" if size_average is False else "mean"
        reduction = "none" if reduce is False else over_all
        warnings.warn(
            "size_average and reduce args will be deprecated, please use "
            f"reduction={reduction!r} instead.",
            stacklevel=4,
        )
    if reduction not in ("none", "mean", "sum"):
        raise fail(
            ValueError,
            call=f"a loss with reduction={reduction!r}",
            cause=f"{reduction} is not a valid value for reduction",
            fix="pass 'mean', 'sum' or 'none'",
            where=caller(),
        )
    return reduction


def reduced(losses: Tensor, reduction: str) -> Tensor:
    if reduction == "mean":
        return losses.mean()
    return losses.sum() if reduction == "sum" else losses


def _of_difference(name: str) -> Any:
    """The public form of a loss that depends on input − target only."""

    def loss(
        input: Tensor,
        target: Tensor,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        weight: Tensor | None = None,
    ) -> Tensor:
        if input.shape != target.shape:
            warnings.warn(
                f"Using a target size ({tuple(target.shape)}) that is different to the input size "
                f"({tuple(input.shape)}). This will likely lead to incorrect results due to "
                "broadcasting. Please ensure they have the same size.",
                stacklevel=3,
            )
        reduction = reduction_from(reduction, size_average, reduce)
        losses = table[name].call(input, target)
        if weight is None:
            return reduced(losses, reduction)
        if weight.shape != input.shape:
            raise fail(
                ValueError,
                call=f"{name}(input: {describe(input)}, weight: {describe(weight)})",
                cause="Weights and input must have the same size.",
                fix="expand the weights: weight.expand_as(input)",
                where=caller(),
            )
        losses = losses * weight
        if reduction == "mean":
            return losses.sum() / weight.sum()
        return reduced(losses, reduction)

    return loss


def _differences(make: Any) -> list[Any]:
    return [
        make.call(make(3, 4), make(3, 4)),
        make.call(make(3, 4), make(3, 4), reduction="sum"),
        make.call(make(3, 4), make(3, 4), reduction="none"),
        make.call(make(), make()),
        make.call(make(0, 3), make(0, 3), reduction="sum"),
        make.call(make(3), make(3), weight=make(3, low=0.5)),
        make.call(make(3), make(3), reduction="sum", weight=make(3, low=0.5)),
        make.call(make(3), make.constant(make(3)), reduction="none", weight=make(3, low=0.5)),
    ]


def _squared(a: Array, b: Array) -> Array:
    difference = a - b
    return np.square(difference, out=difference if difference.ndim else None)


elementwise(
    "mse_loss(a, b)",
    "y = (a − b)², then mean or sum;  ∂y/∂a = 2·(a − b),  ∂y/∂b = −2·(a − b)",
    forward=_squared,
    vjp={
        "a": lambda xp, incoming, a, b: incoming * (2.0 * (a - b)),
        "b": lambda xp, incoming, a, b: incoming * (2.0 * (b - a)),
    },
    promote="same",
    refuses={"complex": NUMBERS["complex"]},
    public=_of_difference("mse_loss"),
    torch="nn.functional.mse_loss",
    method=False,
    samples=_differences,
)
elementwise(
    "l1_loss(a, b)",
    "y = |a − b|, then mean or sum;  ∂y/∂a = sign(a − b),  ∂y/∂b = −sign(a − b)",
    forward=lambda a, b: np.abs(a - b),
    vjp={
        "a": lambda xp, incoming, a, b: incoming * xp.sign(a - b),
        "b": lambda xp, incoming, a, b: incoming * xp.sign(b - a),
    },
    subgradient="0 where a = b",
    promote="same",
    refuses={"complex": NUMBERS["complex"]},
    public=_of_difference("l1_loss"),
    torch="nn.functional.l1_loss",
    method=False,
    samples=_differences,
)


def _same_size(input: Tensor, target: Tensor, name: str, cause: str) -> None:
    if input.shape != target.shape:
        raise fail(
            ValueError,
            call=f"{name}(input: {describe(input)}, target: {describe(target)})",
            cause=cause,
            fix="give the target the shape of the input: target.view_as(input) or "
            "target.unsqueeze(1)",
            where=caller(),
        )


def _weighted(losses: Tensor, weight: Tensor | None, reduction: str) -> Tensor:
    return reduced(losses if weight is None else losses * weight, reduction)


def _binary_cross_entropy(x: Array, target: Array) -> Array:
    if not ((x >= 0) & (x <= 1)).all():
        raise fail(
            RuntimeError,
            call=f"binary_cross_entropy(input: {describe(x)})",
            cause="all elements of input should be between 0 and 1 (and none NaN); the smallest is "
            f"{x.min():.6g}, the largest {x.max():.6g}",
            fix="apply sigmoid first, or better, use binary_cross_entropy_with_logits",
            where=caller(),
        )
    log_no = np.maximum(np.log1p(-x), _LOWEST_LOG)
    log_yes = np.maximum(np.log(x), _LOWEST_LOG)
    return (target - 1.0) * log_no - target * log_yes


def _binary_cross_entropy_args(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """How surprising the targets are, given predicted probabilities."""
    name = "binary_cross_entropy"
    reduction = reduction_from(reduction, size_average, reduce)
    _same_size(
        input,
        target,
        name,
        f"Using a target size ({tuple(target.shape)}) that is different to the input size "
        f"({tuple(input.shape)}) is deprecated. Please ensure they have the same size.",
    )
    if input.dtype is not target.dtype:
        raise fail(
            RuntimeError,
            call=f"{name}(input: {describe(input)}, target: {describe(target)})",
            cause=f"Found dtype {target.dtype.name} but expected {input.dtype.name}",
            fix="convert the target: target.to(input.dtype)",
            where=caller(),
        )
    return _weighted(table[name].call(input, target), weight, reduction)


elementwise(
    "binary_cross_entropy(x, target)",
    "y = −(t·log x + (1 − t)·log(1 − x)), then mean or sum;  ∂y/∂x = (x − t) / (x·(1 − x)),  "
    "∂y/∂t = log(1 − x) − log x",
    forward=_binary_cross_entropy,
    vjp={
        "x": lambda xp, incoming, x, target: (
            incoming * ((x - target) / xp.maximum(x * (1.0 - x), _FLOOR))
        ),
        "target": lambda xp, incoming, x: incoming * (xp.log1p(-x) - xp.log(x)),
    },
    promote="none",
    public=_binary_cross_entropy_args,
    torch="nn.functional.binary_cross_entropy",
    method=False,
    notes="Logarithms are held at −100, as in PyTorch, so the loss is finite at 0 and 1.",
    samples=lambda make: [
        make.call(make(3, 4, low=0.1, high=0.9), make(3, 4, low=0.0, high=1.0)),
        make.call(make(3, low=0.1, high=0.9), make(3, low=0.0, high=1.0), reduction="sum"),
        make.call(make(3, low=0.1, high=0.9), make(3, low=0.0, high=1.0), reduction="none"),
        make.call(make(low=0.1, high=0.9), make(low=0.0, high=1.0)),
        make.call(
            make(2, 3, low=0.1, high=0.9), make(2, 3, low=0.0, high=1.0), make.constant(make(3))
        ),
        make.call(make.constant(np.array([0.0, 1.0, 0.0])), make.constant(np.array([0.0, 1, 1]))),
    ],
)


def _with_logits(x: Array, target: Array, pos_weight: Array | None) -> Array:
    surprise = np.log1p(np.exp(-np.abs(x))) + np.maximum(-x, 0.0)
    if pos_weight is not None:
        surprise = surprise * ((pos_weight - 1.0) * target + 1.0)
    return (1.0 - target) * x + surprise


def _with_logits_slope(xp: Any, x: Array, target: Array, pos_weight: Array | None) -> Array:
    if pos_weight is None:
        return xp.sigmoid(x) - target
    return (1.0 - target) - xp.sigmoid(-x) * ((pos_weight - 1.0) * target + 1.0)


def _with_logits_target_slope(xp: Any, x: Array, pos_weight: Array | None) -> Array:
    if pos_weight is None:
        return -x
    return (1.0 - pos_weight) * xp.logsigmoid(x) - x


def _with_logits_args(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """How surprising the targets are, given the logits of predicted probabilities."""
    name = "binary_cross_entropy_with_logits"
    reduction = reduction_from(reduction, size_average, reduce)
    _same_size(
        input,
        target,
        name,
        f"Target size ({tuple(target.shape)}) must be the same as input size "
        f"({tuple(input.shape)})",
    )
    return _weighted(table[name].call(input, target, pos_weight), weight, reduction)


elementwise(
    "binary_cross_entropy_with_logits(x, target, pos_weight)",
    "y = (1 − t)·x + (1 + (w − 1)·t)·log(1 + exp(−x)), then mean or sum, w = pos_weight;  "
    "∂y/∂x = σ(x) − t (for w = 1),  ∂y/∂t = −x + (w − 1)·log(1 + exp(−x))",
    forward=_with_logits,
    vjp={
        "x": lambda xp, incoming, x, target, pos_weight: (
            incoming * _with_logits_slope(xp, x, target, pos_weight)
        ),
        "target": lambda xp, incoming, x, pos_weight: (
            incoming * _with_logits_target_slope(xp, x, pos_weight)
        ),
        "pos_weight": lambda xp, incoming, x, target: -(incoming * target * xp.logsigmoid(x)),
    },
    public=_with_logits_args,
    torch="nn.functional.binary_cross_entropy_with_logits",
    method=False,
    samples=lambda make: [
        make.call(make(3, 4), make(3, 4, low=0.0, high=1.0)),
        make.call(make(3), make(3, low=0.0, high=1.0), reduction="sum"),
        make.call(make(3), make(3, low=0.0, high=1.0), reduction="none"),
        make.call(make(), make(low=0.0, high=1.0)),
        make.call(make(2, 3), make(2, 3, low=0.0, high=1.0), make.constant(make(3))),
        make.call(make(2, 3), make(2, 3, low=0.0, high=1.0), pos_weight=make.constant(make(3))),
        make.call(
            make.constant(np.array([1e4, -1e4, 0.0])), make.constant(np.array([0.0, 1.0, 1.0]))
        ),
    ],
)
