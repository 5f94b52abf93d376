"""What the doctor costs while it watches: a course of the MLP, with it and without.

The first steps, which are looked at closely, and the rare sampled ones later are all part of the
course; the examination at the end of it is not.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from itertools import pairwise

from bench.measure import Run, Workload
from bench.workloads import optim

STEPS = 3000


def course(prepare: Callable[[], Run], steps: int, watched: bool) -> Run:
    """Train for some steps, under the doctor's eyes or not."""
    from whygrad.doctor import watch

    def plain() -> list[float]:
        laps = [time.perf_counter()]
        step = prepare()
        for _ in range(steps):
            laps.append(time.perf_counter())
            step()
        laps.append(time.perf_counter())
        return [after - before for before, after in pairwise(laps)]

    def under_observation() -> list[float]:
        begin = time.perf_counter()
        with watch():
            ready = time.perf_counter()
            laps = plain()
            done = time.perf_counter()
        return [ready - begin, *laps, time.perf_counter() - done]

    return under_observation if watched else plain


def peers(of: dict[str, Callable[[], Run]], steps: int) -> dict[str, Callable[[], Run]]:
    return {
        f"{library}{', watched' if watched else ''}": partial(course, prepare, steps, watched)
        for library, prepare in of.items()
        for watched in (False, True)
    }


def workload(
    name: str, what: str, of: dict[str, Callable[[], Run]], steps: int, rounds: int
) -> Workload:
    return Workload(
        name,
        what,
        peers(of, steps),
        operations=steps,
        rounds=rounds,
        by_lap=True,
        references={f"{library}, watched": library for library in of},
        limits={f"{library}, watched": 1.1 for library in of},
    )


WORKLOAD = workload(
    "doctor on the mlp",
    f"{STEPS} steps of the MLP with AdamW, watched by the doctor against not watched",
    {"whygrad": optim.with_whygrad, "torch": optim.with_torch},
    STEPS,
    rounds=3,
)
