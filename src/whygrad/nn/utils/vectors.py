"""All parameters as one vector, and back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from whygrad.errors import describe, fail
from whygrad.ops import functions
from whygrad.tensor import Tensor

__all__ = ["parameters_to_vector", "vector_to_parameters"]


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """The elements of all parameters, one after the other; gradients flow back to them."""
    known = list(parameters)
    _check_devices("parameters_to_vector", known)
    return functions["cat"]([each.reshape(-1) for each in known])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Make each parameter a view of its part of ``vec``, as PyTorch does."""
    known = list(parameters)

    def refuse(kind: type[Exception], cause: str, fix: str) -> Exception:
        call = f"vector_to_parameters({describe(vec)}, …)"
        return fail(kind, call=call, cause=cause, fix=fix)

    if not isinstance(vec, Tensor):
        cause = f"expected whygrad.Tensor, but got: {type(vec).__name__}"
        raise refuse(TypeError, cause, "pass what parameters_to_vector returned")
    _check_devices("vector_to_parameters", known)
    needed = sum(each.numel() for each in known)
    if vec.numel() < needed:
        raise refuse(
            RuntimeError,
            f"the parameters have {needed} elements, the vector has {vec.numel()}",
            "pass a vector with a number for every element",
        )
    start = 0
    for each in known:
        end = start + each.numel()
        each.data = vec[start:end].view(each.shape).data
        start = end


def _check_devices(call: str, parameters: list[Any]) -> None:
    if len({each.device for each in parameters}) > 1:
        raise fail(
            TypeError,
            call=f"{call}(…)",
            cause="Found two parameters on different devices, this is currently not supported",
            fix="move the model to one device first",
        )
