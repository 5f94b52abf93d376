"""Cross entropy: ``nll_loss`` of ``log_softmax``, in one op.

Its gradient is an op of its own, so that it can be computed in place of the softmax.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from whygrad.autograd.source import caller
from whygrad.errors import describe, fail
from whygrad.ops.activation.smooth import ONLY_FLOATS
from whygrad.ops.activation.softmax import below_the_largest, log_softmax_kernel, softmax_kernel
from whygrad.ops.define import define
from whygrad.ops.loss.classification import (
    along_classes,
    class_samples,
    class_weights,
    joined,
    losses_meta,
    per_class,
    reduce_losses,
)
from whygrad.ops.loss.labels import Labels, all_count, checked_target, class_dim
from whygrad.ops.loss.pointwise import reduced, reduction_from
from whygrad.tensor import Tensor

Array = Any


def _cross_entropy(
    x: Array,
    target: Array,
    weight: Array | None,
    ignore_index: int,
    reduction: str,
    label_smoothing: float,
) -> Array:
    if _is_plain(x, target, weight, ignore_index, label_smoothing):
        return _plain_cross_entropy(x, target, reduction)
    labels = Labels(target, weight, x.shape, ignore_index)
    logs = log_softmax_kernel(x, (labels.dim,))
    losses = -labels.picked(logs)
    if label_smoothing:
        if weight is not None:
            logs *= along_classes(weight, x.ndim)
        evenly = -labels.masked(logs.sum(labels.dim))
        losses = (1.0 - label_smoothing) * losses + (label_smoothing / labels.classes) * evenly
    return reduce_losses(losses, labels, reduction)


def _is_plain(
    x: Array, target: Array, weight: Array | None, ignore_index: int, label_smoothing: float
) -> bool:
    """Whether it is what most programs ask for: rows of logits, one class each, nothing else."""
    return (
        weight is None
        and not label_smoothing
        and x.ndim == 2
        and target.size > 0
        and all_count(target, x.shape[1], ignore_index)
    )


def _plain_cross_entropy(x: Array, target: Array, reduction: str) -> Array:
    shifted = below_the_largest(x, (1,))
    picked = shifted[np.arange(target.size), target]
    losses = np.log(np.add.reduce(np.exp(shifted), 1)) - picked
    if reduction == "none":
        return losses
    total = np.add.reduce(losses)
    return total / total.dtype.type(target.size) if reduction == "mean" else total


def _slope(
    x: Array,
    target: Array,
    weight: Array | None,
    ignore_index: int,
    reduction: str,
    label_smoothing: float,
) -> Array:
    """softmax(x)·Σq − q, in place: the array is as large as the logits."""
    dim = (class_dim(x.ndim),)
    slope = softmax_kernel(x, dim)
    if _is_plain(x, target, weight, ignore_index, label_smoothing):
        slope[np.arange(target.size), target] -= 1
        if reduction == "mean":
            slope /= slope.dtype.type(target.size)
        return slope
    q = class_weights(target, weight, x.shape, x.dtype, ignore_index, reduction, label_smoothing)
    slope *= np.add.reduce(q, dim, keepdims=True)
    slope -= q
    return slope


def _slope_rule(
    xp: Any,
    incoming: Array,
    x: Array,
    target: Array,
    weight: Array | None,
    x_dtype: Any,
    ignore_index: int,
    reduction: str,
    label_smoothing: float,
) -> Array:
    q = xp.class_weights(target, weight, x.shape, x_dtype, ignore_index, reduction, label_smoothing)
    dim = (class_dim(x.ndim),)
    weighted = incoming * xp.softmax(x, dim) * xp.sum(q, dim, True)
    return weighted - xp.softmax(x, dim) * xp.sum(weighted, dim, True)


def _slope_jvp(
    xp: Any,
    tangents: Any,
    x: Array,
    target: Array,
    weight: Array | None,
    x_dtype: Any,
    ignore_index: int,
    reduction: str,
    label_smoothing: float,
) -> Array:
    # A softmax has a symmetric Jacobian, so its reverse rule is also its forward rule.
    return _slope_rule(
        xp, tangents[0], x, target, weight, x_dtype, ignore_index, reduction, label_smoothing
    )


define(
    "cross_entropy_slope(x, target, weight; ignore_index, reduction, label_smoothing)",
    "y = softmax(x)·Σq − q: the gradient of cross_entropy;  ∂x = Σq·(∂softmax of incoming)",
    forward=_slope,
    vjp={"x": _slope_rule},
    jvp=_slope_jvp,
    meta=lambda x, *_: (x.shape, x.dtype),
    internal=True,
    samples=lambda make: [
        make.call(make(3, 4), make.ints(3, high=4), None, -100, "mean", 0.0),
        make.call(make(3, 4), np.array([1, -100, 3]), None, -100, "sum", 0.1),
        make.call(make(2, 4, 3), make.ints(2, 3, high=4), make.constant(make(4)), 2, "none", 0.0),
    ],
)


def _cross_entropy_rule(
    xp: Any,
    incoming: Array,
    x: Array,
    target: Array,
    weight: Array | None,
    ignore_index: int,
    reduction: str,
    label_smoothing: float,
) -> Array:
    slope = xp.cross_entropy_slope(x, target, weight, ignore_index, reduction, label_smoothing)
    return slope * per_class(xp, incoming, reduction, x.ndim)


def _cross_entropy_jvp(
    xp: Any,
    tangents: Any,
    x: Array,
    target: Array,
    weight: Array | None,
    x_dtype: Any,
    ignore_index: int,
    reduction: str,
    label_smoothing: float,
) -> Array:
    q = xp.class_weights(target, weight, x.shape, x_dtype, ignore_index, reduction, label_smoothing)
    dim = (class_dim(x.ndim),)
    tangent = tangents[0]
    of_logs = tangent - xp.sum(xp.softmax(x, dim) * tangent, dim, True)
    return -xp.sum(q * of_logs, dim if reduction == "none" else tuple(range(x.ndim)), False)


def _cross_entropy_args(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Any:
    """How surprising the target classes (or class probabilities) are, given logits."""
    reduction = reduction_from(reduction, size_average, reduce)
    if not 0.0 <= label_smoothing <= 1.0:
        raise fail(
            RuntimeError,
            call=f"cross_entropy(…, label_smoothing={label_smoothing})",
            cause=f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}",
            fix="pass the share of the target that is spread evenly over all classes, such as 0.1",
            where=caller(),
        )
    if input.shape == target.shape and input.ndim:
        return _with_probabilities(input, target, weight, ignore_index, reduction, label_smoothing)
    target = checked_target(input, target, weight, "cross_entropy")
    return input, target, weight, int(ignore_index), reduction, float(label_smoothing)


def _with_probabilities(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None,
    ignore_index: int,
    reduction: str,
    label_smoothing: float,
) -> Tensor:
    """Targets that give every class a share."""
    if not target.dtype.is_floating_point or ignore_index >= 0:
        raise fail(
            RuntimeError,
            call=f"cross_entropy(input: {describe(input)}, target: {describe(target)}, "
            f"ignore_index={ignore_index})",
            cause="a target in the shape of the input holds class probabilities: "
            + (
                "ignore_index is not supported for floating point target"
                if target.dtype.is_floating_point
                else f"Expected floating point type for target with class probabilities, got "
                f"{target.dtype.name}"
            ),
            fix="pass probabilities without ignore_index, or class indices without the class "
            "dimension",
            where=caller(),
        )
    dim = class_dim(input.ndim)
    classes = input.shape[dim]
    if label_smoothing:
        target = target * (1.0 - label_smoothing) + label_smoothing / classes
    losses = -(input.log_softmax(dim) * target)
    if weight is not None:
        losses = losses * weight.reshape((classes, *(1,) * (input.ndim - dim - 1)))
    return reduced(losses.sum(dim), reduction)


define(
    "cross_entropy(x, target, weight; ignore_index, reduction, label_smoothing)",
    "y = −Σ q·log softmax(x) over classes, q the weights the target gives them, then mean or sum;  "
    "∂x = (softmax(x)·Σq − q)·incoming, for a plain mean (softmax(x) − one_hot(target)) / batch",
    forward=_cross_entropy,
    vjp={"x": _cross_entropy_rule},
    jvp=_cross_entropy_jvp,
    meta=losses_meta,
    batching=joined,
    refuses=ONLY_FLOATS,
    public=_cross_entropy_args,
    torch="nn.functional.cross_entropy",
    method=False,
    samples=lambda make: class_samples(make, smoothing=True),
)
