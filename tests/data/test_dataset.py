"""Datasets, samplers, splits and collation, against PyTorch's."""

from __future__ import annotations

import re
from collections import Counter, OrderedDict, namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torch.utils.data

import whygrad

Point = namedtuple("Point", "x y")


class Countdown:
    """Mixed into the IterableDataset of either library."""

    def __iter__(self) -> Any:
        return iter([3, 2, 1])


def _plain(value: Any) -> Any:
    """A result of either library in terms of lists, with the dtype of tensors."""
    if isinstance(value, (whygrad.Tensor, torch.Tensor)):
        return str(value.dtype).split(".")[-1], value.tolist()
    if isinstance(value, dict):
        return type(value).__name__, {key: _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [_plain(each) for each in value]
    return value


def _row(lib: Any, n: int = 10) -> Any:
    return lib.utils.data.TensorDataset(lib.arange(n), lib.arange(n) * 10)


SAME: dict[str, Callable[[Any], Any]] = {
    "item": lambda lib: _row(lib)[3],
    "slice": lambda lib: _row(lib)[2:4],
    "length": lambda lib: len(_row(lib)),
    "subset": lambda lib: [lib.utils.data.Subset(_row(lib), [5, 2])[each] for each in (0, 1, -1)],
    "subset of a list": lambda lib: lib.utils.data.Subset([7, 8, 9], [2, 0]).__getitems__([1, 0]),
    "sum of datasets": lambda lib: [(_row(lib) + _row(lib, 3))[i] for i in (9, 10, 12, -1, -13)],
    "length of a sum": lambda lib: len(_row(lib) + _row(lib, 3)),
    "chain": lambda lib: list(
        type("It", (Countdown, lib.utils.data.IterableDataset), {})()
        + type("It", (Countdown, lib.utils.data.IterableDataset), {})()
    ),
    "sequential": lambda lib: list(lib.utils.data.SequentialSampler([7, 8, 9])),
    "batches": lambda lib: list(lib.utils.data.BatchSampler(range(7), 3, False)),
    "whole batches": lambda lib: list(lib.utils.data.BatchSampler(range(7), 3, True)),
    "numbers of batches": lambda lib: [
        len(lib.utils.data.BatchSampler(range(n), 3, drop))
        for n in (0, 6, 7)
        for drop in (False, True)
    ],
    "fractions": lambda lib: [
        len(part) for part in lib.utils.data.random_split(range(10), [0.5, 0.25, 0.25])
    ],
    "lengths of samplers": lambda lib: [
        len(lib.utils.data.RandomSampler([1, 2, 3])),
        len(lib.utils.data.RandomSampler([1, 2, 3], num_samples=7)),
        len(lib.utils.data.SubsetRandomSampler([4, 5])),
        len(lib.utils.data.WeightedRandomSampler([1.0, 2.0], 5)),
    ],
    "collate tensors": lambda lib: lib.utils.data.default_collate([lib.ones(2), lib.zeros(2)]),
    "collate arrays": lambda lib: lib.utils.data.default_collate([np.ones(2), np.zeros(2)]),
    "collate array numbers": lambda lib: lib.utils.data.default_collate([np.float32(1)] * 2),
    "collate floats": lambda lib: lib.utils.data.default_collate([1.5, 2.5]),
    "collate integers": lambda lib: lib.utils.data.default_collate([1, 2]),
    "collate bools": lambda lib: lib.utils.data.default_collate([True, False]),
    "collate strings": lambda lib: lib.utils.data.default_collate(["a", "b"]),
    "collate tuples": lambda lib: lib.utils.data.default_collate([(1, "a", 2.5), (2, "b", 3.5)]),
    "collate lists": lambda lib: lib.utils.data.default_collate([[1, 2], [3, 4]]),
    "collate names": lambda lib: lib.utils.data.default_collate([Point(1, 2), Point(3, 4)]),
    "collate dicts": lambda lib: lib.utils.data.default_collate([{"a": 1, "b": [2]}] * 2),
    "collate ordered": lambda lib: lib.utils.data.default_collate([OrderedDict(a=1)] * 2),
    "convert": lambda lib: lib.utils.data.default_convert([np.ones(2), {"a": (np.int64(3), "s")}]),
}  # fmt: skip


@pytest.mark.parametrize("name", SAME)
def test_same_as_pytorch(name: str) -> None:
    assert _plain(SAME[name](whygrad)) == _plain(SAME[name](torch))


def _it(lib: Any) -> Any:
    return type("It", (Countdown, lib.utils.data.IterableDataset), {})()


REFUSED: dict[str, Callable[[Any], Any]] = {
    "Size mismatch between tensors": lambda lib: lib.utils.data.TensorDataset(
        lib.ones(2), lib.ones(3)
    ),
    "should implement __getitem__": lambda lib: lib.utils.data.Dataset()[0],
    "datasets should not be an empty iterable": lambda lib: lib.utils.data.ConcatDataset([]),
    "ConcatDataset does not support IterableDataset": lambda lib: lib.utils.data.ConcatDataset(
        [_it(lib)]
    ),
    "ChainDataset only supports IterableDataset": lambda lib: list(_it(lib) + _row(lib)),
    "absolute value of index should not exceed": lambda lib: (_row(lib) + _row(lib))[-21],
    "Sum of input lengths does not equal": lambda lib: lib.utils.data.random_split(
        _row(lib), [5, 4]
    ),
    "Fraction at index 0 is not between 0 and 1": lambda lib: lib.utils.data.random_split(
        _row(lib), [1.5, -0.5]
    ),
    "replacement should be a boolean value, but got replacement=3": lambda lib: (
        lib.utils.data.RandomSampler([1], replacement=3)
    ),
    "num_samples should be a positive integer value, but got num_samples=0": lambda lib: (
        lib.utils.data.RandomSampler([])
    ),
    "num_samples should be a positive integer value, but got num_samples=-1": lambda lib: (
        lib.utils.data.WeightedRandomSampler([1.0], -1)
    ),
    "replacement should be a boolean value, but got replacement=a": lambda lib: (
        lib.utils.data.WeightedRandomSampler([1.0], 1, replacement="a")
    ),
    "weights should be a 1d sequence but given weights have shape (1, 2)": lambda lib: (
        lib.utils.data.WeightedRandomSampler([[1.0, 2.0]], 1)
    ),
    "batch_size should be a positive integer value, but got batch_size=0": lambda lib: (
        lib.utils.data.BatchSampler([1], 0, False)
    ),
    "drop_last should be a boolean value, but got drop_last=3": lambda lib: (
        lib.utils.data.BatchSampler([1], 1, 3)
    ),
    "each element in list of batch should be of equal size": lambda lib: (
        lib.utils.data.default_collate([[1, 2], [3]])
    ),
    "stack expects each tensor to be equal size, but got [2] at entry 0 and [3] at": lambda lib: (
        lib.utils.data.default_collate([lib.ones(2), lib.ones(3)])
    ),
    "found <class 'NoneType'>": lambda lib: lib.utils.data.default_collate([None]),
    "dicts or lists; found <U1": lambda lib: lib.utils.data.default_collate([np.array(["a"])]),
}


@pytest.mark.parametrize("words", REFUSED)
def test_refusals_are_pytorchs(words: str) -> None:
    with pytest.raises(Exception, match=re.escape(words)) as theirs:
        REFUSED[words](torch)
    with pytest.raises(type(theirs.value), match=re.escape(words)) as mine:
        REFUSED[words](whygrad)
    assert "fix:" in str(mine.value)


def test_index_beyond_a_sum_of_datasets() -> None:
    with pytest.raises(IndexError, match="index 20 is out of range for 20 samples"):
        (_row(whygrad) + _row(whygrad))[20]


def test_a_sampler_without_iter_says_so() -> None:
    with pytest.raises(NotImplementedError, match="define def __iter__"):
        iter(whygrad.data.Sampler())


def test_an_empty_part_warns() -> None:
    with pytest.warns(UserWarning, match="Length of split at index 1 is 0") as caught:
        whygrad.data.random_split(range(10), [0.95, 0.05])
    assert "test_dataset" in caught[0].filename


def test_random_split_deals_out_every_sample_once_and_by_the_generator() -> None:
    def split(seed: int) -> list[list[int]]:
        generator = whygrad.Generator().manual_seed(seed)
        parts = whygrad.data.random_split(range(20), [12, 8], generator)
        return [list(part.indices) for part in parts]

    first, second = split(1)
    assert sorted(first + second) == list(range(20))
    assert split(1) == [first, second] != split(2)


def test_random_sampler_draws_on() -> None:
    sampler = whygrad.data.RandomSampler(range(50), generator=whygrad.Generator().manual_seed(0))
    passes = [list(sampler) for _ in range(3)]
    assert all(sorted(each) == list(range(50)) for each in passes)
    assert passes[0] != passes[1] != passes[2]


def test_random_sampler_takes_one_number_from_the_default_generator() -> None:
    """So what the program draws afterwards does not depend on the size of the dataset."""
    following = []
    for size in (3, 300):
        whygrad.manual_seed(5)
        list(whygrad.data.RandomSampler(range(size)))
        following.append(whygrad.rand(3).tolist())
    assert following[0] == following[1]


def test_random_sampler_with_replacement_and_more_samples_than_there_are() -> None:
    assert set(whygrad.data.RandomSampler(range(4), True, 100)) == {0, 1, 2, 3}
    counts = Counter(whygrad.data.RandomSampler(range(4), num_samples=10))
    assert sorted(counts.values()) == [2, 2, 3, 3]


def test_weighted_sampler_keeps_to_the_weights() -> None:
    generator = whygrad.Generator().manual_seed(0)
    sampler = whygrad.data.WeightedRandomSampler([1.0, 0.0, 3.0], 4000, generator=generator)
    counts = Counter(sampler)
    assert counts[1] == 0
    assert counts[2] / counts[0] == pytest.approx(3, rel=0.15)
    once = whygrad.data.WeightedRandomSampler([1.0, 5.0, 3.0], 3, replacement=False)
    assert sorted(once) == [0, 1, 2]


def test_subset_random_sampler_gives_its_indices_in_any_order() -> None:
    sampler = whygrad.data.SubsetRandomSampler(range(5, 60), whygrad.Generator().manual_seed(0))
    first, second = list(sampler), list(sampler)
    assert sorted(first) == sorted(second) == list(range(5, 60))
    assert first != second
