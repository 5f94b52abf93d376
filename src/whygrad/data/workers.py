"""Workers that fetch batches ahead of time.

A worker is a thread.  Reading files, decoding and NumPy release Python's lock, so threads go a
long way, start at once and share memory.  For samples made in pure Python each thread can have a
process of its own and only hands indices and batches to and fro.  Either way batches come in the
order of their indices, whoever was faster.
"""

from __future__ import annotations

import contextlib
import copy
import itertools
import pickle
import queue
import random
import signal
import threading
import time
import traceback
import weakref
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from whygrad.data.dataset import Dataset
from whygrad.data.fetching import END, Fetch, fetcher
from whygrad.data.worker_info import WorkerInfo, here
from whygrad.errors import fail
from whygrad.random import manual_seed

__all__ = ["Order", "Process", "Workers"]

_PATIENCE = 5.0  # seconds to wait for workers that were told to stop


class Order(NamedTuple):
    """What a worker needs to know before it starts."""

    dataset: Any
    collate: Callable[[Any], Any]
    batched: bool
    drop_last: bool
    prepare: Callable[[int], Any] | None  # worker_init_fn
    worker: int
    workers: int
    seed: int

    def begin(self) -> Fetch:
        """Called in the worker itself."""
        own = copy.copy(self.dataset) if isinstance(self.dataset, Dataset) else self.dataset
        here.info = WorkerInfo(self.worker, self.workers, self.seed, own)
        if self.prepare is not None:
            self.prepare(self.worker)
        return fetcher(own, self.collate, self.batched, self.drop_last)


class Workers:
    """An iterator over batches that several threads prepare."""

    def __init__(
        self,
        beginnings: list[Callable[[], Fetch]],
        batches: Iterator[Any],
        ahead: int,
        timeout: float,
        processes: list[Process],
        keep_processes: bool = False,
    ) -> None:
        self.batches = batches
        self.timeout = timeout
        self.keep_processes = keep_processes
        self.ahead = ahead * len(beginnings)
        self.outbox: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.inboxes: list[queue.SimpleQueue[Any]] = [queue.SimpleQueue() for _ in beginnings]
        self.active = list(range(len(beginnings)))  # workers that may still have samples
        self.turns = itertools.cycle(self.active.copy())
        self.assigned: dict[int, int] = {}  # number of a batch → its worker
        self.arrived: dict[int, tuple[Any, BaseException | None]] = {}
        self.sent = self.received = 0
        stop = threading.Event()
        threads = [
            threading.Thread(
                target=_work,
                args=(begin, inbox, self.outbox, stop),
                name=f"whygrad DataLoader worker {number}",
                daemon=True,
            )
            for number, (begin, inbox) in enumerate(zip(beginnings, self.inboxes, strict=True))
        ]
        # not a method: the finalizer must not keep this object alive
        self.close = weakref.finalize(self, _close, stop, self.inboxes, threads, processes)
        for thread in threads:
            thread.start()

    def __iter__(self) -> Workers:
        return self

    def __next__(self) -> Any:
        if not self.close.alive:
            raise StopIteration
        try:
            delivery = self._next_delivery()
        except BaseException:
            self.close()
            raise
        if delivery is None:
            self._finish()
            raise StopIteration
        batch, error = delivery
        if error is None:
            return batch
        try:
            raise error  # of this batch; the next one may be better
        finally:
            del batch, delivery, error  # a traceback that held its own exception would stay

    def _next_delivery(self) -> tuple[Any, BaseException | None] | None:
        """A batch, or why there is none in its place; None after the last one."""
        while True:
            self._send_ahead()
            if self.received == self.sent:
                return None
            batch, error = self._receive()
            if error is not None and (
                isinstance(error, _WorkerDied) or not isinstance(error, Exception)
            ):
                raise error
            if batch is not END:
                return batch, error

    def _send_ahead(self) -> None:
        while self.sent - self.received < self.ahead and self.active:
            try:
                indices = next(self.batches)
            except StopIteration:
                self.active = []
                return
            # in turn, whoever is left: so a stream's order does not depend on who ended when
            worker = next(each for each in self.turns if each in self.active)
            self.assigned[self.sent] = worker
            self.inboxes[worker].put((self.sent, indices))
            self.sent += 1

    def _receive(self) -> tuple[Any, BaseException | None]:
        while self.received not in self.arrived:
            try:
                number, batch, error = self.outbox.get(timeout=self.timeout or None)
            except queue.Empty:
                raise _timed_out(self.timeout) from None
            self.arrived[number] = batch, error
        batch, error = self.arrived.pop(self.received)
        worker = self.assigned.pop(self.received)
        self.received += 1
        if batch is END and worker in self.active:
            self.active.remove(worker)
        return batch, error

    def _finish(self) -> None:
        """Every batch was delivered, so the workers are idle and processes may live on."""
        detached = self.close.detach()
        if detached is not None:
            stop, inboxes, threads, processes = detached[2]
            _close(stop, inboxes, threads, [])
            if not self.keep_processes:
                for process in processes:
                    process.finish()


