"""Gradients that became too large: scaled as one vector, or cut off element by element.

Scaling keeps the direction of the step; cutting off does not.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from types import GeneratorType

from whygrad.errors import fail
from whygrad.ops import functions
from whygrad.ops.public.linalg import vector_norm
from whygrad.tensor import Tensor
from whygrad.tensor.modes import no_grad

__all__ = [
    "clip_grad_norm",
    "clip_grad_norm_",
    "clip_grad_value_",
    "clip_grads_with_norm_",
    "get_total_norm",
]

Tensors = Tensor | Iterable[Tensor]


def _listed(tensors: Tensors) -> list[Tensor]:
    return [tensors] if isinstance(tensors, Tensor) else list(tensors)


def _gradients(parameters: list[Tensor]) -> list[Tensor]:
    return [each._grad for each in parameters if each._grad is not None]


@no_grad()
def get_total_norm(
    tensors: Tensors,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """The norm of all elements as one vector; ``foreach`` changes nothing here."""
    order = float(norm_type)
    parts = [vector_norm(each, order) for each in _listed(tensors)]
    if not parts:
        return functions["tensor"](0.0)
    total = vector_norm(functions["stack"](parts), order)
    if error_if_nonfinite and not bool(total.isfinite()):
        raise fail(
            RuntimeError,
            call=f"total norm of {len(parts)} gradients",
            cause=f"The total norm of order {order} for gradients from `parameters` is non-finite, "
            f"so it cannot be clipped: it is {total.item()}",
            fix="find the op with whygrad.why_nan(loss) or autograd.set_detect_anomaly(True); "
            "error_if_nonfinite=False scales by it anyway, which makes every gradient nan or 0",
        )
    return total


@no_grad()
def clip_grads_with_norm_(
    parameters: Tensors, max_norm: float, total_norm: Tensor, foreach: bool | None = None
) -> None:
    """Scale the gradients so that a total norm of ``total_norm`` becomes at most ``max_norm``."""
    factor = float(functions["clamp"](float(max_norm) / (total_norm + 1e-6), max=1.0))
    if factor == 1.0:
        return
    for gradient in _gradients(_listed(parameters)):
        gradient.mul_(factor)


@no_grad()
def clip_grad_norm_(
    parameters: Tensors,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scale the gradients, as one vector, to a norm of at most ``max_norm``; in place.

    Returns the norm they had.  ``foreach`` changes nothing here.
    """
    known = _listed(parameters)
    if isinstance(parameters, GeneratorType) and not known:
        warnings.warn(
            "`parameters` is an empty generator, no gradient clipping will occur. It may have been "
            "used up before: call model.parameters() anew.",
            stacklevel=3,
        )
    total = get_total_norm(_gradients(known), norm_type, error_if_nonfinite, foreach)
    clip_grads_with_norm_(known, max_norm, total, foreach)
    return total


@no_grad()
def clip_grad_value_(parameters: Tensors, clip_value: float, foreach: bool | None = None) -> None:
    """Cut every element of the gradients off at ±``clip_value``; in place."""
    limit = float(clip_value)
    for gradient in _gradients(_listed(parameters)):
        gradient.clamp_(-limit, limit)


def clip_grad_norm(
    parameters: Tensors,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """The older name of :func:`clip_grad_norm_`."""
    warnings.warn(
        "`nn.utils.clip_grad_norm` is now deprecated in favor of `nn.utils.clip_grad_norm_`.",
        FutureWarning,
        stacklevel=2,
    )
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)
