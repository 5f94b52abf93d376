"""DataLoader: batches of a dataset, in order, prepared by workers if asked for."""

from __future__ import annotations

import itertools
import multiprocessing
import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from whygrad.data.collate import default_collate, default_convert
from whygrad.data.dataset import IterableDataset
from whygrad.data.fetching import Batches, fetcher
from whygrad.data.samplers import (
    BatchSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    fresh_seed,
)
from whygrad.data.worker_info import get_worker_info
from whygrad.data.workers import Order, Process, Workers
from whygrad.errors import fail
from whygrad.random import Generator

# PyTorch has the other three here, too.
__all__ = ["DataLoader", "default_collate", "default_convert", "get_worker_info"]

_FIXED = ("batch_sampler", "batch_size", "dataset", "drop_last", "persistent_workers", "sampler")


class DataLoader:
    """Iterate over it to get batches; every iteration is one pass over the dataset.

    ``num_workers``
        how many threads prepare batches ahead; 0 prepares each one when it is asked for.
    ``multiprocessing_context``
        ``"fork"``, ``"spawn"`` or ``"forkserver"``: workers are processes instead of threads, for
        datasets that compute in pure Python.
    ``generator``
        where shuffling (and the workers' seeds) come from; each pass draws on, so passes differ.

    The order of batches never depends on the workers, so ``in_order`` has nothing to decide, and
    ``pin_memory`` means nothing without a GPU: both are accepted for PyTorch's sake.
    """

    batch_size: int | None

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Sampler[Any] | Iterable[Any] | None = None,
        batch_sampler: Sampler[list[Any]] | Iterable[list[Any]] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[Any], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], Any] | None = None,
        multiprocessing_context: Any = None,
        generator: Generator | None = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        iterable = isinstance(dataset, IterableDataset)
        _check_workers(num_workers, timeout, prefetch_factor, persistent_workers)
        _check_choices(iterable, batch_size, shuffle, sampler, batch_sampler, drop_last)
        self.dataset = dataset
        self.num_workers = num_workers
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.generator = generator
        self.prefetch_factor = 2 if num_workers and prefetch_factor is None else prefetch_factor
        self.persistent_workers = persistent_workers
        self.pin_memory = pin_memory
        self.pin_memory_device = pin_memory_device
        self.in_order = in_order
        self.multiprocessing_context = _context(multiprocessing_context, num_workers)
        if sampler is None and not iterable:
            sampler = (
                RandomSampler(dataset, generator=generator)
                if shuffle
                else SequentialSampler(dataset)
            )
        if batch_sampler is not None:
            batch_size, drop_last = None, False
        elif batch_size is not None:
            indices = _anything() if sampler is None else sampler
            batch_sampler = BatchSampler(indices, batch_size, drop_last)
        self.sampler = sampler
        self.batch_sampler = batch_sampler
        self.batch_size = batch_size
        self.drop_last = drop_last
        if collate_fn is None:
            collate_fn = default_convert if batch_sampler is None else default_collate
        self.collate_fn = collate_fn
        self._processes: list[Process] = []  # that outlive an iteration
        self._complete = True

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _FIXED and "_complete" in self.__dict__:
            raise _refusal(
                ValueError,
                f"{name} attribute should not be set after {type(self).__name__} is initialized",
                "make a new DataLoader",
            )
        object.__setattr__(self, name, value)

    def __iter__(self) -> Iterator[Any]:
        seed = fresh_seed(self.generator)  # drawn without workers, too: they must not change order
        batches = iter(self._index_batches())
        if not self.num_workers:
            return self._here(batches)
        orders = [self._order(worker, seed) for worker in range(self.num_workers)]
        ahead = self.prefetch_factor or 1
        if self.multiprocessing_context is None:
            return Workers([each.begin for each in orders], batches, ahead, self.timeout, [])
        processes = self._started(orders)
        return Workers(
            [each.begin for each in processes],
            batches,
            ahead,
            self.timeout,
            processes,
            keep_processes=self.persistent_workers,
        )

    def __len__(self) -> int:
        if not isinstance(self.dataset, IterableDataset):
            return len(self._index_batches())  # type: ignore[arg-type]
        length = len(self.dataset)  # type: ignore[arg-type]
        if self.batch_size is None:
            return length
        whole, rest = divmod(length, self.batch_size)
        return whole if self.drop_last or not rest else whole + 1

    def _index_batches(self) -> Iterable[Any]:
        if self.batch_sampler is not None:
            return self.batch_sampler
        return _anything() if self.sampler is None else self.sampler

    def _here(self, batches: Iterator[Any]) -> Iterator[Any]:
        batched = self.batch_sampler is not None
        fetch = fetcher(self.dataset, self.collate_fn, batched, self.drop_last)
        return Batches(fetch, batches)

    def _order(self, worker: int, seed: int) -> Order:
        return Order(
            dataset=self.dataset,
            collate=self.collate_fn,
            batched=self.batch_sampler is not None,
            drop_last=self.drop_last,
            prepare=self.worker_init_fn,
            worker=worker,
            workers=self.num_workers,
            seed=(seed + worker) % 2**63,
        )

    def _started(self, orders: list[Order]) -> list[Process]:
        """New processes, or those of the pass before if they may be kept."""
        kept, self._processes = self._processes, []
        if kept and all(each.is_alive for each in kept):
            self._processes = kept
            return kept
        processes: list[Process] = []
        try:
            for order in orders:
                processes.append(Process(self.multiprocessing_context, order))
        except BaseException:
            _end_all(processes)
            raise
        if self.persistent_workers:
            self._processes = processes
            weakref.finalize(self, _end_all, processes)
        return processes


