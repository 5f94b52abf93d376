"""Losses that are content once the right answer leads by a margin.

Hinges, therefore: zero with zero slope beyond the margin.  At the corner itself the slope is
PyTorch's, which differs between the two that compare classes (0) and the others (that of the
sloping side).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from whygrad.ops.define import composite, table
from whygrad.ops.loss.shared import reduced, reduction_from, refusal
from whygrad.tensor import Tensor, dtypes

__all__ = [
    "hinge_embedding_loss",
    "margin_ranking_loss",
    "multi_margin_loss",
    "multilabel_margin_loss",
]


def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """input1 should be larger by ``margin`` where target is 1, smaller where it is −1."""
    reduction = reduction_from(reduction, size_average, reduce)
    if not input1.ndim == input2.ndim == target.ndim:
        raise refusal(
            RuntimeError,
            "margin_ranking_loss",
            {"input1": input1, "input2": input2, "target": target},
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: "
            f"input1: {tuple(input1.shape)}, input2: {tuple(input2.shape)}, "
            f"target: {tuple(target.shape)}",
            "add the missing dimensions: target.unsqueeze(1) or target.expand_as(input1)",
        )
    return reduced((-target * (input1 - input2) + margin).clamp(min=0), reduction)


def _signs(make: Any, *shape: int) -> Any:
    return make.constant(np.asarray(np.sign(make(*shape))))


composite(
    margin_ranking_loss,
    "y = max(0, margin − t·(a − b)), then mean or sum",
    torch="nn.functional.margin_ranking_loss",
    samples=lambda make: [
        make.call(make(5), make(5), _signs(make, 5)),
        make.call(make(3, 4), make(3, 4), _signs(make, 3, 4), 0.5, reduction="sum"),
        make.call(make(3, 4), make(3, 4), _signs(make, 1, 4), margin=-0.5, reduction="none"),
        make.call(make(), make(), _signs(make), 3.0),
    ],
    autocast="float32",
)


def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: float = 1.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Distances should be 0 where the target is 1, and at least ``margin`` where it is −1."""
    reduction = reduction_from(reduction, size_average, reduce)
    where = table["where"].public
    if not input.dtype.is_differentiable:
        margin = int(margin)  # integers stay integers
    too_near = where(target != 1, (margin - input).clamp(min=0), 0)
    too_far = where(target != -1, input, 0)
    return reduced(too_near + too_far, reduction)


composite(
    hinge_embedding_loss,
    "y = x where t = 1, max(0, margin − x) where t = −1, then mean or sum",
    torch="nn.functional.hinge_embedding_loss",
    samples=lambda make: [
        make.call(make(5), _signs(make, 5)),
        make.call(make(3, 4), _signs(make, 4), 0.5, reduction="sum"),
        make.call(make(3), np.array([1, -1, 0]), margin=-0.5, reduction="none"),
        make.call(make(), _signs(make), 3.0),
    ],
    autocast="float32",
)


