"""Cross entropy: ``nll_loss`` of ``log_softmax``, in one op.

The exponentials are the expensive part, so they are computed once: the forward pass keeps the
probabilities, and the gradient is those minus the target's.  They are a second output of the op,
which nobody sees; higher orders reach the logits through it.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from whygrad.errors import describe, fail
from whygrad.ops.activation.smooth import ONLY_FLOATS
from whygrad.ops.activation.softmax import below_the_largest
from whygrad.ops.define import define, table
from whygrad.ops.loss.classification import (
    along_classes,
    class_samples,
    class_weights,
    joined,
    losses_meta,
    per_class,
    reduce_losses,
)
from whygrad.ops.loss.labels import (
    Labels,
    all_count,
    check_weight,
    checked_target,
    class_dim,
)
from whygrad.ops.loss.shared import reduced, reduction_from
from whygrad.ops.totals import add_up
from whygrad.ops.undefined import Undefined
from whygrad.tensor import Tensor

__all__ = ["is_plain", "total"]

Array = Any


def _cross_entropy(
    x: Array,
    target: Array,
    weight: Array | None,
    ignore_index: int,
    reduction: str,
    label_smoothing: float,
) -> tuple[Array, Array]:
    """The loss, and the probabilities that the logits stand for."""
    if is_plain(x, target, weight, ignore_index, label_smoothing):
        return _plain_cross_entropy(x, target, reduction)
    labels = Labels(target, weight, x.shape, ignore_index)
    logs = below_the_largest(x, (labels.dim,))
    p = np.exp(logs)
    sums = add_up(p, (labels.dim,), True)
    p /= sums
    logs -= np.log(sums)
    losses = -labels.picked(logs)
    if label_smoothing:
        if weight is not None:
            logs *= along_classes(weight, x.ndim)
        evenly = -labels.masked(add_up(logs, (labels.dim,), False))
        losses = (1.0 - label_smoothing) * losses + (label_smoothing / labels.classes) * evenly
    return reduce_losses(losses, labels, reduction), p


def is_plain(
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


def _plain_cross_entropy(x: Array, target: Array, reduction: str) -> tuple[Array, Array]:
    p = below_the_largest(x, (1,))
    picked = p[np.arange(target.size), target]
    np.exp(p, p)
    sums = np.add.reduce(p, 1)
    p /= sums[:, None]
    losses = np.log(sums)
    losses -= picked
    if reduction == "none":
        return losses, p
    return total(losses, reduction), p


def total(losses: Array, reduction: str) -> Array:
    """Their sum or mean."""
    loss = np.add.reduce(losses)
    return loss / loss.dtype.type(losses.size) if reduction == "mean" else loss


def _slope(
    p: Array,
    incoming: Array,
    target: Array,
    weight: Array | None,
    ignore_index: int,
    reduction: str,
    label_smoothing: float,
) -> Array:
    if is_plain(p, target, weight, ignore_index, label_smoothing):
        if reduction == "mean":
            incoming = incoming / p.dtype.type(target.size)
        slope = p * (incoming[:, None] if reduction == "none" else incoming)
        slope[np.arange(target.size), target] -= incoming
        return slope
    q = class_weights(target, weight, p.shape, p.dtype, ignore_index, reduction, label_smoothing)
    dim = class_dim(p.ndim)
    slope = p * add_up(q, (dim,), True)
    slope -= q
    slope *= np.expand_dims(incoming, dim) if reduction == "none" else incoming
    return slope


def _slope_p_rule(
    xp: Any,
    incoming: Array,
    p_shape: Any,
    p_dtype: Any,
    arriving: Array,
    target: Array,
    weight: Array | None,
    ignore_index: int,
    reduction: str,
    label_smoothing: float,
) -> Array:
    q = xp.class_weights(target, weight, p_shape, p_dtype, ignore_index, reduction, label_smoothing)
    ndim = len(p_shape)
    total = xp.sum(q, (class_dim(ndim),), True)
    return incoming * (total * per_class(xp, arriving, reduction, ndim))


def _slope_arriving_rule(
    xp: Any,
    incoming: Array,
    p: Array,
    p_dtype: Any,
    target: Array,
    weight: Array | None,
    ignore_index: int,
    reduction: str,
    label_smoothing: float,
) -> Array:
    q = xp.class_weights(target, weight, p.shape, p_dtype, ignore_index, reduction, label_smoothing)
    dim = (class_dim(p.ndim),)
    products = incoming * (p * xp.sum(q, dim, True) - q)
    return xp.sum(products, dim if reduction == "none" else tuple(range(p.ndim)), False)


def _slope_jvp(
    xp: Any,
    tangents: Any,
    p: Array,
    p_dtype: Any,
    arriving: Array,
    target: Array,
    weight: Array | None,
    ignore_index: int,
    reduction: str,
    label_smoothing: float,
) -> Array:
    q = xp.class_weights(target, weight, p.shape, p_dtype, ignore_index, reduction, label_smoothing)
    total = xp.sum(q, (class_dim(p.ndim),), True)
    of_p, of_arriving = tangents[:2]
    parts = []
    if of_p is not None:
        parts.append(of_p * (total * per_class(xp, arriving, reduction, p.ndim)))
    if of_arriving is not None:
        parts.append((p * total - q) * per_class(xp, of_arriving, reduction, p.ndim))
    return parts[0] if len(parts) == 1 else parts[0] + parts[1]


define(
    "cross_entropy_slope(p, arriving, target, weight; ignore_index, reduction, label_smoothing)",
    "y = (p·Σq − q)·arriving: the gradient of cross_entropy, from the probabilities p and the "
    "gradient that arrives;  ∂p = incoming·Σq·arriving,  ∂arriving = Σ incoming·(p·Σq − q)",
    forward=_slope,
    vjp={"p": _slope_p_rule, "arriving": _slope_arriving_rule},
    jvp=_slope_jvp,
    meta=lambda p, *_: (p.shape, p.dtype),
    internal=True,
    samples=lambda make: [
        make.call(make(3, 4), make(), make.ints(3, high=4), None, -100, "mean", 0.0),
        make.call(make(3, 4), make(3), make.ints(3, high=4), None, -100, "none", 0.0),
        make.call(make(3, 4), make(), np.array([1, -100, 3]), None, -100, "sum", 0.1),
        make.call(
            make(2, 4, 3), make(2, 3), make.ints(2, 3, high=4), make.constant(make(4)), 2, "none",
            0.0,
        ),
    ],
)  # fmt: skip


def _through_softmax(xp: Any, change: Array, p: Array) -> Array:
    """A softmax has a symmetric Jacobian, so this is its reverse rule and its forward rule."""
    weighted = change * p
    return weighted - p * xp.sum(weighted, (class_dim(p.ndim),), True)


def _cross_entropy_rule(
    xp: Any,
    incoming: Any,
    p: Array,
    target: Array,
    weight: Array | None,
    ignore_index: int,
    reduction: str,
    label_smoothing: float,
) -> Array:
    of_loss, of_p = incoming
    through_p = None if of_p is None else _through_softmax(xp, of_p, p)
    if of_loss is None:
        return through_p
    slope = xp.cross_entropy_slope(
        p, of_loss, target, weight, ignore_index, reduction, label_smoothing
    )
    return slope if through_p is None else slope + through_p


def _cross_entropy_jvp(
    xp: Any,
    tangents: Any,
    p: Array,
    x_dtype: Any,
    target: Array,
    weight: Array | None,
    ignore_index: int,
    reduction: str,
    label_smoothing: float,
) -> tuple[Array, Array]:
    q = xp.class_weights(target, weight, p.shape, x_dtype, ignore_index, reduction, label_smoothing)
    dim = (class_dim(p.ndim),)
    tangent = tangents[0]
    of_logs = tangent - xp.sum(p * tangent, dim, True)
    of_loss = -xp.sum(q * of_logs, dim if reduction == "none" else tuple(range(p.ndim)), False)
    return of_loss, _through_softmax(xp, tangent, p)


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
        )
    if input.shape == target.shape and input.ndim:
        return _with_probabilities(input, target, weight, ignore_index, reduction, label_smoothing)
    target = checked_target(input, target, weight, "cross_entropy")
    params = (operator.index(ignore_index), reduction, float(label_smoothing))
    return table["cross_entropy"].call(input, target, weight, *params)[0]


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
        )
    dim = class_dim(input.ndim)
    classes = input.shape[dim]
    if weight is not None:
        check_weight(input, target, weight, "cross_entropy")
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
    undefined=(
        Undefined(
            lambda v: v["inf_in"] == 1,
            "every class of a sample has the score −inf, or one has +inf",
            "leave one class of each sample unmasked, or set ignore_index for such samples",
        ),
        Undefined(
            lambda v: v["made_nan"] == 1,
            "it is the mean of nothing: every target is ignore_index, or all their weights are 0",
            "leave such a batch out, or use reduction='sum'",
        ),
    ),
    forward=_cross_entropy,
    vjp={"x": _cross_entropy_rule},
    jvp=_cross_entropy_jvp,
    outputs=("y", "p"),
    returned=1,
    meta=lambda x, *rest: [losses_meta(x, *rest), (x.shape, x.dtype)],
    batching=joined,
    refuses=ONLY_FLOATS,
    public=_cross_entropy_args,
    torch="nn.functional.cross_entropy",
    samples=lambda make: class_samples(make, smoothing=True),
    autocast="float32",
)
