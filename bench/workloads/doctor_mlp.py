"""What the doctor costs while it watches: a course of the MLP, with it and without.

The first steps, which are looked at closely, and the rare sampled ones later are all part of the
course; the examination at the end of it is not.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from bench.measure import Run, Workload
from bench.workloads import optim

STEPS = 1000


def course(prepare: Callable[[], Run], steps: int, watched: bool) -> Run:
    """Train for some steps, under the doctor's eyes or not."""
    from whygrad.doctor import watch

    def plain() -> None:
        step = prepare()
        for _ in range(steps):
            step()

    def under_observation() -> None:
        with watch():
            plain()

    return under_observation if watched else plain


def peers(of: dict[str, Callable[[], Run]], steps: int) -> dict[str, Callable[[], Run]]:
    return {
        f"{library}{', watched' if watched else ''}": partial(course, prepare, steps, watched)
        for library, prepare in of.items()
        for watched in (False, True)
    }


def workload(name: str, what: str, of: dict[str, Callable[[], Run]], steps: int) -> Workload:
    return Workload(
        name,
        what,
        peers(of, steps),
        operations=steps,
        rounds=2,
        references={f"{library}, watched": library for library in of},
        limits={f"{library}, watched": 1.1 for library in of},
    )


WORKLOAD = workload(
    "doctor on the mlp",
    f"{STEPS} steps of the MLP with AdamW, watched by the doctor against not watched",
    {"whygrad": optim.with_whygrad, "torch": optim.with_torch},
    STEPS,
)
