"""Nested tuples, lists and dicts of values: taken apart and put together again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

__all__ = ["Tree", "broadcast_prefix", "flatten"]


class Tree(NamedTuple):
    """The structure around a flat list of leaves."""

    kind: Any  # a type; None for a leaf
    keys: tuple[Any, ...]  # of a dict
    children: tuple[Tree, ...]

    def build(self, leaves: Sequence[Any]) -> Any:
        """The nested value with these leaves."""
        return self._build(iter(leaves))

    def _build(self, leaves: Iterator[Any]) -> Any:
        if self.kind is None:
            return next(leaves)
        made = [child._build(leaves) for child in self.children]
        if self.keys or issubclass(self.kind, dict):
            return self.kind(zip(self.keys, made, strict=True))
        return self.kind(*made) if hasattr(self.kind, "_fields") else self.kind(made)

    def __str__(self) -> str:
        if self.kind is None:
            return "*"
        inside = [str(child) for child in self.children]
        if issubclass(self.kind, dict):
            pairs = zip(self.keys, inside, strict=True)
            return "{" + ", ".join(f"{key!r}: {text}" for key, text in pairs) + "}"
        if issubclass(self.kind, list):
            return f"[{', '.join(inside)}]"
        return f"({inside[0]},)" if len(inside) == 1 else f"({', '.join(inside)})"


_LEAF = Tree(None, (), ())


def flatten(value: Any) -> tuple[list[Any], Tree]:
    """The leaves of a nested value in order, and its structure."""
    if isinstance(value, dict):
        keys, parts = tuple(value), list(value.values())
    elif isinstance(value, (tuple, list)):
        keys, parts = (), list(value)
    else:
        return [value], _LEAF
    flat = [flatten(part) for part in parts]
    leaves = [leaf for found, _ in flat for leaf in found]
    return leaves, Tree(type(value), keys, tuple(tree for _, tree in flat))


def broadcast_prefix(prefix: Any, tree: Tree) -> list[Any] | None:
    """One value per leaf of ``tree``: a leaf of ``prefix`` counts for everything below it.

    None if the two structures do not fit together.
    """
    _, outline = flatten(prefix)
    if outline.kind is None:
        return [prefix] * _count(tree)
    if outline.kind is not tree.kind or set(outline.keys) != set(tree.keys):
        return None
    parts = [prefix[key] for key in tree.keys] if tree.keys else list(prefix)
    if len(parts) != len(tree.children):
        return None
    found: list[Any] = []
    for part, child in zip(parts, tree.children, strict=True):
        below = broadcast_prefix(part, child)
        if below is None:
            return None
        found += below
    return found


def _count(tree: Tree) -> int:
    return 1 if tree.kind is None else sum(map(_count, tree.children))
