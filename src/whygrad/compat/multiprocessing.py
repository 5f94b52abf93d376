"""Python's ``multiprocessing`` with PyTorch's additions.

Tensors that go from process to process are copied: there is no memory that several processes share.
"""

from __future__ import annotations

import multiprocessing
from multiprocessing import *  # noqa: F403  (whatever this version of Python has)
from typing import Any

__all__ = sorted(
    {
        *multiprocessing.__all__,
        "ProcessExitedException",
        "ProcessRaisedException",
        "get_all_sharing_strategies",
        "get_sharing_strategy",
        "set_sharing_strategy",
        "spawn",
        "start_processes",
    }
)

_strategy = "file_descriptor"


class ProcessRaisedException(Exception):
    """A process that :func:`spawn` started ended with an exception."""


class ProcessExitedException(Exception):
    """A process that :func:`spawn` started ended with an error code."""


def get_all_sharing_strategies() -> set[str]:
    """The names PyTorch knows."""
    return {"file_descriptor", "file_system"}


def get_sharing_strategy() -> str:
    """What was set."""
    return _strategy


def set_sharing_strategy(new_strategy: str) -> None:
    """Kept, and without effect: tensors are copied."""
    global _strategy
    if new_strategy not in get_all_sharing_strategies():
        raise AssertionError(f"{new_strategy!r} is none of {sorted(get_all_sharing_strategies())}")
    _strategy = new_strategy


def _call(function: Any, rank: int, arguments: tuple[Any, ...], failures: Any) -> None:
    import traceback

    try:
        function(rank, *arguments)
    except Exception:
        failures.put((rank, traceback.format_exc()))
        raise SystemExit(1) from None


class ProcessContext:
    """The processes that :func:`spawn` started with ``join=False``."""

    def __init__(self, processes: list[Any], failures: Any) -> None:
        self.processes = processes
        self._failures = failures

    def pids(self) -> list[int | None]:
        """Their numbers."""
        return [each.pid for each in self.processes]

    def join(self, timeout: float | None = None) -> bool:
        """Wait for all of them; raises if one failed, after ending the others."""
        for process in self.processes:
            process.join(timeout)
            if process.exitcode not in (0, None):
                self._end(process)
        return all(process.exitcode == 0 for process in self.processes)

    def _end(self, failed: Any) -> None:
        for process in self.processes:
            if process.is_alive():
                process.terminate()
            process.join()
        rank = self.processes.index(failed)
        if not self._failures.empty():
            rank, trace = self._failures.get()
            raise ProcessRaisedException(f"process {rank} ended with this exception:\n\n{trace}")
        raise ProcessExitedException(f"process {rank} ended with exit code {failed.exitcode}")


def start_processes(
    fn: Any,
    args: tuple[Any, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """Run ``fn(rank, *args)`` in ``nprocs`` processes, with ranks from 0 on."""
    context: Any = multiprocessing.get_context(start_method)
    failures = context.SimpleQueue()
    processes = [
        context.Process(target=_call, args=(fn, rank, args, failures), daemon=daemon)
        for rank in range(nprocs)
    ]
    for process in processes:
        process.start()
    started = ProcessContext(processes, failures)
    if not join:
        return started
    started.join()
    return None


def spawn(
    fn: Any,
    args: tuple[Any, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """Run ``fn(rank, *args)`` in ``nprocs`` fresh processes."""
    return start_processes(fn, args, nprocs, join, daemon, start_method)
