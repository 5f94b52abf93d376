"""Sharing one large loop among the processor's cores.

NumPy's matrix products use all cores, everything else one.  Loops and NumPy's functions let go of
Python's lock, so ordinary threads can share their work: the caller takes one part itself.  Parts
write to places of their own; what has to be added up is added in an order that does not depend on
the number of threads.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

__all__ = ["BLOCK", "blocks", "count", "limit", "shared"]

SHARED = 2**18  # elements: from here on a second thread saves more than it costs to wake it
BLOCK = 256  # rows that are added up one after the other; the sums of blocks are added afterwards


def count() -> int:
    """How many threads to use: what was set, else the cores that this process may use."""
    return _first_count() if _wanted is None else _wanted


_wanted: int | None = None


def limit(number: int) -> None:
    """Use this many threads from now on, here and in NumPy's matrix products."""
    global _wanted
    from whygrad.fast.blas import set_threads

    _wanted = number
    _helpers.cache_clear()  # threads that still work for somebody finish their part
    set_threads(number)


@lru_cache(1)
def _first_count() -> int:
    """The cores, or fewer if OpenMP is told so."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    wanted = os.environ.get("OMP_NUM_THREADS", "")
    return max(min(cores or 1, int(wanted) if wanted.isdigit() else 64), 1)


@lru_cache(1)
def _helpers() -> ThreadPoolExecutor:
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(count() - 1, "whygrad-fast")


def shared(
    loop: Callable[..., None],
    size: int,
    *arrays: Any,
    sums: tuple[Any, ...] = (),
    rest: tuple[Any, ...] = (),
) -> None:
    """Run ``loop(*arrays, *sums, *rest)``, by several threads if ``size`` is worth it.

    The arrays are cut in rows, at multiples of BLOCK if there are ``sums``, which have one row per
    block.  Every part gets the ``rest`` whole.
    """
    parts = count() if size >= SHARED else 1
    step = BLOCK if sums else 1
    units = -(-len(arrays[0]) // step)
    if parts == 1 or units < parts:
        loop(*arrays, *sums, *rest)
        return
    cuts = [units * part // parts for part in range(parts + 1)]
    pieces = [
        [each[a * step : b * step] for each in arrays] + [each[a:b] for each in sums]
        for a, b in pairwise(cuts)
    ]
    waiting = [_helpers().submit(loop, *piece, *rest) for piece in pieces[1:]]
    loop(*pieces[0], *rest)
    for each in waiting:
        each.result()


def blocks(rows: int) -> int:
    """How many blocks of rows are added up by themselves."""
    return -(-rows // BLOCK)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_helpers.cache_clear)  # threads do not survive a fork
