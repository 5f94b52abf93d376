"""Python's operators on tensors, taken from the op table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from whygrad.dispatch.calls import is_operand, operator_call
from whygrad.ops.define import table
from whygrad.tensor import Tensor

__all__ = ["install"]

_BINARY = {
    "add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "floordiv": "floor_divide",
    "mod": "remainder", "pow": "pow", "matmul": "matmul", "and": "bitwise_and",
    "or": "bitwise_or", "xor": "bitwise_xor", "lshift": "bitwise_left_shift",
    "rshift": "bitwise_right_shift",
}  # fmt: skip
# What __torch_function__ sees of these is the operator, of the others the method.
_OWN_NAME = ("floordiv", "and", "or", "xor", "lshift", "rshift")
_COMMUTATIVE = ("add", "mul")
_COMPARISON = {"eq": "eq", "ne": "ne", "lt": "lt", "le": "le", "gt": "gt", "ge": "ge"}
_UNARY = {"neg": "neg", "pos": "positive", "abs": "abs", "invert": "bitwise_not"}


def _reflected(call: Callable[..., Any]) -> Callable[..., Any]:
    """``3 - x``: Python asks the right side when the left one does not know tensors."""

    def reflected(self: Tensor, other: Any) -> Any:
        return call(other, self) if is_operand(other) else NotImplemented

    return reflected


def _comparison(call: Callable[..., Any]) -> Callable[..., Any]:
    """With what cannot be compared element by element, leave the answer to Python.

    ``x == None`` is then False, and ``x < None`` a TypeError, as for any two strangers.
    """

    def compare(self: Tensor, other: Any) -> Any:
        return call(self, other) if is_operand(other) else NotImplemented

    return compare


def install() -> None:
    """Set the double-underscore methods of ``Tensor``."""
    for dunder, name in _BINARY.items():
        if name in table:
            call = operator_call(table[name])
            if dunder in _OWN_NAME:
                call.__name__ = f"__{dunder}__"
            setattr(Tensor, f"__{dunder}__", call)
            reflected = call if name in _COMMUTATIVE else _reflected(call)
            if reflected is not call:
                reflected.__name__ = "__rdiv__" if name == "div" else f"__r{dunder}__"
            setattr(Tensor, f"__r{dunder}__", reflected)
    for dunder, name in _COMPARISON.items():
        compare = _comparison(table[name].call)
        compare.__name__ = "__eq__" if name == "eq" else name
        setattr(Tensor, f"__{dunder}__", compare)
    for dunder, name in _UNARY.items():
        if name in table:
            setattr(Tensor, f"__{dunder}__", table[name].call)
