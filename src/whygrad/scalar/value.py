"""Reverse mode on one page: a ``Value`` is a number that remembers how it was computed.

An op computes its result and, beside it, one slope per input: the derivative of the result with
respect to that input.  ``backward()`` goes from the result to the leaves, youngest value first, and
each value adds slope × its own gradient to the gradient of each input.  That is the chain rule; the
``+=`` in it is the sum over paths.

>>> a, b, c = Value(2.0), Value(3.0), Value(4.0)
>>> loss = (a * b + c) * (a - c)
>>> loss.backward()
>>> a.grad  # through a·b + c: 3·(a − c) = −6; through a − c: a·b + c = 10
4.0

Numbers without a gradient of their own may stand on either side of an operator.  What has no real
answer is refused (:mod:`whygrad.scalar.numbers`), while a slope may be infinite, as in PyTorch.
"""

from __future__ import annotations

import math
import operator
import sys
from itertools import count
from types import CodeType
from typing import Any

from whygrad.errors import fail
from whygrad.scalar import numbers as floats
from whygrad.scalar.numbers import CLOSED, Number, compute, number
from whygrad.source import Where, outside, user_files

__all__ = ["Value", "result"]

_next_order = count().__next__
_by_order = operator.attrgetter("_order")


class Value(Number):
    """A number, its gradient, and how it was computed."""

    __slots__ = ("_code", "_instruction", "_op", "_order", "_prev", "_slopes", "grad", "label")

    grad: float  # of what backward() was last called on; on a leaf, the sum of all calls
    label: str | None
    _op: str  # empty for a leaf
    _prev: tuple[Value, ...]  # the inputs in argument order: a + a has two, x + 1 has one
    _slopes: tuple[float, ...]  # d self / d input, one per input
    _order: int  # counts creations, so that inputs precede what is computed from them
    _code: CodeType  # with _instruction: the user's line
    _instruction: int

    def __init__(self, data: float, label: str | None = None) -> None:
        result(number(data), "", (), (), out=self)
        self.label = label

    @property
    def where(self) -> Where:
        """The user's line that made this value."""
        return Where(self._code, self._instruction)

    def __reduce__(self) -> tuple[Any, ...]:
        """Leaves can be copied and pickled; what was computed belongs to its graph."""
        if self._prev:
            raise fail(
                TypeError,
                call=f"a copy or pickle of {self!r}",
                cause=f"it was computed at {self.where}, and its graph cannot be copied",
                fix="copy the number: Value(x.data)",
                where=None,
            )
        return _leaf, (type(self), self.data, self.grad, self.label)

    def backward(self) -> None:
        """Add d self / d leaf to the ``grad`` of every leaf.

        Gradients in between start from zero each time: calling it again counts nothing twice.
        """
        found = {self}
        nodes = [self] if self._prev else []
        for node in nodes:  # grows while it is walked
            node.grad = 0.0
            for parent in node._prev:
                if parent._prev and parent not in found:
                    found.add(parent)
                    nodes.append(parent)
        nodes.sort(key=_by_order, reverse=True)
        self.grad += 1.0
        for node in nodes:
            node._backward()

    def _backward(self) -> None:
        grad = self.grad
        for parent, slope in zip(self._prev, self._slopes):
            parent.grad += slope * grad

    def zero_grad(self) -> None:
        self.grad = 0.0

    def __add__(self, other: Any) -> Value:
        if isinstance(other, Value):
            return result(self.data + other.data, "+", (self, other), (1.0, 1.0))
        return result(self.data + number(other, "+"), "+", (self,), (1.0,))

    def __mul__(self, other: Any) -> Value:
        if isinstance(other, Value):
            return result(self.data * other.data, "*", (self, other), (other.data, self.data))
        return result(self.data * (y := number(other, "*")), "*", (self,), (y,))

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> Value:
        return result(-self.data, "neg", (self,), (-1.0,))

    def __sub__(self, other: Any) -> Value:
        return _binary("-", floats.subtract, self, other)

    def __rsub__(self, other: Any) -> Value:
        return _binary("-", floats.subtract, other, self)

    def __truediv__(self, other: Any) -> Value:
        return _binary("/", floats.divide, self, other)

    def __rtruediv__(self, other: Any) -> Value:
        return _binary("/", floats.divide, other, self)

    def __pow__(self, other: Any) -> Value:
        return _binary("**", floats.power, self, other)

    def __rpow__(self, other: Any) -> Value:
        return _binary("**", floats.power, other, self)

    def max(self, other: Any) -> Value:
        return _binary("max", floats.larger, self, other)

    def min(self, other: Any) -> Value:
        return _binary("min", floats.smaller, self, other)

    def exp(self) -> Value:
        return result(y := compute("exp", math.exp, self.data), "exp", (self,), (y,))

    def log(self) -> Value:
        return result(compute("log", math.log, x := self.data), "log", (self,), (1.0 / x,))

    def sqrt(self) -> Value:
        y = compute("sqrt", math.sqrt, self.data)
        return result(y, "sqrt", (self,), (0.5 / y if y else math.inf,))

    def sin(self) -> Value:
        return result(compute("sin", math.sin, x := self.data), "sin", (self,), (math.cos(x),))

    def cos(self) -> Value:
        return result(compute("cos", math.cos, x := self.data), "cos", (self,), (-math.sin(x),))

    def tanh(self) -> Value:
        return result(y := math.tanh(self.data), "tanh", (self,), (1.0 - y * y,))

    def sigmoid(self) -> Value:
        small = math.exp(-abs(self.data))  # at most 1, whatever the sign
        y = (small if self.data < 0.0 else 1.0) / (1.0 + small)
        return result(y, "sigmoid", (self,), (small / (1.0 + small) ** 2,))

    def relu(self) -> Value:
        if self.data <= 0.0:
            return result(0.0, "relu", (self,), (CLOSED,))
        return result(self.data, "relu", (self,), (1.0,))

    def abs(self) -> Value:
        slope = math.copysign(1.0, self.data) if self.data else 0.0
        return result(abs(self.data), "abs", (self,), (slope,))

    __abs__ = abs

    def __repr__(self) -> str:
        label = "" if self.label is None else f", label={self.label!r}"
        return f"Value(data={self.data}, grad={self.grad}{label})"


_new = Value.__new__


def result(
    data: float, op: str, inputs: tuple[Value, ...], slopes: tuple[float, ...],
    out: Value | None = None,
) -> Value:  # fmt: skip
    """What an op returns: its number, its inputs, the slope of each, and the user's line."""
    if out is None:
        out = _new(Value)
    out.data, out.grad, out.label = data, 0.0, None
    out._op, out._prev, out._slopes = op, inputs, slopes
    out._order = _next_order()
    frame = sys._getframe(2)
    if frame.f_code.co_filename not in user_files:
        frame = outside(frame)
    out._code, out._instruction = frame.f_code, frame.f_lasti
    return out


def _binary(op: str, rule: floats.Rule, left: Any, right: Any) -> Value:
    y, d_left, d_right = rule(number(left, op), number(right, op))
    if not isinstance(right, Value):
        return result(y, op, (left,), (d_left,))
    if not isinstance(left, Value):
        return result(y, op, (right,), (d_right,))
    return result(y, op, (left, right), (d_left, d_right))


def _leaf(kind: type[Value], data: float, grad: float, label: str | None) -> Value:
    leaf = kind(data, label)
    leaf.grad = grad
    return leaf
