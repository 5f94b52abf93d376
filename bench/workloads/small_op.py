"""``y = y*0.9 + x`` on 4×4 float32, repeated: what one small op costs, forward and backward."""

from __future__ import annotations

import numpy as np

from bench.measure import Run, Workload

REPEATS = 500
START = np.linspace(-1, 1, 16, dtype=np.float32).reshape(4, 4)


def with_whygrad() -> Run:
    import whygrad

    def run() -> None:
        x = whygrad.tensor(START, requires_grad=True)
        y = x
        for _ in range(REPEATS):
            y = y * 0.9 + x
        y.sum().backward()

    return run


def with_torch() -> Run:
    import torch

    def run() -> None:
        x = torch.tensor(START, requires_grad=True)
        y = x
        for _ in range(REPEATS):
            y = y * 0.9 + x
        y.sum().backward()

    return run


def with_autograd() -> Run:
    import autograd.numpy as anp

    import autograd

    def loss(x):  # type: ignore[no-untyped-def]
        y = x
        for _ in range(REPEATS):
            y = y * 0.9 + x
        return anp.sum(y)

    gradient = autograd.grad(loss)
    return lambda: gradient(START)


def with_mygrad() -> Run:
    import mygrad

    def run() -> None:
        x = mygrad.tensor(START)
        y = x
        for _ in range(REPEATS):
            y = y * 0.9 + x
        y.sum().backward()

    return run


WORKLOAD = Workload(
    "small op",
    "y = y*0.9 + x on 4×4 float32, forward + backward, per op",
    {
        "whygrad": with_whygrad,
        "torch": with_torch,
        "autograd": with_autograd,
        "mygrad": with_mygrad,
    },
    operations=2 * REPEATS,
)
