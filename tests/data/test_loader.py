"""DataLoader: the order of batches, workers and their end, errors that name the sample."""

from __future__ import annotations

import gc
import os
import re
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from itertools import chain
from typing import Any

import numpy as np
import pytest
import torch
import torch.utils.data

import whygrad
from tests.interrupts import command, interrupt
from whygrad.data import DataLoader, Dataset, IterableDataset, get_worker_info

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:This DataLoader will create 3 worker processes"),
]

# how the samples may be fetched: it must never change which batches come, nor their order
CREWS: dict[str, dict[str, Any]] = {
    "no workers": {},
    "1 thread": {"num_workers": 1},
    "3 threads": {"num_workers": 3, "prefetch_factor": 1},
    "2 processes": {"num_workers": 2, "multiprocessing_context": "fork"},
}
WITH_WORKERS = {name: crew for name, crew in CREWS.items() if crew}


class Squares(Dataset[int]):
    """Sample i is i², and may be slow, broken, or deadly."""

    def __init__(self, n: int, bad: int = -1, what: Callable[[], Any] | None = None) -> None:
        self.n, self.bad, self.what = n, bad, what

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, index: int) -> int:
        if index == self.bad and self.what is not None:
            self.what()
        return index * index


class Uneven(Squares):
    """The first samples take the longest."""

    def __getitem__(self, index: int) -> int:
        time.sleep(0.02 if index < 4 else 0.0)
        return super().__getitem__(index)


class Stream(IterableDataset[int]):
    """0 … n − 1, shared out among the workers."""

    def __init__(self, n: int, share: bool = True) -> None:
        self.n, self.share = n, share

    def __iter__(self) -> Any:
        info = get_worker_info()
        if info is None or not self.share:
            return iter(range(self.n))
        return iter(range(info.id, self.n, info.num_workers))


def _raise(error: BaseException) -> Callable[[], Any]:
    def broken() -> None:
        raise error

    return broken


def _batches(loader: Any) -> list[Any]:
    return [batch.tolist() for batch in loader]


def _workers_left() -> list[Any]:
    """Threads and child processes of loaders, after giving them a moment to go."""
    import multiprocessing

    for _ in range(100):
        threads = [each for each in threading.enumerate() if "DataLoader" in each.name]
        left = [*threads, *multiprocessing.active_children()]
        if not left:
            return []
        time.sleep(0.02)
    return left


@pytest.mark.parametrize("crew", CREWS)
@pytest.mark.parametrize(
    "options",
    [
        {"batch_size": 4},
        {"batch_size": 4, "drop_last": True},
        {"batch_sampler": [[3, 1], [9], [0, 0, 2]]},
        {"batch_size": None},
        {"batch_size": 3, "sampler": [5, 5, 1, 0]},
        {"batch_size": 4, "collate_fn": lambda samples: whygrad.tensor([sum(samples)])},
    ],
)
def test_batches_are_pytorchs(options: dict[str, Any], crew: str) -> None:
    if options["batch_size" if "batch_size" in options else "batch_sampler"] is None:
        options = {**options, "collate_fn": whygrad.tensor}
    mine = DataLoader(Squares(10), **options, **CREWS[crew])
    theirs = torch.utils.data.DataLoader(Squares(10), **options)  # type: ignore[arg-type]
    expected = _batches(theirs)
    assert _batches(mine) == expected
    assert len(mine) == len(theirs) == len(expected)
    assert _workers_left() == []


@pytest.mark.parametrize("dataset", [Squares(30), Uneven(30)], ids=["even", "uneven"])
def test_shuffles_depend_on_the_generator_alone(dataset: Any) -> None:
    seen = set()
    for crew in CREWS.values():
        generator = whygrad.Generator().manual_seed(7)
        loader = DataLoader(dataset, 4, shuffle=True, generator=generator, **crew)
        passes = [_batches(loader) for _ in range(3)]
        assert passes[0] != passes[1] != passes[2]
        assert all(sorted(chain(*each)) == [i * i for i in range(30)] for each in passes)
        seen.add(str(passes))
    assert len(seen) == 1


def test_shuffles_without_a_generator_depend_on_the_seed_alone() -> None:
    seen = set()
    for crew in CREWS.values():
        whygrad.manual_seed(3)
        loader = DataLoader(Squares(30), 4, shuffle=True, **crew)
        seen.add(str([_batches(loader), _batches(loader), whygrad.rand(2).tolist()]))
    assert len(seen) == 1


