"""``Variable(data, requires_grad)``: what a tensor with a gradient was called in old programs."""

from __future__ import annotations

import warnings
from typing import Any

from whygrad.errors import fail
from whygrad.tensor import Tensor

__all__ = ["Variable"]


class _VariableType(type):
    """Every tensor is a Variable."""

    def __instancecheck__(cls, other: Any) -> bool:
        return isinstance(other, Tensor)


class Variable(metaclass=_VariableType):
    """A leaf over the memory of ``data``: ``data.detach().requires_grad_(requires_grad)``."""

    def __new__(  # type: ignore[misc]  # what is made is a tensor, as the class of an instance says
        cls, data: Any = None, requires_grad: bool = False, volatile: Any = None
    ) -> Tensor:
        if volatile is not None:
            warnings.warn(
                "volatile was removed and has no effect: use `with whygrad.no_grad():`",
                UserWarning,
                stacklevel=2,
            )
            if volatile and requires_grad:
                raise fail(
                    ValueError,
                    call="Variable(data, requires_grad=True, volatile=True)",
                    cause="Variable can't be volatile and require_grad at the same time",
                    fix="leave volatile out, and compute inside `with whygrad.no_grad():`",
                )
        if data is None:
            data = Tensor()
        if not isinstance(data, Tensor):
            raise fail(
                TypeError,
                call=f"Variable({type(data).__name__})",
                cause=f"Variable data has to be a tensor, but got {type(data).__name__}",
                fix="make a tensor of it: whygrad.tensor(data, requires_grad=True)",
            )
        return data.detach().requires_grad_(requires_grad)
