"""Losses that are minus a log-likelihood, or the distance between two distributions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from whygrad.ops.define import composite
from whygrad.ops.inquiries import holds_somewhere
from whygrad.ops.loss.shared import reduced, reduction_from, refusal, warn_user
from whygrad.tensor import Tensor, dtypes

__all__ = ["gaussian_nll_loss", "held_above", "kl_div", "poisson_nll_loss"]


def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:
    """How many nats the log-probabilities ``input`` waste on what is distributed as ``target``."""
    allowed = ("none", "mean", "sum", "batchmean")
    reduction = reduction_from(reduction, size_average, reduce, allowed)
    if reduction == "mean":
        warn_user(
            "reduction: 'mean' divides the total loss by both the batch size and the support size. "
            "'batchmean' divides only by the batch size, and aligns with the KL div math "
            "definition. 'mean' will be changed to behave the same as 'batchmean' in the next "
            "major release."
        )
    for each in (input, target):
        if each.dtype.category < dtypes.FLOAT:
            raise refusal(
                RuntimeError,
                "kl_div",
                {"input": input, "target": target},
                "kl_div: Integral inputs not supported.",
                "pass log-probabilities and probabilities, both floats",
            )
    if log_target:
        losses = target.exp() * (target - input)
    else:
        losses = target.xlogy(target) - target * input
    if reduction == "batchmean":
        return losses.sum() / input.shape[0] if input.ndim else losses.sum()
    return reduced(losses, reduction)


def _kl_samples(make: Any) -> list[Any]:
    def shares(*shape: int) -> Any:
        return make(*shape, low=0.1, high=1.0)

    return [
        make.call(make(3, 4), shares(3, 4), reduction="sum"),
        make.call(make(3, 4), shares(3, 4), reduction="batchmean"),
        make.call(make(3, 4), shares(4), reduction="none"),
        make.call(make(3, 4), make(3, 4), reduction="batchmean", log_target=True),
        make.call(make(), shares(), reduction="batchmean"),
        make.call(make(3), make.constant(np.array([0.0, 1.0, 0.5])), reduction="sum"),
    ]


composite(
    kl_div,
    "y = t·(log t − x) per element, then sum, mean, or sum per example (batchmean)",
    torch="nn.functional.kl_div",
    samples=_kl_samples,
    autocast="float32",
)


def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    size_average: bool | None = None,
    eps: float = 1e-8,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """How surprising the counts ``target`` are, given their rates (or logarithms of rates)."""
    reduction = reduction_from(reduction, size_average, reduce)
    rate, log_rate = (input.exp(), input) if log_input else (input, (input + eps).log())
    losses = rate - target * log_rate
    if full:
        stirling = target * target.log() - target + 0.5 * (2 * math.pi * target).log()
        losses = losses + stirling.masked_fill(target <= 1, 0)
    return reduced(losses, reduction)


composite(
    poisson_nll_loss,
    "y = exp(x) − t·x, or x − t·log(x + ε) if x is no logarithm, plus Stirling's log t! if full, "
    "then mean or sum",
    torch="nn.functional.poisson_nll_loss",
    samples=lambda make: [
        make.call(make(3, 4), make(3, 4, low=0.0, high=5.0)),
        make.call(make(3, 4), make(4, low=0.0, high=5.0), reduction="sum"),
        make.call(make(3, low=0.1), make(3, low=0.0, high=5.0), log_input=False),
        make.call(make(3), make(3, low=0.2, high=5.0), full=True, reduction="none"),
        make.call(make(low=0.1), make(low=1.5, high=5.0), False, True, eps=1e-3),
    ],
    autocast="float32",
)


def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Tensor | float,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Tensor:
    """How surprising the targets are for normal distributions of this mean and variance."""
    reduction = reduction_from(reduction)
    if not isinstance(var, Tensor):
        var = input.new_full(input.shape, float(var))
    if holds_somewhere(var < 0):
        raise refusal(
            ValueError,
            "gaussian_nll_loss",
            {"input": input, "var": var},
            "var has negative entry/entries",
            "predict the logarithm of the variance and pass its exp()",
        )
    var = held_above(eps, _fitting_variance(input, var))
    losses = 0.5 * (var.log() + (input - target).square() / var)
    if full:
        losses = losses + 0.5 * math.log(2 * math.pi)
    return reduced(losses, reduction)


def _fitting_variance(input: Tensor, var: Tensor) -> Tensor:
    """One variance per element, or one for all along a single dimension."""
    if var.shape == input.shape:
        return var
    if var.shape == input.shape[:-1]:
        return var.unsqueeze(-1)
    if var.ndim == input.ndim:
        others = [have for have, wanted in zip(var.shape, input.shape) if have != wanted]
        if others == [1]:
            return var
    raise refusal(
        ValueError,
        "gaussian_nll_loss",
        {"input": input, "var": var},
        "var is of incorrect size",
        "pass a variance per element of the input, or one per row: var.unsqueeze(-1)",
    )


def held_above(eps: float, x: Tensor) -> Tensor:
    """x, but no smaller than ``eps``, with the slope of x even there, as PyTorch has it."""
    return x + (x.clamp(min=eps) - x).detach()


composite(
    gaussian_nll_loss,
    "y = (log v + (x − t)²/v)/2, plus log(2π)/2 if full, v = var held above eps, then mean or sum",
    torch="nn.functional.gaussian_nll_loss",
    samples=lambda make: [
        make.call(make(3, 4), make(3, 4), make(3, 4, low=0.1)),
        make.call(make(3, 4), make(3, 4), make(3, low=0.1), full=True),
        make.call(make(3, 4), make(4), make(3, 1, low=0.1), reduction="sum"),
        make.call(make(3), make(3), make.constant(np.array([0.5, 0.01, 2.0])), eps=0.1),
        make.call(make(3), make(3), 0.7, reduction="none"),
    ],
)
