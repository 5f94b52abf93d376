"""A training step of MLP(2, 16, 16, 1) on 20 samples in which every number is a Value.

All start from the same weights.  The best step counts, so none in which the garbage collector
searched the reference cycles that micrograd's graphs leave behind; a training loop pays for those.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from bench.measure import Run, Workload

SIZES = (2, 16, 16, 1)
SAMPLES = 20


def _train(model: Any, forward: Callable[[Any], Any]) -> Run:
    rng = random.Random(0)
    points = [(rng.uniform(-1, 1), rng.uniform(-1, 1)) for _ in range(SAMPLES)]
    targets = [1.0 if x * y > 0 else -1.0 for x, y in points]
    parameters = model.parameters()
    for parameter in parameters:
        parameter.data = rng.uniform(-0.5, 0.5)

    def run() -> None:
        loss = sum((forward(point) - target) ** 2 for point, target in zip(points, targets))
        model.zero_grad()
        loss.backward()
        for parameter in parameters:
            parameter.data -= 1e-4 * parameter.grad

    return run


def with_whygrad() -> Run:
    from whygrad.scalar.nn import MLP

    model = MLP(*SIZES, activation="relu")
    return _train(model, model)


def one_op_at_a_time() -> Run:
    """The same network with ``+`` and ``*``, as micrograd computes it."""
    from whygrad.scalar.nn import MLP

    model = MLP(*SIZES, activation="relu")

    def forward(values: Any) -> Any:
        for layer in model.layers:
            sums = []
            for neuron in layer.neurons:
                total = neuron.bias
                for weight, value in zip(neuron.weights, values):
                    total = total + weight * value
                sums.append(total.relu() if neuron.activation == "relu" else total)
            values = sums
        return values[0]

    return _train(model, forward)


def with_micrograd() -> Run:
    from micrograd.nn import MLP

    model = MLP(SIZES[0], list(SIZES[1:]))
    return _train(model, model)


WORKLOAD = Workload(
    "scalar",
    f"a training step of MLP{SIZES} on {SAMPLES} samples, every number a Value",
    {
        "whygrad": with_whygrad,
        "whygrad, + and *": one_op_at_a_time,
        "micrograd": with_micrograd,
    },
    rounds=40,
    reference="micrograd",
    limits={"whygrad": 0.5},
)