@pytest.mark.parametrize("crew", CREWS)
@pytest.mark.parametrize("drop_last", [False, True])
def test_a_stream_comes_complete(crew: str, drop_last: bool) -> None:
    loader = DataLoader(Stream(11), 2, drop_last=drop_last, **CREWS[crew])
    theirs = torch.utils.data.DataLoader(
        _torch_stream(11),
        2,
        drop_last=drop_last,
        num_workers=CREWS[crew].get("num_workers", 0),
    )
    for _ in range(2):
        assert _batches(loader) == _batches(theirs)


def _torch_stream(n: int) -> Any:
    class TorchStream(torch.utils.data.IterableDataset):  # type: ignore[type-arg]
        def __iter__(self) -> Any:
            info = torch.utils.data.get_worker_info()
            start, step = (0, 1) if info is None else (info.id, info.num_workers)
            return iter(range(start, n, step))

    return TorchStream()


def test_a_stream_that_is_not_shared_out_comes_once_per_worker() -> None:
    batches = _batches(DataLoader(Stream(3, share=False), 3, num_workers=2))
    assert batches == [[0, 1, 2], [0, 1, 2]]


def test_length_of_a_stream_is_its_own() -> None:
    class Sized(Stream):
        def __len__(self) -> int:
            return self.n

    assert len(DataLoader(Sized(11), 2)) == 6
    assert len(DataLoader(Sized(11), 2, drop_last=True)) == 5
    assert len(DataLoader(Sized(11), None)) == 11
    with pytest.raises(TypeError, match="has no len"):
        len(DataLoader(Stream(11)))


def test_rows_of_tensors_are_taken_together() -> None:
    """With the result that taking them one by one has."""
    x, y = whygrad.randn(10, 3), whygrad.arange(10)
    whole = whygrad.data.TensorDataset(x, y)
    part = whygrad.data.Subset(whole, [7, 1, 5, 2])
    for dataset in (whole, part, whygrad.data.Subset(part, [3, 0])):
        fast = list(DataLoader(dataset, 3))
        slow = list(DataLoader(dataset, 3, collate_fn=lambda s: whygrad.data.default_collate(s)))
        for left, right in zip(fast, slow, strict=True):
            assert [each.tolist() for each in left] == [each.tolist() for each in right]


def test_a_subclass_of_tensor_dataset_keeps_its_own_items() -> None:
    class Doubled(whygrad.data.TensorDataset):
        def __getitem__(self, index: Any) -> Any:
            return super().__getitem__(index)[0] * 2

    assert _batches(DataLoader(Doubled(whygrad.arange(4)), 4)) == [[0, 2, 4, 6]]


@pytest.mark.parametrize("crew", CREWS)
@pytest.mark.parametrize(
    "error",
    [ValueError("no such image"), KeyError("label"), StopIteration(), OSError(2, "gone")],
    ids=lambda error: type(error).__name__,
)
def test_an_error_names_the_sample(error: Exception, crew: str) -> None:
    loader = DataLoader(Squares(20, bad=13, what=_raise(error)), 4, **CREWS[crew])
    kind = RuntimeError if isinstance(error, StopIteration) else type(error)
    seen: list[Any] = []
    with pytest.raises(kind) as caught:
        seen.extend(loader)
    text = str(caught.value)
    assert "sample 13 of Squares" in text
    assert f"cause: {type(error).__name__}: {error}" in text
    assert "try dataset[13] alone" in text
    assert ("in worker" in text) == bool(CREWS[crew])
    assert len(seen) == 3
    assert "broken" in _whole_story(caught.value), "the line that raised"
    del caught  # and with it the iterator, which could have gone on
    gc.collect()
    assert _workers_left() == []


def _whole_story(error: BaseException) -> str:
    import traceback

    return "".join(traceback.format_exception(error))


def test_an_error_whose_constructor_wants_more_becomes_a_runtime_error() -> None:
    broken = UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad byte")
    with pytest.raises(RuntimeError, match="sample 2 of Squares\n  cause: UnicodeDecodeError"):
        list(DataLoader(Squares(4, bad=2, what=_raise(broken))))


def test_an_error_of_collation_names_the_samples() -> None:
    def collate(samples: Any) -> Any:
        raise ValueError("uneven")

    with pytest.raises(ValueError, match=r"collate failed on samples \[0, 1\] of Squares"):
        list(DataLoader(Squares(9), 2, collate_fn=collate))
    with pytest.raises(ValueError, match=r"samples \[0, 1, 2, 3, 4, 5, 6, 7, …\] of Squares"):
        list(DataLoader(Squares(9), 9, collate_fn=collate, num_workers=1))


