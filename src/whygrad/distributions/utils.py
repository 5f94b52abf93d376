"""Parameters as tensors of one shape, and probabilities as logarithms and back."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Number
from typing import Any

import whygrad
from whygrad.errors import describe, fail
from whygrad.nn import functional
from whygrad.tensor import Tensor
from whygrad.tensor.modes import enable_grad

__all__ = [
    "EULER",
    "broadcast_all",
    "clamp_probs",
    "lazy_property",
    "logits_to_probs",
    "one_of",
    "probs_to_logits",
    "sum_rightmost",
]

EULER = 0.57721566490153286060  # Euler's constant


def broadcast_all(*values: Any) -> tuple[Tensor, ...]:
    """Numbers and tensors as tensors of one shape; numbers take the dtype of the first tensor."""
    for value in values:
        if not isinstance(value, (Tensor, Number)):
            raise fail(
                ValueError,
                call=f"broadcast_all({', '.join(map(describe, values))})",
                cause="Input arguments must all be instances of Number or Tensor",
                fix="convert lists with tensor(…)",
            )
    first = next((each for each in values if isinstance(each, Tensor)), None)
    kind: dict[str, Any] = {"dtype": whygrad.get_default_dtype()}
    if first is not None:
        kind = {"dtype": first.dtype, "device": first.device}
    tensors = [
        each if isinstance(each, Tensor) else whygrad.tensor(each, **kind) for each in values
    ]
    return tuple(whygrad.broadcast_tensors(*tensors))


def one_of(owner: object, probs: Any, logits: Any) -> bool:
    """Whether the probabilities were given; raises unless exactly one of both was."""
    if (probs is None) == (logits is None):
        raise fail(
            ValueError,
            call=f"{type(owner).__name__}(probs=…, logits=…)",
            cause="Either `probs` or `logits` must be specified, but not both",
            fix="pass probs, or pass logits by name: logits=model(x)",
        )
    return probs is not None


def clamp_probs(probs: Tensor) -> Tensor:
    """Away from 0 and 1 by the resolution of the dtype, so that logarithms stay finite."""
    eps = whygrad.finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def probs_to_logits(probs: Tensor, is_binary: bool = False) -> Tensor:
    """Log-odds of a yes, or the logarithms of the probabilities of several classes."""
    clamped = clamp_probs(probs)
    return clamped.log() - (-clamped).log1p() if is_binary else clamped.log()


def logits_to_probs(logits: Tensor, is_binary: bool = False) -> Tensor:
    """The way back; logits of classes need not be normalized."""
    return logits.sigmoid() if is_binary else functional.softmax(logits, dim=-1)


def sum_rightmost(value: Any, dim: int) -> Any:
    """The sum over the last ``dim`` dimensions."""
    if dim == 0:
        return value
    return value.reshape(*value.shape[:-dim], -1).sum(-1)


class lazy_property:
    """A value that is computed when somebody first asks, and kept."""

    def __init__(self, wrapped: Callable[[Any], Any]) -> None:
        self.wrapped = wrapped
        self.__doc__ = wrapped.__doc__

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        with enable_grad():  # whoever asks first under no_grad must not cut it for the others
            value = self.wrapped(instance)
        instance.__dict__[self.wrapped.__name__] = value
        return value
