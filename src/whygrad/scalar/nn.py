"""Networks of :class:`~whygrad.scalar.Value`: a neuron, a layer, a multi-layer perceptron.

Small enough to print, quick enough to separate two moons in a second or two.  Parameters and
outputs carry labels, ``layer1[3].weight[0]`` and ``layer1[3]``, so that an explanation can name
them.
"""

from __future__ import annotations

import math
import operator
from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import pairwise
from random import Random
from typing import Any

from whygrad.errors import fail
from whygrad.scalar.numbers import number
from whygrad.scalar.value import Value, result
from whygrad.source import user_files

__all__ = ["Layer", "MLP", "Module", "Neuron", "weighted_sum"]  # noqa: RUF022

user_files.add(__file__)  # its lines are the evidence: they say more than "here the model was run"

# How far weights spread, so that activations keep their size from layer to layer.
SPREADS = {"linear": 1.0, "relu": math.sqrt(2.0), "tanh": 1.0}


def weighted_sum(weights: Sequence[Value], inputs: Sequence[Value | float], bias: Value) -> Value:
    """Σ weight·input + bias as one op, so that a neuron is two values and not dozens.

    The slope of a weight is its input, the slope of an input is its weight.
    """
    if len(weights) != len(inputs):
        raise fail(
            ValueError,
            call=f"weighted_sum of {len(weights)} weights and {len(inputs)} inputs",
            cause="every input needs a weight of its own",
            fix=f"pass {len(weights)} inputs, or make the neuron with {len(inputs)}",
        )
    factors = [weight.data for weight in weights]
    numbers = [number(each, "*") for each in inputs]
    values = tuple([each for each in inputs if isinstance(each, Value)])
    if len(values) == len(inputs):
        slopes = factors
    else:
        slopes = [factor for factor, each in zip(factors, inputs) if isinstance(each, Value)]
    total = sum(map(operator.mul, factors, numbers), bias.data)
    return result(total, "w·x + b", (*weights, *values, bias), (*numbers, *slopes, 1.0))


class Module(ABC):
    """Something with parameters."""

    @abstractmethod
    def parameters(self) -> list[Value]:
        """All weights and biases, in a fixed order."""

    def zero_grad(self) -> None:
        for parameter in self.parameters():
            parameter.grad = 0.0


class Neuron(Module):
    """activation(Σ weight·input + bias)"""

    def __init__(
        self, inputs: int, activation: str = "tanh", seed: int | Random = 0, name: str = "neuron"
    ) -> None:
        if activation not in SPREADS:
            raise fail(
                ValueError,
                call=f"Neuron({inputs}, activation={activation!r})",
                cause=f"there is no activation {activation!r}",
                fix=f"choose one of {', '.join(SPREADS)}",
            )
        random = seed if isinstance(seed, Random) else Random(seed)
        spread = SPREADS[activation] * math.sqrt(3.0 / inputs)
        self.weights = [
            Value(random.uniform(-spread, spread), f"{name}.weight[{i}]") for i in range(inputs)
        ]
        self.bias = Value(0.0, f"{name}.bias")
        self.activation = activation
        self.name = name

    def __call__(self, inputs: Sequence[Value | float]) -> Value:
        out = weighted_sum(self.weights, inputs, self.bias)
        if self.activation != "linear":
            out.label = f"{self.name}.sum"
            out = out.relu() if self.activation == "relu" else out.tanh()
        out.label = self.name
        return out

    def parameters(self) -> list[Value]:
        return [*self.weights, self.bias]

    def __repr__(self) -> str:
        return f"Neuron({len(self.weights)}, {self.activation!r})"


class Layer(Module):
    """Neurons that look at the same inputs."""

    def __init__(
        self,
        inputs: int,
        outputs: int,
        activation: str = "tanh",
        seed: int | Random = 0,
        name: str = "layer",
    ) -> None:
        random = seed if isinstance(seed, Random) else Random(seed)
        self.neurons = [Neuron(inputs, activation, random, f"{name}[{i}]") for i in range(outputs)]

    def __call__(self, inputs: Sequence[Value | float]) -> list[Value]:
        return [neuron(inputs) for neuron in self.neurons]

    def parameters(self) -> list[Value]:
        return [each for neuron in self.neurons for each in neuron.parameters()]

    def __repr__(self) -> str:
        first = self.neurons[0]
        return f"Layer({len(first.weights)}, {len(self.neurons)}, {first.activation!r})"


class MLP(Module):
    """Layers one after another, the last one linear: ``MLP(2, 16, 16, 1)``.

    The same ``seed`` gives the same weights.
    """

    def __init__(self, *sizes: int, activation: str = "tanh", seed: int | Random = 0) -> None:
        if len(sizes) < 2 or min(sizes) < 1:
            raise fail(
                ValueError,
                call=f"MLP({', '.join(map(str, sizes))})",
                cause="a network needs the number of its inputs and the size of each layer, all "
                "at least 1",
                fix="write MLP(2, 16, 16, 1) for 2 inputs, two layers of 16 and one output",
            )
        random = seed if isinstance(seed, Random) else Random(seed)
        last = len(sizes) - 1
        self.layers = [
            Layer(inputs, outputs, "linear" if i == last else activation, random, f"layer{i}")
            for i, (inputs, outputs) in enumerate(pairwise(sizes), 1)
        ]

    def __call__(self, inputs: Sequence[Value | float]) -> Any:
        """One Value if the last layer has one neuron, a list of them otherwise."""
        outputs = list(inputs)
        for layer in self.layers:
            outputs = layer(outputs)  # type: ignore[assignment]
        return outputs[0] if len(outputs) == 1 else outputs

    def parameters(self) -> list[Value]:
        return [each for layer in self.layers for each in layer.parameters()]

    def __repr__(self) -> str:
        return f"MLP({', '.join(map(repr, self.layers))})"
