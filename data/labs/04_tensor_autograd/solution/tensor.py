"""«module_tensor»"""

import numpy as np
import rules
from rules import unbroadcast


class Tensor:
    """«class_tensor»"""

    def __init__(self, data, _prev=()):
        self.data = np.asarray(data, dtype=float)
        self.grad = np.zeros_like(self.data)
        self._prev = _prev
        self._backward = lambda: None

    @property
    def shape(self):
        return self.data.shape

    def __add__(self, other):
        """«add»"""
        out = Tensor(self.data + other.data, (self, other))

        def _backward():
            self.grad += unbroadcast(out.grad, self.shape)
            other.grad += unbroadcast(out.grad, other.shape)

        out._backward = _backward
        return out

    def relu(self):
        """«relu»"""
        out = Tensor(np.maximum(self.data, 0), (self,))

        def _backward():
            self.grad += out.grad * (self.data > 0)

        out._backward = _backward
        return out

    def __mul__(self, other):
        """«mul»"""
        out = Tensor(self.data * other.data, (self, other))

        def _backward():
            self.grad += unbroadcast(out.grad * other.data, self.shape)
            other.grad += unbroadcast(out.grad * self.data, other.shape)

        out._backward = _backward
        return out

    def __matmul__(self, other):
        """«matmul»"""
        out = Tensor(self.data @ other.data, (self, other))

        def _backward():
            arrays = self.data, other.data
            grad_self, grad_other = rules.matmul_backward(out.grad, *arrays)
            self.grad += grad_self
            other.grad += grad_other

        out._backward = _backward
        return out

    def sum(self, axis=None, keepdims=False):
        """«sum»"""
        out = Tensor(self.data.sum(axis=axis, keepdims=keepdims), (self,))

        def _backward():
            self.grad += rules.sum_backward(out.grad, self.shape, axis, keepdims)

        out._backward = _backward
        return out

    def mean(self, axis=None, keepdims=False):
        """«mean»"""
        out = Tensor(self.data.mean(axis=axis, keepdims=keepdims), (self,))

        def _backward():
            self.grad += rules.mean_backward(out.grad, self.shape, axis, keepdims)

        out._backward = _backward
        return out

    def cross_entropy(self, labels):
        """«method_cross_entropy»"""
        out = Tensor(rules.cross_entropy(self.data, labels), (self,))

        def _backward():
            self.grad += out.grad * rules.cross_entropy_backward(self.data, labels)

        out._backward = _backward
        return out

    def backward(self):
        """«backward»"""
        order, seen = [], set()
        waiting = [(self, False)]
        while waiting:
            node, inputs_are_listed = waiting.pop()
            if inputs_are_listed:
                order.append(node)
            elif node not in seen:
                seen.add(node)
                waiting.append((node, True))
                waiting.extend((parent, False) for parent in node._prev)
        self.grad = np.ones_like(self.data)
        for node in reversed(order):
            node._backward()


if __name__ == "__main__":
    # «playground»
    random = np.random.default_rng(0)
    x, labels = Tensor([[0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0, 1, 1, 0])
    W1, b1 = Tensor(random.normal(size=(2, 8))), Tensor(np.zeros(8))
    W2, b2 = Tensor(random.normal(size=(8, 2))), Tensor(np.zeros(2))
    for step in range(201):
        loss = ((x @ W1 + b1).relu() @ W2 + b2).cross_entropy(labels)
        for parameter in (W1, b1, W2, b2):
            parameter.grad = np.zeros_like(parameter.data)
        loss.backward()
        for parameter in (W1, b1, W2, b2):
            parameter.data -= 0.5 * parameter.grad
        if step % 50 == 0:
            print(f"step {step:3}  loss {loss.data:.3f}")
