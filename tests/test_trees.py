"""Nested values taken apart and put together."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pytest

from whygrad.trees import broadcast_prefix, flatten, leaves_like


class Point(NamedTuple):
    x: Any
    y: Any


@dataclass(frozen=True)
class Layer:
    weight: Any
    bias: Any = None
    calls: list[int] = field(default_factory=list, init=False, compare=False)


class Ordered(dict[str, Any]):
    pass


@pytest.mark.parametrize(
    ("value", "leaves", "text"),
    [
        (1, [1], "*"),
        (None, [None], "*"),
        ((1, [2, 3]), [1, 2, 3], "(*, [*, *])"),
        ((1,), [1], "(*,)"),
        ((), [], "()"),
        ({"b": 1, "a": (2,)}, [1, 2], "{'b': *, 'a': (*,)}"),
        (Ordered(a=1), [1], "{'a': *}"),
        (Point(1, {"k": 2}), [1, 2], "(*, {'k': *})"),
        (Layer(1, (2, 3)), [1, 2, 3], "Layer(weight=*, bias=(*, *))"),
        (Layer, [Layer], "*"),
    ],
)
def test_apart_and_together(value: Any, leaves: list[Any], text: str) -> None:
    found, tree = flatten(value)
    assert (found, str(tree), tree.size) == (leaves, text, len(leaves))
    again = tree.build(found)
    assert again == value
    assert type(again) is type(value)


def test_a_prefix_counts_for_everything_below() -> None:
    tree = flatten((Layer(1, [2, 3]), {"a": 4}))[1]
    assert broadcast_prefix(0, tree) == [0, 0, 0, 0]
    assert broadcast_prefix((Layer(0, None), 1), tree) == [0, None, None, 1]
    assert broadcast_prefix((0,), tree) is None
    assert broadcast_prefix(([0, 0], 1), tree) is None
    assert broadcast_prefix((0, {"b": 1}), tree) is None


def test_leaves_in_the_order_of_another() -> None:
    tree = flatten({"a": 1, "b": (2, 3)})[1]
    assert leaves_like({"b": (5, 6), "a": 4}, tree) == [4, 5, 6]
    assert leaves_like({"a": 4, "b": 5}, tree) is None
    assert leaves_like({"a": 4, "b": [5, 6]}, tree) is None
    assert leaves_like({"a": 4, "b": (5, 6), "c": 7}, tree) is None
