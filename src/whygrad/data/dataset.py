"""Datasets: something with a length and items, or something to iterate over."""

from __future__ import annotations

import bisect
import itertools
import math
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar

from whygrad.errors import describe, fail
from whygrad.ops import functions
from whygrad.random import Generator, default_generator
from whygrad.tensor import Tensor

__all__ = [
    "ChainDataset",
    "ConcatDataset",
    "Dataset",
    "IterableDataset",
    "StackDataset",
    "Subset",
    "TensorDataset",
    "random_split",
]

T = TypeVar("T", covariant=True)


class Dataset(Generic[T]):
    """Samples by index: subclass it and define ``__getitem__`` and ``__len__``."""

    def __getitem__(self, index: Any) -> T:
        raise fail(
            NotImplementedError,
            call=f"{type(self).__name__}[{index!r}]",
            cause="Subclasses of Dataset should implement __getitem__.",
            fix="define def __getitem__(self, index) in the class",
        )

    def __add__(self, other: Dataset[T]) -> ConcatDataset[T]:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[T], Iterable[T]):
    """Samples one after the other: subclass it and define ``__iter__``.

    With workers each of them iterates over a copy of its own: share the samples out with
    ``get_worker_info()``, or every worker delivers all of them.
    """

    def __add__(self, other: Dataset[T]) -> ChainDataset[T]:  # type: ignore[override]
        return ChainDataset([self, other])


class TensorDataset(Dataset[tuple[Tensor, ...]]):
    """Tensors side by side: sample i is row i of each."""

    tensors: tuple[Tensor, ...]

    def __init__(self, *tensors: Tensor) -> None:
        if any(each.shape[:1] != tensors[0].shape[:1] or not each.ndim for each in tensors):
            raise fail(
                AssertionError,
                call=f"TensorDataset({', '.join(map(describe, tensors))})",
                cause="Size mismatch between tensors",
                fix="every tensor has one row per sample, so their first sizes are equal",
            )
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple(each[index] for each in self.tensors)

    def __len__(self) -> int:
        return self.tensors[0].shape[0]

    def _stacked(self, indices: Sequence[int]) -> list[Tensor] | None:
        """What ``default_collate`` would make of these samples, in one go."""
        if type(self).__getitem__ is not TensorDataset.__getitem__:
            return None
        chosen = functions["tensor"](list(indices), dtype="int64")
        return [each[chosen] for each in self.tensors]


class StackDataset(Dataset[Any]):
    """Datasets side by side: sample i is sample i of each, as a tuple, or a dict by their names."""

    datasets: tuple[Any, ...] | dict[str, Any]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        given = args or tuple(kwargs.values())
        cause = None
        if args and kwargs:
            cause = "datasets are given by position or by name, not both"
        elif not given:
            cause = "At least one dataset should be passed"
        elif any(_length(each) != _length(given[0]) for each in given):
            cause = "Size mismatch between datasets"
        if cause is not None:
            raise fail(
                ValueError,
                call=f"StackDataset of {len(args) + len(kwargs)} datasets",
                cause=cause,
                fix="pass datasets of the same length: StackDataset(images, labels)",
            )
        self.datasets = args or kwargs
        self._size = _length(given[0])

    def __getitem__(self, index: Any) -> Any:
        if isinstance(self.datasets, dict):
            return {name: each[index] for name, each in self.datasets.items()}
        return tuple(each[index] for each in self.datasets)

    def __getitems__(self, indices: list[int]) -> list[Any]:
        return [self[index] for index in indices]

    def __len__(self) -> int:
        return self._size


