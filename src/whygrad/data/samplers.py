"""Samplers: in which order, and in which groups, the indices of a dataset come."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Sized
from itertools import islice
from typing import Any, Generic, TypeVar

from whygrad.errors import fail
from whygrad.ops import functions
from whygrad.random import Generator
from whygrad.tensor import Tensor

__all__ = [
    "BatchSampler",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "SubsetRandomSampler",
    "WeightedRandomSampler",
]

T = TypeVar("T", covariant=True)
_BLOCK = 32  # draws at a time, PyTorch's number: a generator in use elsewhere is shared alike


class Sampler(Generic[T]):
    """The base of samplers: subclass it and define ``__iter__`` (and ``__len__`` if it ends)."""

    def __iter__(self) -> Iterator[T]:
        raise fail(
            NotImplementedError,
            call=f"iter({type(self).__name__})",
            cause="a sampler is something to iterate over",
            fix="define def __iter__(self) in the class",
        )


class SequentialSampler(Sampler[int]):
    """0, 1, 2, …"""

    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler[int]):
    """All indices in a new random order each time, or draws with replacement."""

    def __init__(
        self,
        data_source: Sized,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Generator | None = None,
    ) -> None:
        self.data_source = data_source
        self.replacement = replacement
        self._num_samples = num_samples
        self.generator = generator
        if not isinstance(replacement, bool):
            raise _refusal(
                self,
                TypeError,
                f"replacement should be a boolean value, but got replacement={replacement}",
                "pass True or False",
            )
        _check_positive(self, "num_samples", self.num_samples)

    @property
    def num_samples(self) -> int:
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        size = len(self.data_source)
        generator = _generator_or_fresh(self.generator)
        left = self.num_samples
        while left > 0:  # so much at a time: whoever asks for 10¹⁰ samples looks at the first ones
            if self.replacement:
                drawn = functions["randint"](0, size, (min(left, _BLOCK),), generator=generator)
            else:
                drawn = functions["randperm"](size, generator=generator)[:left]
            yield from drawn.tolist()
            left -= len(drawn)

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler[int]):
    """The given indices in a new random order each time."""

    def __init__(self, indices: Sequence[int], generator: Generator | None = None) -> None:
        self.indices = indices
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        order = functions["randperm"](len(self.indices), generator=self.generator)
        for place in order.tolist():
            yield self.indices[place]

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """Indices drawn with these probabilities (up to a common factor)."""

    def __init__(
        self,
        weights: Sequence[float] | Tensor,
        num_samples: int,
        replacement: bool = True,
        generator: Generator | None = None,
    ) -> None:
        _check_positive(self, "num_samples", num_samples)
        _check_bool(self, "replacement", replacement)
        chances = functions["as_tensor"](weights, dtype="float64")
        if chances.ndim != 1:
            raise _refusal(
                self,
                ValueError,
                f"weights should be a 1d sequence but given weights have shape "
                f"{tuple(chances.shape)}",
                "pass one weight per sample",
            )
        self.weights = chances
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        drawn = functions["multinomial"](
            self.weights, self.num_samples, self.replacement, generator=self.generator
        )
        yield from drawn.tolist()

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler[list[int]]):
    """The indices of another sampler in groups."""

    def __init__(
        self, sampler: Sampler[int] | Iterable[int], batch_size: int, drop_last: bool
    ) -> None:
        _check_positive(self, "batch_size", batch_size)
        _check_bool(self, "drop_last", drop_last)
        self.sampler = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last

    def __iter__(self) -> Iterator[list[int]]:
        indices = iter(self.sampler)
        while batch := list(islice(indices, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch

    def __len__(self) -> int:
        size = len(self.sampler)  # type: ignore[arg-type]
        whole, rest = divmod(size, self.batch_size)
        return whole if self.drop_last or not rest else whole + 1


def fresh_seed(generator: Generator | None) -> int:
    """A seed drawn from ``generator``, or from the default one."""
    seed: int = functions["randint"](0, 2**63 - 1, (), generator=generator).item()
    return seed


def _generator_or_fresh(generator: Generator | None) -> Generator:
    """The default generator gives one number only, so that it can be used meanwhile."""
    return Generator().manual_seed(fresh_seed(None)) if generator is None else generator


def _check_positive(sampler: Any, name: str, value: Any) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
        raise _refusal(
            sampler,
            ValueError,
            f"{name} should be a positive integer value, but got {name}={value}",
            "pass an integer of at least 1"
            + ("; an empty dataset cannot be shuffled" if name == "num_samples" else ""),
        )


def _check_bool(sampler: Any, name: str, value: Any) -> None:
    if not isinstance(value, bool):
        raise _refusal(
            sampler,
            ValueError,
            f"{name} should be a boolean value, but got {name}={value}",
            "pass True or False",
        )


def _refusal(sampler: Any, kind: type[Exception], cause: str, fix: str) -> Exception:
    return fail(kind, call=f"{type(sampler).__name__}(…)", cause=cause, fix=fix)