def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The right class should lead every other one by ``margin``."""
    reduction = reduction_from(reduction, size_average, reduce)
    arguments = {"input": input, "target": target, "weight": weight, "p": p}
    _check_multi_margin(input, target, weight, p, arguments)
    classes = input.shape[-1] if input.ndim else 1
    scores, right = input.reshape((-1, classes)), target.reshape((-1, 1))
    _check_classes(right, classes, 0, "target out of range", "multi_margin_loss", arguments)
    lead = scores.gather(1, right) - scores
    hinges = (margin - lead).relu() if p == 1 else (margin - lead).relu().square()
    if weight is not None:
        hinges = hinges * weight[right]
    others = table["arange"].public(classes, device=input.device) != right
    losses = (hinges * others).sum(1) / classes
    return reduced(losses.reshape(target.shape), reduction)


def _check_multi_margin(
    input: Tensor, target: Tensor, weight: Tensor | None, p: int, arguments: dict[str, Any]
) -> None:
    name = "multi_margin_loss"
    if p not in (1, 2):
        raise refusal(
            ValueError, name, arguments, "only p == 1 and p == 2 supported", "pass p=1 or p=2"
        )
    if weight is not None and weight.ndim != 1:
        raise refusal(
            ValueError,
            name,
            arguments,
            "weight must be one-dimensional",
            "pass one weight per class",
        )
    _check_scores(input, name, arguments)
    classes = input.shape[-1] if input.ndim else 1
    examples = input.shape[0] if input.ndim == 2 else 1
    if target.ndim > 1 or target.numel() != examples or (input.ndim == 2 and not target.ndim):
        raise refusal(
            RuntimeError,
            name,
            arguments,
            "multi_margin_loss: target tensor should be 1-D with size equal to the number of input "
            f"samples (batch size). Expected target size [{examples}], but got "
            f"{list(target.shape)}. Input has shape {list(input.shape)}.",
            "pass one class index per row of the input",
        )
    _check_indices(target, name, arguments)
    if weight is not None and weight.numel() != classes:
        raise refusal(
            RuntimeError,
            name,
            arguments,
            f"inconsistent weight size, expected {classes} but got {list(weight.shape)}",
            "pass one weight per class",
        )


composite(
    multi_margin_loss,
    "y = Σ max(0, margin − x[t] + x[i])^p / classes over the classes i ≠ t, times weight[t], "
    "then mean or sum",
    torch="nn.functional.multi_margin_loss",
    samples=lambda make: [
        make.call(make(3, 4), make.ints(3, high=4)),
        make.call(make(3, 4), make.ints(3, high=4), 2, 0.5, reduction="sum"),
        make.call(
            make(3, 4), make.ints(3, high=4), weight=make.constant(make(4)), reduction="none"
        ),
        make.call(make(4), make.ints(high=4), p=2, weight=make.constant(make(4))),
        make.call(make(4), make.ints(1, high=4), reduction="none"),
    ],
    autocast="float32",
)


def multilabel_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Each class that is listed should lead every class that is not by 1.

    The list of an example ends at its first −1.
    """
    reduction = reduction_from(reduction, size_average, reduce)
    name, arguments = "multilabel_margin_loss", {"input": input, "target": target}
    _check_scores(input, name, arguments)
    if input.shape != target.shape:
        raise refusal(
            RuntimeError,
            name,
            arguments,
            f"inconsistent target size: {list(target.shape)} for input of size: "
            f"{list(input.shape)}",
            "list the classes of an example in a row as long as the input's, filled up with -1",
        )
    _check_indices(target, name, arguments)
    classes = input.shape[-1] if input.ndim else 1
    scores, labels = input.reshape((-1, classes)), target.reshape((-1, classes))
    cause = "argument #2 'target' is out of range"
    _check_classes(labels, classes, -1, cause, name, arguments)
    listed = (labels >= 0).long().cumprod(1)
    labels = labels * listed
    right = table["zeros_like"].public(labels).scatter_reduce(1, labels, listed, "amax")
    lead = scores.gather(1, labels).unsqueeze(2) - scores.unsqueeze(1)
    pairs = listed.unsqueeze(2) * (1 - right).unsqueeze(1)
    losses = ((1 - lead).relu() * pairs).sum((1, 2)) / classes
    return reduced(losses.reshape(input.shape[:-1]), reduction)


composite(
    multilabel_margin_loss,
    "y = Σ max(0, 1 − x[j] + x[i]) / classes over listed classes j and classes i not listed, "
    "then mean or sum",
    torch="nn.functional.multilabel_margin_loss",
    samples=lambda make: [
        make.call(make(2, 4), np.array([[3, 0, -1, 1], [2, -1, 2, 2]])),
        make.call(make(2, 3), np.array([[-1, 0, 1], [2, 2, 0]]), reduction="sum"),
        make.call(make(2, 3), np.array([[1, -1, 1], [2, 0, 1]]), reduction="none"),
        make.call(make(3), np.array([2, -1, 0]), reduction="none"),
    ],
    autocast="float32",
)


def _check_scores(input: Tensor, name: str, arguments: dict[str, Any]) -> None:
    if input.ndim > 2 or (input.ndim and not input.shape[-1]):
        raise refusal(
            RuntimeError,
            name,
            arguments,
            "Expected non-empty vector or matrix with optional 0-dim batch size, but got: "
            f"{list(input.shape)}",
            "pass scores of shape (examples, classes) or (classes,)",
        )


def _check_indices(target: Tensor, name: str, arguments: dict[str, Any]) -> None:
    if target.dtype is not dtypes.int64:
        raise refusal(
            RuntimeError,
            name,
            arguments,
            f"expected scalar type Long but found {target.dtype.name}",
            "convert class indices with target.long()",
        )


def _check_classes(
    labels: Tensor, classes: int, lowest: int, cause: str, name: str, arguments: dict[str, Any]
) -> None:
    if ((labels < lowest) | (labels >= classes)).any():
        raise refusal(
            RuntimeError,
            name,
            arguments,
            cause,
            f"class indices go from 0 to {classes - 1}",
        )
