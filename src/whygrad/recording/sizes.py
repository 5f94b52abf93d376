"""How large tensors are; by name, in the eight bytes each that a long run can afford."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from whygrad.recording.engines import Engine
from whygrad.recording.ranges import rms
from whygrad.recording.record import Course, Sample, Snapshot

__all__ = ["Sizes", "measure_update", "rms_of", "rms_of_data"]

_NONE = -1.0  # no size is negative


class Sizes(Mapping[str, float | None]):
    """A mapping that does not change.  Those with the same names share the names."""

    __slots__ = ("_places", "_sizes")

    def __init__(self, sizes: Mapping[str, float | None]) -> None:
        self._places = _places(tuple(sizes))
        self._sizes = array("d", [_NONE if each is None else each for each in sizes.values()])

    def __getitem__(self, name: str) -> float | None:
        size = self._sizes[self._places[name]]
        return None if size < 0 else size

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._sizes)

    def __repr__(self) -> str:
        return repr(dict(self))


@lru_cache(maxsize=64)
def _places(names: tuple[str, ...]) -> dict[str, int]:
    return {name: place for place, name in enumerate(names)}


def rms_of(engine: Engine, tensors: list[Any], most: int = 4096) -> list[float]:
    """The rms of each, from at most about ``most`` values; what is not finite shows.

    A value that is not finite is seldom alone: it spreads over rows, columns and biases.
    """
    return [rms(engine.few(each, most)) for each in tensors]


def rms_of_data(engine: Engine, tensors: list[Any]) -> tuple[float, ...]:
    """The rms of those that are no labels."""
    arrays = map(engine.array, tensors)
    return tuple([rms(each) for each in arrays if each.dtype.kind == "f"])


def measure_update(engine: Engine, course: Course, snapshot: Snapshot, sample: Sample) -> None:
    """Enter how large the parameters of a course were, and how far an update has moved them."""
    for each in course.parameters:
        before = snapshot.values.get(id(each.tensor))
        if before is not None:
            old, new = engine.few(before), engine.few(each.tensor)
            sample.weights[each.name] = rms(old)
            sample.updates[each.name] = change = rms(new - old)
            each.changed = each.changed or change > 0
