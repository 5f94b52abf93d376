"""Forward and backward of an MLP 784-256-128-10 on a batch of 64, functional style."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from bench.measure import Run, Workload

SIZES = (784, 256, 128, 10)
BATCH = 64


def data() -> tuple[Any, Any, list[Any]]:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(BATCH, SIZES[0])).astype(np.float32)
    target = rng.integers(0, SIZES[-1], BATCH)
    parameters = []
    for fan_in, fan_out in pairwise(SIZES):
        weight = rng.normal(size=(fan_out, fan_in)) / np.sqrt(fan_in)
        parameters += [weight.astype(np.float32), np.zeros(fan_out, np.float32)]
    return x, target, parameters


def _shaped_like_torch(library: Any, functional: Any) -> Run:
    x, target, parameters = data()
    inputs, labels = library.from_numpy(x), library.from_numpy(target)
    w1, b1, w2, b2, w3, b3 = leaves = [
        library.from_numpy(each).requires_grad_() for each in parameters
    ]

    def run() -> None:
        hidden = functional.relu(functional.linear(inputs, w1, b1))
        hidden = functional.relu(functional.linear(hidden, w2, b2))
        loss = functional.cross_entropy(functional.linear(hidden, w3, b3), labels)
        loss.backward()
        for leaf in leaves:
            leaf.grad = None

    return run


def with_whygrad() -> Run:
    import whygrad
    import whygrad.nn.functional as functional

    return _shaped_like_torch(whygrad, functional)


def with_torch() -> Run:
    import torch
    import torch.nn.functional as functional

    return _shaped_like_torch(torch, functional)


def with_autograd() -> Run:
    import autograd.numpy as anp

    import autograd

    x, target, parameters = data()
    rows = np.arange(BATCH)

    def loss(leaves: Any) -> Any:
        w1, b1, w2, b2, w3, b3 = leaves
        hidden = anp.maximum(anp.dot(x, w1.T) + b1, 0)
        hidden = anp.maximum(anp.dot(hidden, w2.T) + b2, 0)
        logits = anp.dot(hidden, w3.T) + b3
        shifted = logits - anp.max(logits, axis=1, keepdims=True)
        log_p = shifted - anp.log(anp.sum(anp.exp(shifted), axis=1, keepdims=True))
        return -anp.mean(log_p[rows, target])

    gradient = autograd.grad(loss)
    return lambda: gradient(parameters)


def by_hand() -> Run:
    """NumPy without any engine: the arithmetic alone."""
    x, target, (w1, b1, w2, b2, w3, b3) = data()
    rows = np.arange(BATCH)

    def run() -> None:
        a1 = x @ w1.T + b1
        h1 = np.maximum(a1, 0)
        a2 = h1 @ w2.T + b2
        h2 = np.maximum(a2, 0)
        logits = h2 @ w3.T + b3
        p = np.exp(logits - logits.max(1, keepdims=True))
        p /= p.sum(1, keepdims=True)
        p[rows, target] -= 1
        d3 = p / np.float32(BATCH)
        d2 = (d3 @ w3) * (a2 > 0)
        d1 = (d2 @ w2) * (a1 > 0)
        for incoming, below in ((d3, h2), (d2, h1), (d1, x)):
            incoming.T @ below, incoming.sum(0)

    return run


WORKLOAD = Workload(
    "mlp",
    "MLP 784-256-128-10, batch 64, cross-entropy, forward + backward",
    {
        "whygrad": with_whygrad,
        "torch": with_torch,
        "autograd": with_autograd,
        "numpy by hand": by_hand,
    },
    rounds=100,
)