def _work(
    begin: Callable[[], Fetch],
    inbox: queue.SimpleQueue[Any],
    outbox: queue.SimpleQueue[Any],
    stop: threading.Event,
) -> None:
    fetch: Fetch | None = None
    while (task := inbox.get()) is not None and not stop.is_set():
        number, indices = task
        try:
            fetch = begin() if fetch is None else fetch
            outbox.put((number, fetch(indices), None))
        except BaseException as error:  # it belongs to whoever waits for the batch
            outbox.put((number, None, error))


def _close(
    stop: threading.Event,
    inboxes: list[queue.SimpleQueue[Any]],
    threads: list[threading.Thread],
    processes: list[Process],
) -> None:
    """End it all, in the middle of whatever it is doing."""
    stop.set()
    for inbox in inboxes:
        inbox.put(None)
    for process in processes:
        process.kill()
    deadline = time.monotonic() + _PATIENCE
    for thread in threads:
        # the garbage collector may have called this from one of them
        if thread is not threading.current_thread() and thread.ident is not None:
            thread.join(max(0.0, deadline - time.monotonic()))


class Process:
    """A process that fetches for one thread."""

    def __init__(self, context: Any, order: Order) -> None:
        self.worker = order.worker
        self.connection, theirs = context.Pipe()
        self.process = context.Process(
            target=_serve, args=(theirs, self.connection, order), daemon=True
        )
        try:
            self.process.start()
        except (AttributeError, TypeError, pickle.PicklingError) as error:
            raise _cannot_be_sent(order, error) from error
        theirs.close()

    def begin(self) -> Fetch:
        """Start over: a dataset that is iterated begins anew."""
        self._ask("begin", None)
        return lambda indices: self._ask("fetch", indices)

    def finish(self) -> None:
        """When it is idle: it may clean up after itself."""
        with contextlib.suppress(OSError):
            self.connection.send(("end", None))
        self.process.join(_PATIENCE)
        self.kill()

    def kill(self) -> None:
        """At once: it may be in the middle of a batch that nobody wants any more."""
        self.process.terminate()
        self.process.join(_PATIENCE)

    @property
    def is_alive(self) -> bool:
        return bool(self.process.is_alive())

    def _ask(self, what: str, indices: Any) -> Any:
        try:
            self.connection.send((what, indices))
            batch, error, story = self.connection.recv()
        except (EOFError, OSError) as broken:
            raise self._died() from broken
        if error is not None:
            error.__cause__ = _InWorker(story)
            raise error
        return batch

    def _died(self) -> _WorkerDied:
        self.process.join(_PATIENCE)
        return fail(
            _WorkerDied,
            call=f"worker {self.worker} of a DataLoader",
            cause=f"DataLoader worker (pid(s) {self.process.pid}) exited unexpectedly, with code "
            f"{self.process.exitcode}",
            fix="a negative code is the signal that killed it (-9: often out of memory); run with "
            "num_workers=0 to see what the dataset does",
        )


def _serve(connection: Any, parents: Any, order: Order) -> None:
    """The life of a worker process."""
    parents.close()  # so that this end notices when the parent is gone
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the main program's to handle
    _seed_everything(order.seed)
    fetch: Fetch | None = None
    while (request := _received(connection))[0] != "end":
        try:
            if request[0] == "begin" or fetch is None:
                fetch, batch = order.begin(), None
            else:
                batch = fetch(request[1])
            reply: tuple[Any, Exception | None, str] = (batch, None, "")
        except Exception as error:
            story = traceback.format_exc()
            reply = (None, _portable(error), story)
        connection.send(reply)


def _received(connection: Any) -> tuple[str, Any]:
    try:
        request: tuple[str, Any] = connection.recv()
    except EOFError:
        return "end", None
    return request


def _seed_everything(seed: int) -> None:
    import numpy.random

    manual_seed(seed)
    random.seed(seed)
    numpy.random.seed(seed % 2**32)


def _portable(error: Exception) -> Exception:
    """The error, if it survives the way to the other process."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    error.__cause__ = error.__context__ = None
    return error


class _WorkerDied(RuntimeError):
    """Nothing more will come from this process."""


class _InWorker(Exception):
    """The traceback inside a worker process, as text."""

    def __str__(self) -> str:
        return f"\n{self.args[0]}"


def _timed_out(seconds: float) -> RuntimeError:
    return fail(
        RuntimeError,
        call=f"the next batch of a DataLoader with timeout={seconds:g}",
        cause=f"DataLoader timed out after {seconds:g} seconds",
        fix="give the workers more time, or find out with num_workers=0 what the dataset waits for",
    )


def _cannot_be_sent(order: Order, error: Exception) -> Exception:
    return fail(
        type(error) if isinstance(error, (AttributeError, TypeError)) else RuntimeError,
        call=f"starting a process for {type(order.dataset).__name__}",
        cause=f"the dataset, collate_fn or worker_init_fn cannot be sent to a process: {error}",
        fix="define them at the top level of a module, or use threads: leave "
        "multiprocessing_context out",
    )
