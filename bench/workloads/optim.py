"""A whole training step: an MLP 784-256-128-10 on a batch of 64, with AdamW."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from bench.measure import Run, Workload
from bench.workloads.mlp import SIZES, data

RATE, BETAS, EPS, DECAY = 1e-3, (0.9, 0.999), 1e-8, 1e-2


def _shaped_like_torch(library: Any, **options: Any) -> Run:
    x, target, parameters = data()
    inputs, labels = library.from_numpy(x), library.from_numpy(target)
    nn = library.nn
    layers = [nn.Linear(*sizes) for sizes in pairwise(SIZES)]
    model = nn.Sequential(layers[0], nn.ReLU(), layers[1], nn.ReLU(), layers[2])
    with library.no_grad():
        for own, given in zip(model.parameters(), parameters):
            own.copy_(library.from_numpy(given))
    measure_loss = nn.CrossEntropyLoss()
    optimizer = library.optim.AdamW(model.parameters(), RATE, BETAS, EPS, DECAY, **options)

    def run() -> None:
        optimizer.zero_grad()
        measure_loss(model(inputs), labels).backward()
        optimizer.step()

    return run


def with_whygrad() -> Run:
    import whygrad

    return _shaped_like_torch(whygrad)


def with_torch() -> Run:
    import torch

    return _shaped_like_torch(torch)


def with_torch_fused() -> Run:
    import torch

    return _shaped_like_torch(torch, fused=True)


def by_hand() -> Run:
    """NumPy without any engine: the arithmetic alone."""
    x, target, parameters = data()
    w1, b1, w2, b2, w3, b3 = parameters
    rows = np.arange(len(x))
    averages = [np.zeros_like(each) for each in parameters]
    squares = [np.zeros_like(each) for each in parameters]
    steps = 0

    def run() -> None:
        nonlocal steps
        steps += 1
        a1 = x @ w1.T + b1
        h1 = np.maximum(a1, 0)
        a2 = h1 @ w2.T + b2
        h2 = np.maximum(a2, 0)
        logits = h2 @ w3.T + b3
        p = np.exp(logits - logits.max(1, keepdims=True))
        p /= p.sum(1, keepdims=True)
        p[rows, target] -= 1
        d3 = p / np.float32(len(x))
        d2 = (d3 @ w3) * (a2 > 0)
        d1 = (d2 @ w2) * (a1 > 0)
        pairs = ((d1, x), (d2, h1), (d3, h2))
        gradients = [each for d, below in pairs for each in (d.T @ below, d.sum(0))]
        for each, gradient, m, v in zip(parameters, gradients, averages, squares):
            each *= 1 - RATE * DECAY
            m += (gradient - m) * (1 - BETAS[0])
            v *= BETAS[1]
            v += gradient * gradient * (1 - BETAS[1])
            spread = np.sqrt(v / (1 - BETAS[1] ** steps)) + EPS
            each -= RATE / (1 - BETAS[0] ** steps) * m / spread

    return run


WORKLOAD = Workload(
    "optim",
    "MLP 784-256-128-10, batch 64, a whole step: forward, backward, AdamW",
    {
        "whygrad": with_whygrad,
        "torch": with_torch,
        "torch, fused": with_torch_fused,
        "numpy by hand": by_hand,
    },
    rounds=150,
    limits={"whygrad": 0.9},
)
