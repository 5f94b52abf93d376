"""Sizes given as one number or one per dimension, and prefixes of saved names."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import repeat
from typing import Any

__all__ = ["consume_prefix_in_state_dict_if_present"]


def _ntuple(n: int, name: str = "parse") -> Callable[[Any], tuple[Any, ...]]:
    """A function that repeats one value ``n`` times, and takes several as they are."""

    def parse(value: Any) -> tuple[Any, ...]:
        return tuple(value) if isinstance(value, Iterable) else tuple(repeat(value, n))

    parse.__name__ = name
    return parse


_single = _ntuple(1, "_single")
_pair = _ntuple(2, "_pair")
_triple = _ntuple(3, "_triple")
_quadruple = _ntuple(4, "_quadruple")


def _reverse_repeat_tuple(t: tuple[Any, ...], n: int) -> tuple[Any, ...]:
    """The values from the last to the first, each ``n`` times: paddings as ``pad`` takes them."""
    return tuple(value for value in reversed(t) for _ in range(n))


def _list_with_default(out_size: Any, defaults: list[int]) -> Any:
    """``out_size`` with the last ``defaults`` where it says None."""
    if not isinstance(out_size, (tuple, list)):
        return out_size
    last = defaults[len(defaults) - len(out_size) :]
    return [usual if value is None else value for value, usual in zip(out_size, last, strict=True)]


def consume_prefix_in_state_dict_if_present(state_dict: dict[str, Any], prefix: str) -> None:
    """Take ``prefix`` (such as "module.") off all names, in place."""
    for key in list(state_dict):
        value = state_dict.pop(key)
        state_dict[key.removeprefix(prefix)] = value
