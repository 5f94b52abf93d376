"""Who am I?  What a dataset can ask inside a worker."""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

__all__ = ["WorkerInfo", "get_worker_info", "here"]


class WorkerInfo(NamedTuple):
    """A worker of a DataLoader."""

    id: int
    num_workers: int
    seed: int
    dataset: Any  # the worker's own copy


class _Here(threading.local):
    info: WorkerInfo | None = None


here = _Here()


def get_worker_info() -> WorkerInfo | None:
    """The worker this code runs in; None in the main program."""
    return here.info
