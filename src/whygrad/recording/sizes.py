"""Sizes by name, in the eight bytes each that a run of a million steps can afford."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from functools import lru_cache

__all__ = ["Sizes"]

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
