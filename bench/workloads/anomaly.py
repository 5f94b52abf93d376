"""What anomaly mode adds to a training step of the MLP, in whygrad and in PyTorch."""

from __future__ import annotations

import warnings
from collections.abc import Callable

from bench.measure import Run, Workload
from bench.workloads import mlp


def watched(plain: Callable[[], Run], library: str) -> Callable[[], Run]:
    def prepare() -> Run:
        autograd = __import__(f"{library}.autograd").autograd
        run = plain()
        warnings.simplefilter("ignore")  # PyTorch warns that it will be slow; a process of its own

        def in_anomaly_mode() -> None:
            with autograd.detect_anomaly():
                run()

        return in_anomaly_mode

    return prepare


WORKLOAD = Workload(
    "anomaly mode",
    "the MLP with every value and gradient checked, against the same without",
    {
        "plain": mlp.with_whygrad,
        "anomaly mode": watched(mlp.with_whygrad, "whygrad"),
        "torch": mlp.with_torch,
        "torch anomaly": watched(mlp.with_torch, "torch"),
    },
    rounds=100,
    reference="plain",
    limits={"anomaly mode": 1.3},
)
