"""From indices to a batch, with errors that name the sample.

A traceback from a worker says which line of the dataset failed, never for which sample; and with
a million images the sample is what one needs to know.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, Final

from whygrad.data.collate import default_collate
from whygrad.data.dataset import IterableDataset
from whygrad.data.worker_info import get_worker_info
from whygrad.errors import fail

__all__ = ["END", "Batches", "Fetch", "fetcher"]

Fetch = Callable[[Any], Any]


class _End:
    """What an iterable dataset that has nothing left answers with."""

    def __reduce__(self) -> str:
        return "END"


END: Final = _End()


def fetcher(dataset: Any, collate: Callable[[Any], Any], batched: bool, drop_last: bool) -> Fetch:
    """The function that makes a batch of a list of indices (or one sample, if not ``batched``).

    For an iterable dataset it takes the indices of a batch for their number only, and answers
    with ``END`` when there are no samples left.
    """
    if isinstance(dataset, IterableDataset):
        return _Stream(dataset, collate, batched, drop_last)
    if not batched:
        return lambda index: _collated(collate, dataset, [index], _sample(dataset, index))
    stacked = getattr(dataset, "_stacked", None) if collate is default_collate else None

    def fetch(indices: list[Any]) -> Any:
        if stacked is not None:
            batch = _blaming(dataset, indices, lambda: stacked(indices))
            if batch is not None:
                return batch
        if hasattr(dataset, "__getitems__"):
            samples = _blaming(dataset, indices, lambda: dataset.__getitems__(indices))
        else:
            samples = [_sample(dataset, index) for index in indices]
        return _collated(collate, dataset, indices, samples)

    return fetch


class Batches:
    """One batch after the other, here and now; after one that failed, the next."""

    def __init__(self, fetch: Fetch, indices: Iterator[Any]) -> None:
        self.fetch = fetch
        self.indices = indices
        self.ended = False

    def __iter__(self) -> Batches:
        return self

    def __next__(self) -> Any:
        if not self.ended:
            batch = self.fetch(next(self.indices))
            if batch is not END:
                return batch
            self.ended = True
        raise StopIteration


class _Stream:
    """The next samples of an iterable dataset."""

    def __init__(
        self, dataset: Any, collate: Callable[[Any], Any], batched: bool, drop_last: bool
    ) -> None:
        self.dataset = dataset
        self.collate = collate
        self.batched = batched
        self.drop_last = drop_last
        self.position = 0
        self.samples: Iterator[Any] | None = None

    def __call__(self, indices: Any) -> Any:
        wanted = len(indices) if self.batched else 1
        places = list(range(self.position, self.position + wanted))
        samples = _blaming(self.dataset, places, lambda: self._next(wanted))
        self.position += len(samples)
        if not samples or (len(samples) < wanted and self.drop_last):
            return END
        chosen = samples if self.batched else samples[0]
        return _collated(self.collate, self.dataset, places[: len(samples)], chosen)

    def _next(self, wanted: int) -> list[Any]:
        if self.samples is None:
            self.samples = iter(self.dataset)
        return list(islice(self.samples, wanted))


def _sample(dataset: Any, index: Any) -> Any:
    return _blaming(dataset, [index], lambda: dataset[index])


def _collated(collate: Callable[[Any], Any], dataset: Any, indices: list[Any], samples: Any) -> Any:
    try:
        return collate(samples)
    except Exception as error:
        name = getattr(collate, "__name__", type(collate).__name__)
        raise _named(error, dataset, indices, f"{name} failed on ") from error


def _blaming(dataset: Any, indices: list[Any], fetch: Callable[[], Any]) -> Any:
    try:
        return fetch()
    except Exception as error:
        raise _named(error, dataset, indices, "") from error


def _named(error: Exception, dataset: Any, indices: list[Any], doing: str) -> Exception:
    """The same kind of error, saying which samples it is about."""
    owner, info = type(dataset).__name__, get_worker_info()
    which = f"sample {indices[0]!r}" if len(indices) == 1 else f"samples {_listed(indices)}"
    worker = "" if info is None else f", in worker {info.id} of {info.num_workers}"
    said = f"{type(error).__name__}: {error}".replace("\n", "\n         ")
    kind = RuntimeError if isinstance(error, StopIteration) else type(error)
    text: dict[str, Any] = {
        "call": f"DataLoader: {doing}{which} of {owner}{worker}",
        "cause": said,
        "fix": f"try dataset[{indices[0]!r}] alone; the exception above this one has the line"
        if not doing
        else "the exception above this one has the line",
        "where": None,
    }
    try:
        return fail(_KeyError if kind is KeyError else kind, **text)
    except TypeError:  # its constructor wants more than a message
        return fail(RuntimeError, **text)


def _listed(indices: list[Any]) -> str:
    shown = ", ".join(map(repr, indices[:8]))
    return f"[{shown}, …]" if len(indices) > 8 else f"[{shown}]"


class _KeyError(KeyError):
    """A KeyError shows its argument's repr, which is no way to show several lines."""

    def __str__(self) -> str:
        return str(self.args[0])
