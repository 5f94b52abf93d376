"""Timing several libraries fairly on a noisy machine.

Every round times each peer once, one after the other, and the best round counts: what disturbs
the machine for a moment disturbs one round of everybody instead of one library's whole turn.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass, field

Run = Callable[[], object]


@dataclass
class Workload:
    """One thing to time; ``peers`` prepare it per library and return what to call.

    ``operations`` divides the time, for "per op" figures.
    """

    name: str
    what: str
    peers: dict[str, Callable[[], Run]]
    operations: int = 1
    rounds: int = 30
    reference: str = "torch"


@dataclass
class Result:
    """Seconds per operation by peer, and the ratio to the reference."""

    name: str
    what: str
    reference: str
    seconds: dict[str, float] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)

    def ratio(self, peer: str) -> float | None:
        reference = self.seconds.get(self.reference)
        return self.seconds[peer] / reference if reference else None


def measure(workload: Workload) -> Result:
    """Time every installed peer."""
    result = Result(workload.name, workload.what, workload.reference)
    runs: dict[str, Run] = {}
    for peer, prepare in workload.peers.items():
        try:
            runs[peer] = prepare()
        except ModuleNotFoundError:
            result.missing.append(peer)
    for run in runs.values():  # warm caches, threads and just-in-time compilers
        run()
        run()
    best = dict.fromkeys(runs, float("inf"))
    for _ in range(workload.rounds):
        for peer, run in runs.items():
            gc.collect()  # nobody pays for another's garbage
            start = time.perf_counter()
            run()
            best[peer] = min(best[peer], time.perf_counter() - start)
    result.seconds = {peer: each / workload.operations for peer, each in best.items()}
    return result