def _anything() -> Iterator[Any]:
    """The indices for a dataset that has none: it delivers what comes next."""
    return itertools.repeat(None)


def _end_all(processes: list[Process]) -> None:
    for each in processes:
        each.kill()


def _check_workers(
    num_workers: int, timeout: float, prefetch_factor: int | None, persistent_workers: bool
) -> None:
    if num_workers < 0:
        raise _refusal(
            ValueError,
            "num_workers option should be non-negative; use num_workers=0 to disable "
            "multiprocessing.",
            "pass the number of threads (or processes), such as 2",
        )
    if timeout < 0:
        raise _refusal(
            ValueError, "timeout option should be non-negative", "pass seconds, or 0 to wait"
        )
    if num_workers == 0 and prefetch_factor is not None:
        raise _refusal(
            ValueError,
            "prefetch_factor option could only be specified in multiprocessing. let "
            "num_workers > 0 to enable multiprocessing, otherwise set prefetch_factor to None.",
            "leave prefetch_factor out, or pass num_workers",
        )
    if prefetch_factor is not None and prefetch_factor < 0:
        raise _refusal(
            ValueError,
            "prefetch_factor option should be non-negative",
            "pass how many batches each worker prepares ahead, such as 2",
        )
    if persistent_workers and num_workers == 0:
        raise _refusal(
            ValueError,
            "persistent_workers option needs num_workers > 0",
            "leave persistent_workers out, or pass num_workers",
        )


def _check_choices(
    iterable: bool,
    batch_size: int | None,
    shuffle: bool | None,
    sampler: Any,
    batch_sampler: Any,
    drop_last: bool,
) -> None:
    """Raise if two arguments decide the same thing."""
    cause = None
    if iterable:
        asked = {"shuffle": shuffle or None, "sampler": sampler, "batch_sampler": batch_sampler}
        for name, value in asked.items():
            if value is not None:
                cause = (
                    f"DataLoader with IterableDataset: expected unspecified {name} option, but "
                    f"got {name}={value}"
                )
                break
    elif sampler is not None and shuffle:
        cause = "sampler option is mutually exclusive with shuffle"
    if cause is None and batch_sampler is not None:
        if batch_size != 1 or shuffle or sampler is not None or drop_last:
            cause = (
                "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and "
                "drop_last"
            )
    elif cause is None and batch_size is None and drop_last:
        cause = (
            "batch_size=None option disables auto-batching and is mutually exclusive with drop_last"
        )
    if cause is not None:
        raise _refusal(ValueError, cause, "leave one of them out")


def _context(asked: Any, num_workers: int) -> Any:
    if asked is None:
        return None
    if num_workers == 0:
        raise _refusal(
            ValueError,
            "multiprocessing_context can only be used with multi-process loading "
            f"(num_workers > 0), but got num_workers={num_workers}",
            "pass num_workers, or leave multiprocessing_context out",
        )
    if isinstance(asked, str):
        methods = multiprocessing.get_all_start_methods()
        if asked not in methods:
            raise _refusal(
                ValueError,
                "multiprocessing_context option should specify a valid start method in "
                f"{methods}, but got multiprocessing_context={asked!r}",
                "pass one of them, or leave it out for threads",
            )
        return multiprocessing.get_context(asked)
    if not isinstance(asked, multiprocessing.context.BaseContext):
        raise _refusal(
            TypeError,
            "multiprocessing_context option should be a valid context object or a string "
            f"specifying the start method, but got multiprocessing_context={asked!r}",
            "pass 'fork', 'spawn' or 'forkserver', or leave it out for threads",
        )
    return asked


def _refusal(kind: type[Exception], cause: str, fix: str) -> Exception:
    return fail(kind, call="DataLoader(…)", cause=cause, fix=fix)
