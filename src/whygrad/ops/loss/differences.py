"""Losses that depend on the difference between a prediction and its target.

Each op is the loss of one element, so its rules are formulas of one number; the public function
adds PyTorch's checks and the reduction.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from whygrad.ops.activation.smooth import ONLY_FLOATS
from whygrad.ops.complex_numbers import real_product
from whygrad.ops.define import elementwise, table
from whygrad.ops.loss.shared import (
    reduced,
    reduction_from,
    refusal,
    warn_if_broadcast,
    weighted,
)
from whygrad.tensor import Tensor, dtypes

__all__: list[str] = []

Array = Any


def _promoted(input: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """Both in one dtype, so that what is refused depends on what they come to together."""
    if input.dtype is target.dtype:
        return input, target
    common = dtypes.promote_types(input.dtype, target.dtype)
    return input.to(common), target.to(common)


def _of_difference(name: str) -> Any:
    """The public form of ``mse_loss`` and ``l1_loss``."""

    def loss(
        input: Tensor,
        target: Tensor,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        weight: Tensor | None = None,
    ) -> Tensor:
        warn_if_broadcast(input, target)
        reduction = reduction_from(reduction, size_average, reduce)
        if name == "mse_loss":
            input, target = _promoted(input, target)
        losses = table[name].call(input, target)
        if weight is None:
            return reduced(losses, reduction)
        _check_weight(input, weight, name)
        if reduction == "mean":
            return (losses * weight).sum() / weight.sum()
        return weighted(losses, weight, reduction)

    return loss


def _check_weight(input: Tensor, weight: Tensor, name: str) -> None:
    if weight.shape != input.shape:
        raise refusal(
            ValueError,
            name,
            {"input": input, "weight": weight},
            "Weights and input must have the same size.",
            "expand the weights: weight.expand_as(input)",
        )


def _differences(make: Any) -> list[Any]:
    return [
        make.call(make(3, 4), make(3, 4)),
        make.call(make(3, 4), make(3, 4), reduction="sum"),
        make.call(make(3, 4), make(3, 4), reduction="none"),
        make.call(make(), make()),
        make.call(make(0, 3), make(0, 3), reduction="sum"),
    ]


def _weighted_differences(make: Any) -> list[Any]:
    return [
        *_differences(make),
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
    refuses=ONLY_FLOATS,
    public=_of_difference("mse_loss"),
    torch="nn.functional.mse_loss",
    samples=_weighted_differences,
    autocast="float32",
)


def _l1_jvp(xp: Any, tangents: Any, a: Array, b: Array) -> Array:
    of_a, of_b = tangents
    moved = of_a if of_b is None else -of_b if of_a is None else of_a - of_b
    return real_product(xp, moved, xp.sgn(a - b))


elementwise(
    "l1_loss(a, b)",
    "y = |a − b|, then mean or sum;  ∂y/∂a = sign(a − b),  ∂y/∂b = −sign(a − b)",
    forward=lambda a, b: np.abs(a - b),
    vjp={
        "a": lambda xp, incoming, a, b: incoming * xp.sgn(a - b),
        "b": lambda xp, incoming, a, b: incoming * xp.sgn(b - a),
    },
    jvp=_l1_jvp,
    complex_rule="own",
    meta=lambda a, b: (np.broadcast_shapes(a.shape, b.shape), np.empty(0, a.dtype).real.dtype),
    subgradient="0 where a = b",
    promote="same",
    refuses={"bool": ONLY_FLOATS["bool"]},
    public=_of_difference("l1_loss"),
    torch="nn.functional.l1_loss",
    samples=_weighted_differences,
    autocast="float32",
)


def _huber(a: Array, b: Array, delta: float) -> Array:
    """A parabola up to ``delta`` and its tangent from there, as one product."""
    distance = np.abs(a - b)
    near = np.minimum(distance, delta)
    return near * (distance - 0.5 * near)


def _smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:
    """The distance, rounded to a parabola below ``beta``."""
    warn_if_broadcast(input, target)
    reduction = reduction_from(reduction, size_average, reduce)
    if beta < 0:
        raise refusal(
            RuntimeError,
            "smooth_l1_loss",
            {"beta": beta},
            "smooth_l1_loss does not support negative values for beta.",
            "beta is the distance below which the loss is a parabola: pass 1.0, or 0 for none",
        )
    input, target = _promoted(input, target)
    if beta == 0:
        return reduced(table["l1_loss"].call(input, target), reduction)
    return reduced(table["smooth_l1_loss"].call(input, target, float(beta)), reduction)


# A slope held between two limits is what ``hardtanh`` computes, whatever its name suggests.
elementwise(
    "smooth_l1_loss(a, b; beta)",
    "y = (a − b)²/(2β) where |a − b| < β, else |a − b| − β/2, then mean or sum;  "
    "∂y/∂a = (a − b)/β held between −1 and 1",
    forward=lambda a, b, beta: _huber(a, b, beta) / beta,
    vjp={
        "a": lambda xp, incoming, a, b, beta: incoming * xp.hardtanh((a - b) / beta, -1.0, 1.0),
        "b": lambda xp, incoming, a, b, beta: incoming * xp.hardtanh((b - a) / beta, -1.0, 1.0),
    },
    promote="same",
    refuses=ONLY_FLOATS,
    public=_smooth_l1_loss,
    torch="nn.functional.smooth_l1_loss",
    samples=lambda make: [
        *_differences(make),
        make.call(make(3, 4), make(3, 4), beta=0.5),
        make.call(make(5), make(5), reduction="sum", beta=2.5),
        make.call(make(5), make(5), beta=0),
    ],
    autocast="float32",
)


def _huber_loss(
    input: Tensor,
    target: Tensor,
    reduction: str = "mean",
    delta: float = 1.0,
    weight: Tensor | None = None,
) -> Tensor:
    """Half the squared distance, continued as a straight line beyond ``delta``."""
    warn_if_broadcast(input, target)
    reduction = reduction_from(reduction)
    if delta <= 0:
        raise refusal(
            RuntimeError,
            "huber_loss",
            {"delta": delta},
            "huber_loss does not support non-positive values for delta.",
            "delta is the distance beyond which the loss is a straight line: pass 1.0",
        )
    if weight is not None:
        _check_weight(input, weight, "huber_loss")
    of_input, (input, target) = input.dtype, _promoted(input, target)
    if not dtypes.can_cast(input.dtype, of_input):
        raise refusal(
            RuntimeError,
            "huber_loss",
            {"input": of_input, "target": target},
            f"result type {input.dtype.name} can't be cast to the desired output type "
            f"{of_input.name}, that of the input",
            "convert the input first: input.float()",
        )
    losses = table["huber_loss"].call(input, target, float(delta)).to(of_input)
    return weighted(losses, weight, reduction)


elementwise(
    "huber_loss(a, b; delta)",
    "y = (a − b)²/2 where |a − b| ≤ δ, else δ·(|a − b| − δ/2), then mean or sum;  "
    "∂y/∂a = a − b held between −δ and δ",
    forward=_huber,
    vjp={
        "a": lambda xp, incoming, a, b, delta: incoming * xp.hardtanh(a - b, -delta, delta),
        "b": lambda xp, incoming, a, b, delta: incoming * xp.hardtanh(b - a, -delta, delta),
    },
    promote="same",
    refuses=ONLY_FLOATS,
    public=_huber_loss,
    torch="nn.functional.huber_loss",
    samples=lambda make: [
        *_weighted_differences(make),
        make.call(make(3, 4), make(3, 4), delta=0.5),
        make.call(make(5), make(5), "sum", 2.5),
    ],
    autocast="float32",
)
