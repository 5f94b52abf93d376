"""Target versus yours: where two results of plain data differ most.

The learner's side has come through JSON, so no object of theirs is ever compared: numbers, texts,
lists and dicts only.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

__all__ = ["Difference", "is_single", "shown", "worst"]

_SHORT = 70


@dataclass(frozen=True)
class Difference:
    """The worst element: where it is, what was expected, what came."""

    place: str  # "grads.x", "[1, 2]"; empty for the whole
    target: Any
    yours: Any
    difference: float | None = None  # of two numbers
    kind: str = "value"  # or "type", "length", "keys": the two are built differently

    @property
    def size(self) -> float:
        if self.difference is None or math.isnan(self.difference):
            return math.inf
        return self.difference


def worst(
    target: Any, yours: Any, *, relative: float = 0.0, absolute: float = 0.0
) -> Difference | None:
    """The element that is furthest off its tolerance, or None where all agree.

    Two numbers agree within ``absolute + relative · |target|``; NaN agrees with NaN, and an
    infinity with itself.  Everything else must be the same.
    """
    found: Difference | None = None
    most = 0.0
    for each in _differences(target, yours, ()):
        excess = each.size
        if each.kind == "value" and math.isfinite(excess):
            allowed = absolute + relative * abs(each.target)
            if excess <= allowed:
                continue
            excess = excess / allowed if allowed else math.inf
        if found is None or excess > most:
            found, most = each, excess
    return found


def _differences(target: Any, yours: Any, path: tuple[Any, ...]) -> Iterator[Difference]:
    if isinstance(target, dict) and isinstance(yours, dict):
        if target.keys() != yours.keys():
            yield Difference(_place(path), sorted(target), sorted(yours), kind="keys")
        for key in target:
            if key in yours:
                yield from _differences(target[key], yours[key], (*path, str(key)))
    elif isinstance(target, (list, tuple)) and isinstance(yours, (list, tuple)):
        if len(target) != len(yours):
            yield Difference(_place(path), _shape(target), _shape(yours), kind="length")
            return
        for index, (one, other) in enumerate(zip(target, yours)):
            yield from _differences(one, other, (*path, index))
    elif _is_number(target) and _is_number(yours):
        if difference := _distance(target, yours):
            yield Difference(_place(path), target, yours, difference)
    elif type(target) is not type(yours):
        yield Difference(_place(path), target, yours, kind="type")
    elif target != yours:
        yield Difference(_place(path), target, yours)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _distance(one: float, other: float) -> float:
    if one == other or (one != one and other != other):
        return 0.0
    try:
        return abs(float(one) - float(other))
    except OverflowError:  # an integer beyond all floats
        return math.inf


def _shape(value: Any) -> list[int]:
    """The lengths of nested lists, outermost first."""
    lengths = []
    while isinstance(value, (list, tuple)):
        lengths.append(len(value))
        value = value[0] if value else None
    return lengths


def _place(path: tuple[Any, ...]) -> str:
    """``grads.x[1, 2]``"""
    out = ""
    indices: list[int] = []
    for part in (*path, None):
        if isinstance(part, int):
            indices.append(part)
            continue
        if indices:
            out += str(indices)
            indices = []
        if part is not None:
            out += f".{part}" if out else part
    return out


def is_single(value: Any) -> bool:
    """Whether there is just one element in it."""
    while isinstance(value, (dict, list, tuple)) and len(value) == 1:
        (value,) = value.values() if isinstance(value, dict) else value
    return not isinstance(value, (dict, list, tuple))


def shown(value: Any) -> str:
    """A value in one line, short: ten digits, and of a long list the beginning."""
    text = repr(_rounded(value))
    return text if len(text) <= _SHORT else f"{text[: _SHORT - 2]} …"


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.10g}")
    if isinstance(value, dict):
        return {key: _rounded(each) for key, each in value.items()}
    return [_rounded(each) for each in value] if isinstance(value, (list, tuple)) else value
