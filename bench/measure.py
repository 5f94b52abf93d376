"""Timing several libraries fairly on a noisy machine.

Every library runs in a process of its own: in one process the idle worker threads of one spin for
a while and slow the other down (both sides measured up to 1.8× slower).  The libraries take turns
within the same minute, several times, and each one's best round counts, so what disturbs the
machine for a moment disturbs one turn of everybody.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field

Run = Callable[[], object]
TURNS = 3


@dataclass
class Workload:
    """One thing to time; ``peers`` prepare it per library and return what to call.

    ``operations`` divides the time, for "per op" figures.  ``bytes`` count memory by peer.
    ``limits`` are the ratios to the reference that a peer must not exceed, of time and of memory;
    ``references`` name another reference for some peers.  ``by_lap``: a run is long and returns the
    seconds of each of its laps, and the best of every lap counts, because no quiet minute is long
    enough for all of them.
    """

    name: str
    what: str
    peers: dict[str, Callable[[], Run]]
    operations: int = 1
    rounds: int = 30
    reference: str = "torch"
    references: dict[str, str] = field(default_factory=dict)
    by_lap: bool = False
    limits: dict[str, float] = field(default_factory=dict)
    bytes: dict[str, Callable[[], int]] = field(default_factory=dict)
    bytes_limits: dict[str, float] = field(default_factory=dict)


@dataclass
class Result:
    """Seconds per operation by peer, and the ratio to the reference."""

    name: str
    what: str
    reference: str
    seconds: dict[str, float] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    references: dict[str, str] = field(default_factory=dict)
    limits: dict[str, float] = field(default_factory=dict)
    bytes: dict[str, int] = field(default_factory=dict)
    bytes_limits: dict[str, float] = field(default_factory=dict)

    def ratio(self, peer: str) -> float | None:
        reference = self.seconds.get(self.reference_of(peer))
        return self.seconds[peer] / reference if reference else None

    def reference_of(self, peer: str) -> str:
        return self.references.get(peer, self.reference)


def best_laps(workload: Workload, peer: str) -> list[float] | None:
    """Seconds of each lap of one peer, in its best round; None if it is not installed."""
    try:
        run = workload.peers[peer]()
    except ModuleNotFoundError:
        return None
    run()  # warm caches, threads and just-in-time compilers
    if workload.by_lap:
        courses: list[list[float]] = [run() for _ in range(workload.rounds)]  # type: ignore[misc]
        return _best(courses)
    best = float("inf")
    for _ in range(workload.rounds):
        start = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - start)
    return [best]


def _best(courses: list[list[float]]) -> list[float]:
    return list(map(min, zip(*courses, strict=True)))


def measure(module: str, workload: Workload) -> Result:
    """Time every installed peer, each in its own process, taking turns."""
    result = Result(
        workload.name,
        workload.what,
        workload.reference,
        references=workload.references,
        limits=workload.limits,
        bytes={peer: count() for peer, count in workload.bytes.items()},
        bytes_limits=workload.bytes_limits,
    )
    laps: dict[str, list[float]] = {}
    for _ in range(TURNS):
        for peer in workload.peers:
            done = subprocess.run(
                [sys.executable, "-m", "bench", "--one", module, peer],
                capture_output=True,
                text=True,
                check=True,
            )
            found = json.loads(done.stdout.splitlines()[-1])
            if found is None:
                if peer not in result.missing:
                    result.missing.append(peer)
                continue
            laps[peer] = _best([found, laps.get(peer, found)])
    result.seconds = {peer: sum(best) / workload.operations for peer, best in laps.items()}
    return result
