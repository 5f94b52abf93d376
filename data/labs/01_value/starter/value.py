"""«module»"""

import math


class Value:
    """«class_value»"""

    def __init__(self, data, _prev=(), _op=""):
        # «todo_init»
        raise NotImplementedError("__init__")

    def __repr__(self):
        return f"Value(data={self.data}, grad={self.grad})"

    def __add__(self, other):
        """«add»"""
        raise NotImplementedError("+")

    def __mul__(self, other):
        """«mul»"""
        raise NotImplementedError("*")

    def __pow__(self, exponent):
        """«pow»"""
        raise NotImplementedError("**")

    def exp(self):
        raise NotImplementedError("exp")

    def log(self):
        """«log»"""
        raise NotImplementedError("log")

    def tanh(self):
        raise NotImplementedError("tanh")

    def sigmoid(self):
        raise NotImplementedError("sigmoid")

    def relu(self):
        """«relu»"""
        raise NotImplementedError("relu")

    # «rest_from_these»

    def __neg__(self):
        """-x"""
        raise NotImplementedError("-x")

    def __sub__(self, other):
        """x - y, x - 2"""
        raise NotImplementedError("-")

    def __truediv__(self, other):
        """x / y, x / 2"""
        raise NotImplementedError("/")

    def __radd__(self, other):
        """2 + x"""
        raise NotImplementedError("2 + x")

    def __rmul__(self, other):
        """2 * x"""
        raise NotImplementedError("2 * x")

    def __rsub__(self, other):
        """2 - x"""
        raise NotImplementedError("2 - x")

    def __rtruediv__(self, other):
        """2 / x"""
        raise NotImplementedError("2 / x")

    def backward(self):
        """«backward»"""
        # «todo_backward»
        raise NotImplementedError("backward")
