"""GELU written out in elementary ops, on one million float32."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bench.measure import Run, Workload

START = np.random.default_rng(0).normal(size=1_000_000).astype(np.float32)
SCALE = math.sqrt(2 / math.pi)


def written_out(x: Any, tanh: Any) -> Any:
    return 0.5 * x * (1 + tanh(SCALE * (x + 0.044715 * x**3)))


def with_whygrad() -> Run:
    import whygrad

    def run() -> None:
        x = whygrad.from_numpy(START).requires_grad_()
        written_out(x, whygrad.tanh).sum().backward()

    return run


def with_torch() -> Run:
    import torch

    def run() -> None:
        x = torch.from_numpy(START).requires_grad_()
        written_out(x, torch.tanh).sum().backward()

    return run


def with_autograd() -> Run:
    import autograd.numpy as anp

    import autograd

    gradient = autograd.grad(lambda x: anp.sum(written_out(x, anp.tanh)))
    return lambda: gradient(START)


WORKLOAD = Workload(
    "gelu written out",
    "0.5·x·(1 + tanh(√(2/π)·(x + 0.044715·x³))) on 1M float32, forward + backward",
    {"whygrad": with_whygrad, "torch": with_torch, "autograd": with_autograd},
    rounds=25,
)
