"""Python's operators on tensors, taken from the op table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from whygrad.keys import SCALAR_BITS
from whygrad.ops.define import table
from whygrad.tensor import Tensor

__all__ = ["install"]

_BINARY = {
    "add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "floordiv": "floor_divide",
    "mod": "remainder", "pow": "pow", "matmul": "matmul", "and": "bitwise_and",
    "or": "bitwise_or", "xor": "bitwise_xor", "lshift": "bitwise_left_shift",
    "rshift": "bitwise_right_shift",
}  # fmt: skip
_COMPARISON = {"eq": "eq", "ne": "ne", "lt": "lt", "le": "le", "gt": "gt", "ge": "ge"}
_UNARY = {"neg": "neg", "abs": "abs", "invert": "bitwise_not"}


def _reflected(call: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, other: call(other, self)


def _comparison(call: Callable[..., Any]) -> Callable[..., Any]:
    """With what cannot be compared element by element, leave the answer to Python.

    ``x == None`` is then False, and ``x < None`` a TypeError, as for any two strangers.
    """

    def compare(self: Tensor, other: Any) -> Any:
        if type(other) in SCALAR_BITS or isinstance(other, (Tensor, np.ndarray, np.generic)):
            return call(self, other)
        return NotImplemented

    return compare


def install() -> None:
    """Set the double-underscore methods of ``Tensor``."""
    for dunder, name in _BINARY.items():
        if name in table:
            call = table[name].call
            setattr(Tensor, f"__{dunder}__", call)
            setattr(Tensor, f"__r{dunder}__", _reflected(call))
    for dunder, name in _COMPARISON.items():
        setattr(Tensor, f"__{dunder}__", _comparison(table[name].call))
    for dunder, name in _UNARY.items():
        if name in table:
            setattr(Tensor, f"__{dunder}__", table[name].call)
