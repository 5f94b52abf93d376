"""Similarity and distance of vectors, and the losses that pull them together or apart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from whygrad.ops.define import composite, table
from whygrad.ops.loss.distributions import held_above
from whygrad.ops.loss.shared import reduced, reduction_from, refusal
from whygrad.tensor import Tensor
from whygrad.tensor.dtypes import result_type

__all__ = [
    "cosine_embedding_loss",
    "cosine_similarity",
    "pairwise_distance",
    "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
]

# Keeps cosine_embedding_loss finite for vectors of length 0: PyTorch's 1e-12, which is a float32.
_TINY = float(np.float32(1e-12))


def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """The cosine of the angle between vectors along ``dim``."""
    dtype = result_type(x1, x2)
    if not dtype.is_floating_point:
        raise refusal(
            RuntimeError,
            "cosine_similarity",
            {"x1": x1, "x2": x2},
            f"expected common dtype to be floating point, yet common dtype is {dtype.name}",
            "convert one of them: x1.float()",
        )
    both = table["broadcast_tensors"].public(x1.to(dtype), x2.to(dtype))
    first, second = (x / held_above(eps, _length(x, dim)) for x in both)
    return (first * second).sum(dim)


def _length(x: Tensor, dim: int, p: float = 2.0, keepdim: bool = True) -> Tensor:
    return table["linalg_vector_norm"].public(x, p, dim, keepdim)


composite(
    cosine_similarity,
    "y = Σ a·b / (|a|·|b|) over dim, each length held above eps",
    method=False,
    samples=lambda make: [
        make.call(make(3, 4), make(3, 4)),
        make.call(make(2, 1, 3), make(4, 3), dim=-1),
        make.call(make(4), make(4), 0),
        make.call(make(2, 3), make.constant(np.full((2, 3), 1e-3)), eps=0.1),
        make.call(make(2, 3), make.ints(2, 3, low=1)),
    ],
)


def pairwise_distance(
    x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Tensor:
    """The p-norm of x1 − x2 + eps along the last dimension."""
    return _length(x1 - x2 + eps, -1, p, keepdim)


composite(
    pairwise_distance,
    "y = |a − b + ε| in the p-norm of the last dimension",
    method=False,
    samples=lambda make: [
        make.call(make(3, 4), make(3, 4)),
        make.call(make(3, 4), make(4), keepdim=True),
        make.call(make(3, 4), make(3, 4), p=1.0),
        make.call(make(3, 4), make(3, 4), 3.5, 1e-2),
        make.call(make(4), make(4), p=float("inf")),
    ],
)


def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """1 − cosine for pairs that belong together (1), cosine above margin for the others (−1)."""
    reduction = reduction_from(reduction, size_average, reduce)
    _check_pairs(input1, input2, target)
    product = (input1 * input2).sum(-1)
    squares = ((input1 * input1).sum(-1) + _TINY) * ((input2 * input2).sum(-1) + _TINY)
    cosine = product / squares.sqrt()
    where = table["where"].public
    together = where(target == 1, 1 - cosine, 0.0)
    apart = where(target == -1, (cosine - margin).clamp(min=0), 0.0)
    return reduced(together + apart, reduction)


def _check_pairs(input1: Tensor, input2: Tensor, target: Tensor) -> None:
    cause = None
    if target.ndim > 1:
        cause = "0D or 1D target tensor expected, multi-target not supported"
    elif not input1.ndim == input2.ndim == target.ndim + 1:
        cause = (
            f"{target.ndim}D target tensor expects {target.ndim + 1}D input tensors, but found "
            f"inputs with sizes {list(input1.shape)} and {list(input2.shape)}."
        )
    if cause is not None:
        raise refusal(
            RuntimeError,
            "cosine_embedding_loss",
            {"input1": input1, "input2": input2, "target": target},
            cause,
            "pass inputs of shape (N, D) with targets of shape (N,), or (D,) with a 0-d target",
        )


composite(
    cosine_embedding_loss,
    "y = 1 − cos(a, b) where t = 1, max(0, cos(a, b) − margin) where t = −1, then mean or sum",
    torch="nn.functional.cosine_embedding_loss",
    samples=lambda make: [
        make.call(make(4, 3), make(4, 3), np.array([1, -1, 1, -1])),
        make.call(make(4, 3), make(4, 3), np.array([-1, -1, 1, 1]), 0.2, reduction="sum"),
        make.call(make(4, 3), make(4, 3), np.array([-1, -1, 1, 0]), -0.5, reduction="none"),
        make.call(make(3), make(3), np.array(1)),
    ],
    autocast="float32",
)


def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """How much too near the negative is, compared with the positive, in the p-norm."""
    reduction = reduction_from(reduction, size_average, reduce)

    def distance(x1: Tensor, x2: Tensor) -> Tensor:
        return pairwise_distance(x1, x2, p, eps)

    triplet = (anchor, positive, negative)
    return _triplet("triplet_margin_loss", triplet, distance, margin, swap, reduction)


def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """``triplet_margin_loss`` with a distance of one's own."""
    name, triplet = "triplet_margin_with_distance_loss", (anchor, positive, negative)
    distance = distance_function or pairwise_distance
    return _triplet(name, triplet, distance, margin, swap, reduction_from(reduction))


def _triplet(
    name: str,
    triplet: tuple[Tensor, Tensor, Tensor],
    distance: Callable[[Tensor, Tensor], Tensor],
    margin: float,
    swap: bool,
    reduction: str,
) -> Tensor:
    _check_triplet(name, triplet, margin)
    anchor, positive, negative = triplet
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = table["minimum"].public(far, distance(positive, negative))
    return reduced((margin + near - far).clamp(min=0), reduction)


def _check_triplet(name: str, triplet: tuple[Tensor, Tensor, Tensor], margin: float) -> None:
    if margin <= 0:
        raise refusal(
            ValueError,
            name,
            {"margin": margin},
            f"margin must be greater than 0, got {margin}",
            "pass the distance by which the negative should be farther away, such as 1.0",
        )
    anchor, positive, negative = triplet
    if not anchor.ndim == positive.ndim == negative.ndim:
        raise refusal(
            RuntimeError,
            name,
            {"anchor": anchor, "positive": positive, "negative": negative},
            "The anchor, positive, and negative tensors are expected to have the same number of "
            f"dimensions, but got: anchor {anchor.ndim}D, positive {positive.ndim}D, and negative "
            f"{negative.ndim}D inputs",
            "add the missing dimension with unsqueeze(0)",
        )


def _triplets(make: Any, **first: Any) -> list[Any]:
    return [
        make.call(make(4, 3), make(4, 3), make(4, 3), **first),
        make.call(make(4, 3), make(4, 3), make(4, 3), margin=0.3, reduction="sum"),
        make.call(make(4, 3), make(4, 3), make(4, 3), swap=True, reduction="none"),
        make.call(make(3), make(3), make(3), margin=2.0),
    ]


composite(
    triplet_margin_loss,
    "y = max(0, margin + |a − p| − |a − n|), then mean or sum; swap: n is measured from p where "
    "that is nearer",
    torch="nn.functional.triplet_margin_loss",
    samples=lambda make: _triplets(make, p=3, eps=1e-3),
    autocast="float32",
)
composite(
    triplet_margin_with_distance_loss,
    "y = max(0, margin + distance(a, p) − distance(a, n)), then mean or sum",
    torch="nn.functional.triplet_margin_with_distance_loss",
    samples=lambda make: _triplets(make, distance_function=lambda a, b: (a - b).abs().sum(-1)),
)
