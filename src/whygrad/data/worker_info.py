"""Who am I?  What a dataset can ask inside a worker."""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

from whygrad.random import Generator

__all__ = ["WorkerInfo", "get_worker_info", "here", "own_generator"]


class WorkerInfo(NamedTuple):
    """A worker of a DataLoader."""

    id: int
    num_workers: int
    seed: int
    dataset: Any  # the worker's own copy


class _Here(threading.local):
    info: WorkerInfo | None = None
    generator: tuple[WorkerInfo, Generator] | None = None


here = _Here()


def own_generator() -> Generator | None:
    """A stream that belongs to the worker's seed; None in the main program."""
    info = here.info
    if info is None:
        return None
    if here.generator is None or here.generator[0] is not info:
        here.generator = info, Generator().manual_seed(info.seed)
    return here.generator[1]


def get_worker_info() -> WorkerInfo | None:
    """The worker this code runs in; None in the main program."""
    return here.info