class ConcatDataset(Dataset[T]):
    """Datasets one after the other."""

    datasets: list[Dataset[T]]
    cumulative_sizes: list[int]

    def __init__(self, datasets: Iterable[Dataset[T]]) -> None:
        self.datasets = list(datasets)
        cause = None
        if not self.datasets:
            cause = "datasets should not be an empty iterable"
        elif any(isinstance(each, IterableDataset) for each in self.datasets):
            cause = "ConcatDataset does not support IterableDataset"
        if cause is not None:
            raise fail(
                AssertionError,
                call=f"ConcatDataset of {len(self.datasets)} datasets",
                cause=cause,
                fix="pass datasets with a length; ChainDataset joins iterable ones",
            )
        self.cumulative_sizes = list(itertools.accumulate(map(_length, self.datasets)))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, index: Any) -> T:
        position = index + len(self) if index < 0 else index
        if position < 0:
            raise fail(
                ValueError,
                call=f"ConcatDataset[{index}] of {len(self)} samples",
                cause="absolute value of index should not exceed dataset length",
                fix=f"indices go from -{len(self)} to {len(self) - 1}",
            )
        if position >= len(self):
            raise IndexError(f"index {index} is out of range for {len(self)} samples")
        which = bisect.bisect_right(self.cumulative_sizes, position)
        before = self.cumulative_sizes[which - 1] if which else 0
        return self.datasets[which][position - before]


class ChainDataset(IterableDataset[T]):
    """Iterable datasets one after the other."""

    def __init__(self, datasets: Iterable[Dataset[T]]) -> None:
        self.datasets = list(datasets)
        for each in self.datasets:
            if not isinstance(each, IterableDataset):
                raise fail(
                    AssertionError,
                    call=f"ChainDataset with a {type(each).__name__}",
                    cause="ChainDataset only supports IterableDataset",
                    fix="ConcatDataset joins datasets with a length",
                )

    def __iter__(self) -> Iterator[T]:
        return itertools.chain.from_iterable(self.datasets)  # type: ignore[arg-type]

    def __len__(self) -> int:
        return sum(map(_length, self.datasets))


class Subset(Dataset[T]):
    """Some samples of another dataset."""

    def __init__(self, dataset: Dataset[T], indices: Sequence[int]) -> None:
        self.dataset = dataset
        self.indices = indices

    def __getitem__(self, index: Any) -> T:
        if isinstance(index, list):
            return self.dataset[[self.indices[each] for each in index]]
        return self.dataset[self.indices[index]]

    def __getitems__(self, indices: list[int]) -> list[T]:
        chosen = [self.indices[each] for each in indices]
        if hasattr(self.dataset, "__getitems__"):
            together: list[T] = self.dataset.__getitems__(chosen)
            return together
        return [self.dataset[each] for each in chosen]

    def __len__(self) -> int:
        return len(self.indices)

    def _stacked(self, indices: Sequence[int]) -> list[Tensor] | None:
        whole = getattr(self.dataset, "_stacked", None)
        if whole is None or type(self).__getitem__ is not Subset.__getitem__:
            return None
        rows: list[Tensor] | None = whole([self.indices[each] for each in indices])
        return rows


def random_split(
    dataset: Dataset[T],
    lengths: Sequence[int | float],
    generator: Generator | None = default_generator,
) -> list[Subset[T]]:
    """Deal the samples out at random into parts of these lengths, or these fractions."""
    sizes = _sizes_from(lengths, _length(dataset))
    if sum(sizes) != _length(dataset):
        raise fail(
            ValueError,
            call=f"random_split of {_length(dataset)} samples into {list(lengths)}",
            cause="Sum of input lengths does not equal the length of the input dataset!",
            fix="pass lengths that add up, or fractions that add up to 1",
        )
    order = functions["randperm"](sum(sizes), generator=generator).tolist()
    ends = itertools.accumulate(sizes)
    return [Subset(dataset, order[end - size : end]) for size, end in zip(sizes, ends, strict=True)]


def _sizes_from(lengths: Sequence[int | float], total: int) -> list[int]:
    """Fractions rounded down, and what is left dealt out one by one."""
    if not math.isclose(sum(lengths), 1) or sum(lengths) > 1:
        return [int(each) for each in lengths]
    for index, fraction in enumerate(lengths):
        if not 0 <= fraction <= 1:
            raise fail(
                ValueError,
                call=f"random_split into {list(lengths)}",
                cause=f"Fraction at index {index} is not between 0 and 1",
                fix="pass fractions that add up to 1",
            )
    sizes = [math.floor(total * fraction) for fraction in lengths]
    for index in range(total - sum(sizes)):
        sizes[index % len(sizes)] += 1
    for index, size in enumerate(sizes):
        if size == 0:
            warnings.warn(
                f"Length of split at index {index} is 0. This might result in an empty dataset.",
                stacklevel=3,
            )
    return sizes


def _length(dataset: Any) -> int:
    return len(dataset)
