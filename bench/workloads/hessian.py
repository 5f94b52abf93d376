"""All second derivatives of a function of 200 numbers: tanh, dot, square."""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.measure import Run, Workload

SIZE = 200
POINT, WEIGHTS = np.random.default_rng(0).normal(size=(2, SIZE))


def _of(library: Any, transforms: Any) -> Run:
    x, a = library.from_numpy(POINT), library.from_numpy(WEIGHTS)
    hessian = transforms.hessian(lambda x: (x.tanh() @ a) ** 2)
    return lambda: hessian(x)


def with_whygrad() -> Run:
    import whygrad
    import whygrad.func

    return _of(whygrad, whygrad.func)


def with_torch() -> Run:
    import torch
    import torch.func

    return _of(torch, torch.func)


def with_autograd() -> Run:
    import autograd.numpy as anp

    import autograd

    hessian = autograd.hessian(lambda x: anp.dot(anp.tanh(x), WEIGHTS) ** 2)
    return lambda: hessian(POINT)


WORKLOAD = Workload(
    "hessian",
    f"func.hessian of (tanh(x) · a)² with {SIZE} numbers in float64, all {SIZE**2:,} entries",
    {"whygrad": with_whygrad, "torch": with_torch, "autograd": with_autograd},
    rounds=50,
    limits={"whygrad": 1.5},
)
