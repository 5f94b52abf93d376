"""Activations that draw: slopes (randomized ReLU) and categories (Gumbel softmax)."""

from __future__ import annotations

import warnings

from whygrad.errors import fail
from whygrad.ops.define import composite, table
from whygrad.ops.ties import straight
from whygrad.tensor import Tensor
from whygrad.tensor.memory import contiguous_format

__all__ = ["gumbel_softmax", "rrelu", "rrelu_"]


def rrelu(
    input: Tensor,
    lower: float = 1.0 / 8,
    upper: float = 1.0 / 3,
    training: bool = False,
    inplace: bool = False,
) -> Tensor:
    """x where positive, slope·x elsewhere: a slope drawn per element, or the average one."""
    if not lower <= upper:
        raise fail(
            RuntimeError,
            call=f"rrelu(x, lower={lower}, upper={upper})",
            cause="Lower bound should be less than or equal to the upper bound",
            fix="swap them",
        )
    if not training:
        average: Tensor = table["leaky_relu"].public(input, (lower + upper) / 2, inplace)
        return average
    constant = input.detach()
    uniform = table["rand_like"].public(constant, memory_format=contiguous_format)
    slopes = uniform * (upper - lower) + lower
    factor = slopes.where(constant <= 0, 1.0)
    return input.mul_(factor) if inplace else straight(input) * factor


def rrelu_(
    input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = False
) -> Tensor:
    """``rrelu`` written into ``input`` itself."""
    return rrelu(input, lower, upper, training, inplace=True)


composite(
    rrelu,
    "y = x if x > 0 else slope·x, slope ~ U(lower, upper) in training, else their average",
    torch="nn.functional.rrelu",
    samples=lambda make: [
        make.call(make(3, 4)),
        make.call(make(3, 4), 0.25, 0.25, True),
        make.call(make(5), lower=-0.5, upper=0.1),
        make.call(make(0, 3), training=True),
        make.call(make()),
    ],
)


def gumbel_softmax(
    logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1
) -> Tensor:
    """A category drawn with the probabilities ``softmax(logits)``, in a way gradients can follow.

    ``tau`` is the temperature: the lower, the closer to a single 1.  ``hard`` rounds the result to
    exactly that and keeps the gradient of the soft one.
    """
    if eps != 1e-10:
        warnings.warn("`eps` parameter is deprecated and has no effect.", stacklevel=2)
    uniform = table["rand_like"].public(logits.detach())
    noise = -(-uniform.log()).log()
    soft = ((logits + noise) / tau).softmax(dim)
    if not hard:
        return soft
    chosen = soft.argmax(dim, keepdim=True)
    one_hot = table["zeros_like"].public(soft.detach()).scatter(dim, chosen, 1.0)
    return one_hot - soft.detach() + soft


composite(
    gumbel_softmax,
    "y = softmax((x + g)/τ) along dim, g ~ Gumbel;  hard: its one-hot maximum, with y's gradient",
    torch="nn.functional.gumbel_softmax",
    samples=lambda make: [
        make.call(make(3, 1)),
        make.call(make(3, 1), 0.5, True),
        make.call(make(1, 4), dim=0),
        make.call(make(0, 3), tau=2.0),
    ],
)
