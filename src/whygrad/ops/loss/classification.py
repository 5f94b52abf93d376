"""Losses for picking one class out of several: what they share, and the plainer one, ``nll_loss``.

With q the weights that the targets give to the classes (1 at the right class, in the plain case),
both losses are −Σ q·(log-probability), so one op that lays out q serves their rules.  The values
are read out at the target's position instead, where a class that is impossible elsewhere
(log-probability −∞) does no harm.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from whygrad.ops.activation.smooth import ONLY_FLOATS
from whygrad.ops.batching import BatchedCall, GenericRule, loop
from whygrad.ops.define import define
from whygrad.ops.loss.labels import Labels, checked_target, class_dim
from whygrad.ops.loss.shared import reduction_from
from whygrad.ops.namespace import recorded
from whygrad.tensor import Tensor

__all__ = [
    "along_classes",
    "class_samples",
    "class_weights",
    "joined",
    "losses_meta",
    "per_class",
    "reduce_losses",
]

Array = Any
Shape = tuple[int, ...]


def along_classes(weight: Array, ndim: int) -> Array:
    """One number per class, to broadcast against the input."""
    return weight.reshape(weight.shape[0], *(1,) * (ndim - class_dim(ndim) - 1))


def reduce_losses(losses: Array, labels: Labels, reduction: str) -> Array:
    """The losses as they are, their sum, or their mean over the total weight of the targets."""
    if reduction == "none":
        return losses
    total = losses.sum()
    return total / labels.total_weight(losses.dtype) if reduction == "mean" else total


def class_weights(
    target: Array,
    weight: Array | None,
    shape: Shape,
    dtype: Any,
    ignore_index: int,
    reduction: str,
    label_smoothing: float,
) -> Array:
    """The kernel of the op of this name."""
    labels = Labels(target, weight, shape, ignore_index)
    smoothed = label_smoothing / max(labels.classes, 1)
    out = np.full(shape, smoothed, dtype)
    out[labels.places] = 1.0 - label_smoothing + smoothed
    if weight is not None:
        out *= along_classes(weight, len(shape))
    if labels.counted is not None:
        out *= np.expand_dims(labels.counted, labels.dim)
    if reduction == "mean" and labels.any_counted():
        total = labels.total_weight(out.dtype)
        # 0/0 where a class has a say and no weight; the others stay out of it
        has_say = True if total else labels.has_say(out.shape, bool(label_smoothing))
        np.divide(out, total, out=out, where=has_say)
    return out


define(
    "class_weights(target, weight; shape, dtype, ignore_index, reduction, label_smoothing)",
    "q = weight·((1 − ε)·[class is the target] + ε/classes), 0 for ignored targets, divided by "
    "the total weight of the targets for a mean",
    forward=class_weights,
    vjp=None,
    meta=lambda target, weight, shape, dtype, *_: (shape, dtype),
    internal=True,
    samples=lambda make: [
        make.call(make.ints(3, high=4), make.constant(make(4)), (3, 4), np.float64, 2, "mean", 0.1),
    ],
)


def _nll_loss(
    x: Array, target: Array, weight: Array | None, ignore_index: int, reduction: str
) -> Array:
    labels = Labels(target, weight, x.shape, ignore_index)
    return reduce_losses(-labels.picked(x), labels, reduction)


def per_class(xp: Any, incoming: Array, reduction: str, ndim: int) -> Array:
    """The incoming gradient, one number per target or one for all, against classes."""
    return xp.unsqueeze(incoming, class_dim(ndim)) if reduction == "none" else incoming


def _nll_loss_rule(
    xp: Any,
    incoming: Array,
    target: Array,
    weight: Array | None,
    x_shape: Shape,
    x_dtype: Any,
    ignore_index: int,
    reduction: str,
) -> Array:
    q = xp.class_weights(target, weight, x_shape, x_dtype, ignore_index, reduction, 0.0)
    return -(q * per_class(xp, incoming, reduction, len(x_shape)))


def losses_meta(
    x: Array, target: Array, weight: Array, ignore_index: int, reduction: str, *_: Any
) -> Any:
    """Shape and dtype of either loss."""
    return (target.shape if reduction == "none" else ()), x.dtype


def _nll_loss_args(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """Minus the input at the target class: the loss for log-probabilities."""
    reduction = reduction_from(reduction, size_average, reduce)
    target = checked_target(input, target, weight, "nll_loss")
    return input, target, weight, operator.index(ignore_index), reduction


def _over_batch(call: BatchedCall) -> Any:
    """The samples as one long batch, reduced sample by sample afterwards."""
    if call.batched[2]:
        return loop.run(call)
    ignore_index, reduction, *rest = call.params
    x, target, weight = call.lifted()[:2] + call.tensors[2:]
    sizes, shape = x.shape, target.shape
    if len(shape) > 1:
        x = recorded.reshape(x, (shape[0] * shape[1], *sizes[2:]))
        target = recorded.reshape(target, (shape[0] * shape[1], *shape[2:]))
    made = call.run((x, target, weight), (ignore_index, "none", *rest))
    losses, *others = made if isinstance(made, (list, tuple)) else [made]
    losses = recorded.reshape(losses, shape)
    if reduction != "none":
        losses = _reduced_by_sample(losses, target, weight, ignore_index, reduction)
    return (losses, *(recorded.reshape(each, sizes) for each in others)) if others else losses


def _reduced_by_sample(
    losses: Array, target: Array, weight: Array | None, ignore_index: int, reduction: str
) -> Array:
    over = tuple(range(1, losses.ndim))
    total = recorded.sum(losses, over, False)
    if reduction == "sum":
        return total
    counted = target != ignore_index
    counts = recorded.cast(counted, losses.dtype)
    if weight is not None:
        counts = counts * recorded.index(weight, target * counted, (0,))
    return total / recorded.sum(recorded.reshape(counts, losses.shape), over, False)


joined = GenericRule("samples joined to one batch, reduced one by one", _over_batch)

define(
    "nll_loss(x, target, weight; ignore_index, reduction)",
    "y = −weight[t]·x[t] per target t, then mean (over the total weight) or sum;  ∂x = −q·incoming",
    forward=_nll_loss,
    vjp={"x": _nll_loss_rule},
    linear=True,
    flat=("x",),
    meta=losses_meta,
    batching=joined,
    refuses=ONLY_FLOATS,
    public=_nll_loss_args,
    torch="nn.functional.nll_loss",
    samples=lambda make: class_samples(make, smoothing=False),
    autocast="float32",
)


def class_samples(make: Any, smoothing: bool) -> list[Any]:
    """Calls of either loss, for its tests; ``smoothing`` for those that only one understands."""
    weight = make.constant(make(4, low=0.5, high=2.0))
    calls = [
        make.call(make(3, 4), make.ints(3, high=4)),
        make.call(make(3, 4), make.ints(3, high=4), reduction="sum"),
        make.call(make(3, 4), make.ints(3, high=4), reduction="none"),
        make.call(make(3, 4), np.array([1, -100, 3]), weight),
        make.call(make(3, 4), np.array([1, 2, 3]), weight, ignore_index=2, reduction="none"),
        make.call(make(4), make.ints(high=4)),
        make.call(make(2, 4, 3), make.ints(2, 3, high=4), weight),
        make.call(make(2, 4, 2, 2), make.ints(2, 2, 2, high=4), reduction="none"),
        make.call(make(0, 4), make.ints(0, high=4), reduction="sum"),
        make.call(make(2, 3, low=-1e4, high=1e4), make.ints(2, high=3)),
    ]
    if smoothing:
        calls += [
            make.call(make(3, 4), make.ints(3, high=4), label_smoothing=0.2),
            make.call(make(3, 4), np.array([1, -100, 3]), weight, label_smoothing=0.2),
            make.call(
                make(2, 4, 3), make.ints(2, 3, high=4), weight, reduction="none", label_smoothing=1
            ),
            make.call(make(3, 4), make(3, 4, low=0.0, high=1.0)),
            make.call(make(4), make(4, low=0.0, high=1.0), weight, reduction="sum"),
            make.call(make(2, 4, 3), make(2, 4, 3), weight, label_smoothing=0.1, reduction="none"),
        ]
    return calls
