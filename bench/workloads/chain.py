"""A chain of a million ops against one of ten thousand: cost per op must not grow."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bench.measure import Run, Workload

LENGTHS = {"10 thousand ops": 10_000, "a million ops": 1_000_000}
PER_ROUND = 1_000_000


def chain(length: int) -> Callable[[], Run]:
    def prepare() -> Run:
        import whygrad

        def run() -> None:
            for _ in range(PER_ROUND // length):
                x = whygrad.tensor(np.ones((4, 4), np.float32), requires_grad=True)
                y = x
                for _ in range(length):
                    y = y * 0.999
                y.sum().backward()
                del y

        return run

    return prepare


WORKLOAD = Workload(
    "long chain",
    "y = y*0.999 repeated, forward + backward + release, per op",
    {name: chain(length) for name, length in LENGTHS.items()},
    operations=PER_ROUND,
    rounds=1,
    reference="10 thousand ops",
)
