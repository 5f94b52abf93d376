"""A right engine that is written otherwise, for tests that read the source instead of running it.

Every value keeps (input, slope) pairs; one place sums what arrives.
"""

import math
from collections import deque


class Value:
    def __init__(self, data, _prev=(), _op="", _slopes=()):
        self.data = float(data)
        self.grad = 0.0
        self._prev = tuple(_prev)
        self._op = _op
        self._slopes = _slopes

    def __repr__(self):
        return f"Value(data={self.data}, grad={self.grad})"

    def _backward(self):
        for parent, slope in zip(self._prev, self._slopes):
            parent.grad = math.fsum((parent.grad, slope * self.grad))

    def backward(self):
        """Kahn's way: a value has its turn when all that use it have had theirs."""
        uses, found = {self: 0}, [self]
        for node in found:
            for parent in node._prev:
                if parent not in uses:
                    uses[parent] = 0
                    found.append(parent)
                uses[parent] = uses[parent] + 1
        self.grad = 1.0
        ready = deque([self])
        while ready:
            node = ready.popleft()
            node._backward()
            for parent in node._prev:
                uses[parent] = uses[parent] - 1
                if uses[parent] == 0:
                    ready.append(parent)

    def __add__(self, other):
        other = lift(other)
        return Value(self.data + other.data, (self, other), "+", (1.0, 1.0))

    def __mul__(self, other):
        other = lift(other)
        return Value(self.data * other.data, (self, other), "*", (other.data, self.data))

    def __sub__(self, other):
        other = lift(other)
        return Value(self.data - other.data, (self, other), "-", (1.0, -1.0))

    def __truediv__(self, other):
        other = lift(other)
        slopes = (1.0 / other.data, -self.data / other.data**2)
        return Value(self.data / other.data, (self, other), "/", slopes)

    def __pow__(self, exponent):
        slope = exponent * self.data ** (exponent - 1)
        return Value(self.data**exponent, (self,), f"**{exponent}", (slope,))

    def __neg__(self):
        return Value(-self.data, (self,), "neg", (-1.0,))

    def __radd__(self, other):
        return lift(other) + self

    def __rmul__(self, other):
        return lift(other) * self

    def __rsub__(self, other):
        return lift(other) - self

    def __rtruediv__(self, other):
        return lift(other) / self

    def exp(self):
        y = math.exp(self.data)
        return Value(y, (self,), "exp", (y,))

    def log(self):
        return Value(math.log(self.data), (self,), "log", (1.0 / self.data,))

    def tanh(self):
        y = math.tanh(self.data)
        return Value(y, (self,), "tanh", (1.0 - y * y,))

    def sigmoid(self):
        y = 1.0 / (1.0 + math.exp(-self.data))
        return Value(y, (self,), "sigmoid", (y * (1.0 - y),))

    def relu(self):
        is_open = self.data > 0
        return Value(self.data if is_open else 0.0, (self,), "relu", (float(is_open),))


def lift(number):
    return number if isinstance(number, Value) else Value(number)