def test_an_error_in_a_stream_names_the_position() -> None:
    class Broken(IterableDataset[int]):
        def __iter__(self) -> Any:
            yield from (1, 2, 3)
            raise ValueError("torn page")

    with pytest.raises(ValueError, match=r"samples \[2, 3\] of Broken[^\0]*torn page"):
        list(DataLoader(Broken(), 2))


def test_an_error_of_worker_init_fn_is_raised() -> None:
    with pytest.raises(ZeroDivisionError):
        list(DataLoader(Squares(9), num_workers=2, worker_init_fn=lambda worker: 1 // worker))


@pytest.mark.parametrize("crew", WITH_WORKERS)
def test_leaving_early_ends_the_workers(crew: str) -> None:
    loader = DataLoader(Squares(1000), 2, **WITH_WORKERS[crew])
    for _ in loader:
        break
    gc.collect()
    assert _workers_left() == []
    batches = iter(loader)
    next(batches)
    del batches
    gc.collect()
    assert _workers_left() == []


@pytest.mark.parametrize("crew", WITH_WORKERS)
def test_an_exception_in_the_loop_ends_the_workers(crew: str) -> None:
    def train() -> None:
        for _ in DataLoader(Squares(1000), 2, **WITH_WORKERS[crew]):
            raise ArithmeticError

    with pytest.raises(ArithmeticError):
        train()
    gc.collect()
    assert _workers_left() == []


@pytest.mark.parametrize("crew", ["1 thread", "2 processes"])
def test_a_slow_sample_times_out(crew: str) -> None:
    dataset = Squares(4, bad=1, what=lambda: time.sleep(0.6))
    with pytest.raises(RuntimeError, match=r"DataLoader timed out after 0\.1 seconds"):
        list(DataLoader(dataset, timeout=0.1, **WITH_WORKERS[crew]))
    assert _workers_left() == []


def test_a_process_that_dies_is_reported() -> None:
    dataset = Squares(8, bad=5, what=lambda: os.kill(os.getpid(), signal.SIGKILL))
    with pytest.raises(RuntimeError, match=r"pid\(s\) \d+\) exited unexpectedly, with code -9"):
        list(DataLoader(dataset, **CREWS["2 processes"]))
    assert _workers_left() == []


def _who(_: Any) -> Any:
    info = get_worker_info()
    assert info is not None
    return info.id, info.num_workers, info.seed, os.getpid(), whygrad.initial_seed()


@pytest.mark.parametrize("crew", ["3 threads", "2 processes"])
def test_workers_know_who_they_are(crew: str) -> None:
    options = CREWS[crew]
    generator = whygrad.Generator().manual_seed(0)
    loader = DataLoader(Squares(12), 2, collate_fn=_who, generator=generator, **options)
    first, second = list(loader), list(loader)
    workers = options["num_workers"]
    assert [each[0] for each in first] == [number % workers for number in range(6)]
    assert {each[1] for each in first} == {workers}
    assert len({each[2] for each in first}) == workers, "every worker has a seed of its own"
    assert {each[2] for each in first}.isdisjoint(each[2] for each in second)
    if "multiprocessing_context" in options:
        assert len({each[3] for each in first + second}) == 2 * workers
        assert all(each[4] == each[2] for each in first), "seeded accordingly"
    assert get_worker_info() is None


def test_persistent_processes_are_used_again() -> None:
    options = {**CREWS["2 processes"], "persistent_workers": True}
    loader = DataLoader(Stream(8), 2, collate_fn=lambda s: (os.getpid(), s), **options)
    first, second = list(loader), list(loader)
    assert first == second
    for _ in loader:  # left in the middle of work: these cannot be used again
        break
    gc.collect()
    third = list(loader)
    assert [batch for _, batch in third] == [batch for _, batch in first]
    assert {pid for pid, _ in third}.isdisjoint(pid for pid, _ in first)
    del loader
    gc.collect()
    assert _workers_left() == []


def test_each_worker_has_a_copy_of_the_dataset() -> None:
    """PyTorch's way to share a stream out in ``worker_init_fn``."""

    class Range(IterableDataset[int]):
        start, stop = 0, 8

        def __iter__(self) -> Any:
            return iter(range(self.start, self.stop))

    def share_out(worker: int) -> None:
        info = get_worker_info()
        assert info is not None
        info.dataset.start, info.dataset.stop = 4 * worker, 4 * worker + 4

    dataset = Range()
    batches = _batches(DataLoader(dataset, 4, num_workers=2, worker_init_fn=share_out))
    assert batches == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert (dataset.start, dataset.stop) == (0, 8)


def test_what_cannot_be_sent_to_a_process_is_said() -> None:
    loader = DataLoader(Squares(3), num_workers=1, multiprocessing_context="spawn",
                        collate_fn=lambda samples: samples)  # fmt: skip
    with pytest.raises((AttributeError, RuntimeError), match="cannot be sent to a process"):
        list(loader)
    assert _workers_left() == []


def test_ctrl_c_ends_a_program_with_workers() -> None:
    program = textwrap.dedent("""
        import sys, time
        from whygrad.data import DataLoader

        class Slow:
            def __len__(self): return 1000
            def __getitem__(self, index):
                time.sleep(0.05)
                return index

        options = {"multiprocessing_context": sys.argv[1]} if sys.argv[1] else {}
        for number, batch in enumerate(DataLoader(Slow(), num_workers=2, **options)):
            print(number, flush=True)
    """)
    for context in ("", "fork"):
        running = subprocess.Popen(
            command(sys.executable, "-c", program, context),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert running.stdout is not None
        assert running.stdout.readline() == "0\n"
        interrupt(running)
        _, errors = running.communicate(timeout=20)
        assert errors.rstrip().endswith("KeyboardInterrupt")
        assert errors.count("Traceback") <= 1, "the workers are quiet"


def test_workers_overlap() -> None:
    """Eight samples of 50 ms in four threads: the point of having them."""

    class Slow(Squares):
        def __getitem__(self, index: int) -> int:
            time.sleep(0.05)
            return index

    start = time.perf_counter()
    list(DataLoader(Slow(8), num_workers=4))
    assert time.perf_counter() - start < 0.3


REFUSED: dict[str, dict[str, Any]] = {
    "num_workers option should be non-negative": {"num_workers": -1},
    "timeout option should be non-negative": {"timeout": -1},
    "prefetch_factor option could only be specified in multiprocessing": {"prefetch_factor": 2},
    "prefetch_factor option should be non-negative": {"num_workers": 1, "prefetch_factor": -1},
    "persistent_workers option needs num_workers > 0": {"persistent_workers": True},
    "sampler option is mutually exclusive with shuffle": {"sampler": [1], "shuffle": True},
    "batch_sampler option is mutually exclusive with": {"batch_sampler": [[1]], "batch_size": 2},
    "batch_size=None option disables auto-batching": {"batch_size": None, "drop_last": True},
    "batch_size should be a positive integer value, but got": {"batch_size": 0},
    "can only be used with multi-process loading": {"multiprocessing_context": "fork"},
    "should specify a valid start method in": {"multiprocessing_context": "x", "num_workers": 1},
    "should be a valid context object or a string": {
        "multiprocessing_context": 3,
        "num_workers": 1,
    },
}
STREAM_REFUSED: dict[str, dict[str, Any]] = {
    "expected unspecified shuffle option, but got shuffle=True": {"shuffle": True},
    "expected unspecified sampler option": {"sampler": [1]},
    "expected unspecified batch_sampler option": {"batch_sampler": [[1]]},
}


@pytest.mark.parametrize("words", [*REFUSED, *STREAM_REFUSED])
def test_refusals_are_pytorchs(words: str) -> None:
    options = REFUSED.get(words) or STREAM_REFUSED[words]
    streams = words in STREAM_REFUSED
    with pytest.raises((ValueError, TypeError), match=re.escape(words)) as theirs:
        torch.utils.data.DataLoader(_torch_stream(3) if streams else [1, 2], **options)
    with pytest.raises(type(theirs.value), match=re.escape(words)) as mine:
        DataLoader(Stream(3) if streams else [1, 2], **options)
    assert "fix:" in str(mine.value)


def test_what_was_decided_stays() -> None:
    loader = DataLoader([1, 2])
    with pytest.raises(ValueError, match="batch_size attribute should not be set after"):
        loader.batch_size = 3


def test_arrays_become_tensors_without_batching_too() -> None:
    (only,) = DataLoader([np.ones(2)], batch_size=None)
    assert isinstance(only, whygrad.Tensor)
