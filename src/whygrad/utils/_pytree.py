"""Nested containers taken apart and put together, under the names of ``torch.utils._pytree``.

PyTorch calls the module private, and programs import it all the same.  The work is done in
:mod:`whygrad.trees`; here are the names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from whygrad.errors import fail
from whygrad.trees import Tree, flatten, leaves_like

__all__ = [
    "tree_all", "tree_any", "tree_flatten", "tree_leaves", "tree_map", "tree_map_only",
    "tree_structure", "tree_unflatten",
]  # fmt: skip


def tree_flatten(tree: Any) -> tuple[list[Any], Tree]:
    """The leaves in order, and the structure around them."""
    return flatten(tree)


def tree_unflatten(leaves: Iterable[Any], treespec: Tree) -> Any:
    """The nested value of this structure with these leaves."""
    found = list(leaves)
    if len(found) != treespec.size:
        raise fail(
            ValueError,
            call=f"tree_unflatten({len(found)} leaves, {treespec})",
            cause=f"the structure has {treespec.size} leaves",
            fix="pass one value per leaf, in the order of tree_flatten",
        )
    return treespec.build(found)


def tree_leaves(tree: Any) -> list[Any]:
    """The leaves in order."""
    return flatten(tree)[0]


def tree_structure(tree: Any) -> Tree:
    """The structure alone."""
    return flatten(tree)[1]


def tree_map(func: Callable[..., Any], tree: Any, *rests: Any) -> Any:
    """``func`` of every leaf, with the leaves of ``rests`` at the same place."""
    leaves, structure = flatten(tree)
    columns = [leaves]
    for rest in rests:
        others = leaves_like(rest, structure)
        if others is None:
            raise fail(
                ValueError,
                call=f"tree_map(func, {structure}, {flatten(rest)[1]})",
                cause="the structures differ",
                fix="pass trees with the same containers and keys",
            )
        columns.append(others)
    return structure.build([func(*each) for each in zip(*columns, strict=True)])


def tree_map_only(kind: Any, func: Callable[[Any], Any], tree: Any) -> Any:
    """``func`` of the leaves of one type; the others stay."""
    return tree_map(lambda leaf: func(leaf) if isinstance(leaf, kind) else leaf, tree)


def tree_all(pred: Callable[[Any], bool], tree: Any) -> bool:
    """Whether ``pred`` holds for every leaf."""
    return all(map(pred, flatten(tree)[0]))


def tree_any(pred: Callable[[Any], bool], tree: Any) -> bool:
    """Whether ``pred`` holds for some leaf."""
    return any(map(pred, flatten(tree)[0]))
