"""A sample that fails costs its own batch and no other; samplers draw no more than is asked for."""

from __future__ import annotations

import gc
import itertools
import weakref
from typing import Any

import pytest
import torch

import whygrad as wg

MODES: tuple[dict[str, Any], ...] = (
    {}, {"num_workers": 2}, {"num_workers": 1, "multiprocessing_context": "fork"},
)  # fmt: skip


class Torn(ValueError):
    """Weak references to built-in exceptions cannot be made."""


class Holes:
    """0, an error, 2, 3."""

    def __len__(self) -> int:
        return 4

    def __getitem__(self, index: int) -> int:
        if index == 1:
            raise Torn("torn page")
        return index


class Interrupted:
    """An iterator that fails once and goes on."""

    def __init__(self) -> None:
        self.position = -1

    def __iter__(self) -> Interrupted:
        return self

    def __next__(self) -> int:
        self.position += 1
        if self.position == 1:
            raise ValueError("torn page")
        if self.position >= 4:
            raise StopIteration
        return self.position


def walked(loader: Any) -> list[Any]:
    """What each of six calls of next() gives."""
    batches, seen = iter(loader), []
    for _ in range(6):
        try:
            seen.append(next(batches).tolist())
        except StopIteration:
            seen.append("end")
        except ValueError:
            seen.append("error")
    return seen


@pytest.mark.parametrize("mode", MODES)
def test_the_next_batch_comes_after_a_failing_one(mode: dict[str, Any]) -> None:
    expected = walked(torch.utils.data.DataLoader(Holes()))
    assert expected == [[0], "error", [2], [3], "end", "end"]
    assert walked(wg.utils.data.DataLoader(Holes(), **mode)) == expected


@pytest.mark.parametrize("mode", MODES)
def test_a_stream_goes_on(mode: dict[str, Any]) -> None:
    def loaded(lib: Any, **options: Any) -> list[Any]:
        class Stream(lib.utils.data.IterableDataset):
            def __iter__(self) -> Any:
                return Interrupted()

        return walked(lib.utils.data.DataLoader(Stream(), batch_size=2, **options))

    if mode.get("num_workers") == 2:  # each of them has the whole stream
        mode = {"num_workers": 1}
    assert loaded(wg, **mode) == loaded(torch)


@pytest.mark.parametrize("mode", MODES[:2])
def test_the_error_keeps_nothing(mode: dict[str, Any]) -> None:
    gc.collect()
    gc.disable()
    try:
        batches = iter(wg.utils.data.DataLoader(Holes(), **mode))
        next(batches)
        watched = None
        try:
            next(batches)
        except ValueError as error:
            watched = weakref.ref(error)
        assert watched is not None
        assert watched() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("lib", [torch, wg])
def test_samplers_are_lazy(lib: Any) -> None:
    tools = lib.utils.data
    many = int(1e10)
    for sampler in (
        tools.RandomSampler(range(10), replacement=True, num_samples=many),
        tools.RandomSampler(range(10), num_samples=many),
        tools.SequentialSampler(range(many)),
    ):
        first = list(itertools.islice(iter(sampler), 25))
        assert len(first) == 25
        assert len(sampler) == many
        assert set(first) <= set(range(25))
    batches = tools.BatchSampler(tools.RandomSampler(range(10), True, many), 3, False)
    assert len(next(iter(batches))) == 3
    for sampler in (tools.SubsetRandomSampler([3, 4]), tools.WeightedRandomSampler([1.0, 2.0], 4)):
        before = lib.get_rng_state().tolist()
        order = iter(sampler)
        assert lib.get_rng_state().tolist() == before, "nothing is drawn before it is wanted"
        next(order)


def test_each_pass_has_as_many_as_asked_for() -> None:
    for replacement in (True, False):
        for count in (1, 31, 32, 33, 64, 70):
            sampler = wg.utils.data.RandomSampler(range(7), replacement, count)
            assert len(list(sampler)) == count
