"""Programs that import ``torch.utils._pytree`` find the same functions here."""

from __future__ import annotations

from collections import OrderedDict, namedtuple

import pytest
import torch.utils._pytree as theirs

import whygrad
from whygrad.utils import _pytree as ours

Pair = namedtuple("Pair", "a b")
NESTED = {"one": [1, (2, None)], "two": Pair(3, OrderedDict(x=4)), "none": []}


def test_the_same_leaves_and_the_same_trees() -> None:
    for library in (ours, theirs):
        leaves, structure = library.tree_flatten(NESTED)
        assert leaves == [1, 2, None, 3, 4] == library.tree_leaves(NESTED)
        again = library.tree_unflatten(leaves, structure)
        assert again == NESTED
        assert type(again["two"]) is Pair
        assert library.tree_map(lambda x, y: (x, y), [1, {"k": 2}], [3, {"k": 4}]) == [
            (1, 3), {"k": (2, 4)},
        ]  # fmt: skip
        assert library.tree_map_only(int, lambda x: -x, [1, "a"]) == [-1, "a"]
        assert library.tree_all(lambda x: x != 5, NESTED)
        assert not library.tree_any(lambda x: x == 5, NESTED)
        assert library.tree_structure([1, 2]) == library.tree_structure([3, 4])
        with pytest.raises(ValueError, match=r"differ|arity mismatch"):
            library.tree_map(lambda x, y: x, [1, 2], [1])
        with pytest.raises(ValueError, match=r"leaves"):
            library.tree_unflatten([1], structure)


def test_it_is_reached_as_an_attribute() -> None:
    assert whygrad.utils._pytree is ours
