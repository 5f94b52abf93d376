"""Losses for yes or no, one answer per element: binary cross entropy and its relatives."""

from __future__ import annotations

from typing import Any

import numpy as np

from whygrad.errors import describe, fail
from whygrad.ops.activation.smooth import ONLY_FLOATS
from whygrad.ops.define import composite, elementwise, table
from whygrad.ops.loss.shared import check_same_size, reduced, reduction_from, refusal, weighted
from whygrad.tensor import Tensor, dtypes

__all__ = ["multilabel_soft_margin_loss", "soft_margin_loss"]

Array = Any

_FLOOR = 1e-12  # PyTorch's: keeps the slope of binary_cross_entropy finite at 0 and 1
_LOWEST_LOG = -100.0  # PyTorch's: keeps its value finite there


def _binary_cross_entropy(x: Array, target: Array) -> Array:
    if not ((x >= 0) & (x <= 1)).all():
        raise fail(
            RuntimeError,
            call=f"binary_cross_entropy(input: {describe(x)})",
            cause="all elements of input should be between 0 and 1 (and none NaN); the smallest is "
            f"{x.min():.6g}, the largest {x.max():.6g}",
            fix="apply sigmoid first, or better, use binary_cross_entropy_with_logits",
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
    check_same_size(
        input,
        target,
        name,
        f"Using a target size ({tuple(target.shape)}) that is different to the input size "
        f"({tuple(input.shape)}) is deprecated. Please ensure they have the same size.",
    )
    if input.dtype is not target.dtype:
        raise refusal(
            RuntimeError,
            name,
            {"input": input, "target": target},
            f"Found dtype {target.dtype.name} but expected {input.dtype.name}",
            "convert the target: target.to(input.dtype)",
        )
    return weighted(table[name].call(input, target), weight, reduction)


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
    refuses=ONLY_FLOATS,
    public=_binary_cross_entropy_args,
    torch="nn.functional.binary_cross_entropy",
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
    autocast="float32",
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
    check_same_size(
        input,
        target,
        name,
        f"Target size ({tuple(target.shape)}) must be the same as input size "
        f"({tuple(input.shape)})",
    )
    for each in (input, target):
        if each.dtype.category < dtypes.FLOAT:
            label = "input" if each is input else "target"
            raise refusal(
                NotImplementedError if each is input else RuntimeError,
                name,
                {"input": input, "target": target},
                f"the {label} has no fractions: {each.dtype.name} cannot hold the loss",
                f"convert it: {label}.float()",
            )
    losses = table[name].call(input, target, pos_weight)
    if target.dtype is not losses.dtype:
        losses = losses.to(target.dtype)  # in which PyTorch computes it
    return weighted(losses, weight, reduction)


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
    autocast="float32",
)


def soft_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Binary cross entropy for logits with targets −1 and 1."""
    reduction = reduction_from(reduction, size_average, reduce)
    if not input.dtype.is_differentiable:
        raise fail(
            RuntimeError,
            call=f"soft_margin_loss({describe(input)}, {describe(target)})",
            cause=f"result type Float can't be cast to the desired output type {input.dtype.name}",
            fix="convert the input: input.float()",
        )
    return reduced(-_log_sigmoid(target * input), reduction)


composite(
    soft_margin_loss,
    "y = log(1 + exp(−t·x)), then mean or sum",
    torch="nn.functional.soft_margin_loss",
    notes="Finite for every finite input, where PyTorch overflows to infinity.",
    samples=lambda make: [
        make.call(make(3, 4), make.constant(np.sign(make(3, 4)))),
        make.call(make(3, 4), make.constant(np.sign(make(4))), reduction="sum"),
        make.call(make(3), make.constant(np.sign(make(3))), reduction="none"),
        make.call(make(), make.constant(np.array(-1.0))),
    ],
    autocast="float32",
)


def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Binary cross entropy of logits, averaged over the classes (the last dimension)."""
    reduction = reduction_from(reduction, size_average, reduce)
    losses = -(target * _log_sigmoid(input) + (1 - target) * _log_sigmoid(-input))
    if weight is not None:
        losses = losses * weight
    return reduced(losses.sum(-1) / input.shape[-1], reduction)


composite(
    multilabel_soft_margin_loss,
    "y = −Σ weight·(t·log σ(x) + (1 − t)·log σ(−x)) / classes, then mean or sum",
    torch="nn.functional.multilabel_soft_margin_loss",
    samples=lambda make: [
        make.call(make(3, 4), make(3, 4, low=0.0, high=1.0)),
        make.call(make(3, 4), make(3, 4, low=0.0, high=1.0), make(4)),
        make.call(make(3, 4), make(4, low=0.0, high=1.0), reduction="sum"),
        make.call(make(2, 3, 4), make(2, 3, 4, low=0.0, high=1.0), reduction="none"),
        make.call(make(4), make(4, low=0.0, high=1.0)),
    ],
)


def _log_sigmoid(x: Tensor) -> Tensor:
    return table["logsigmoid"].public(x)
