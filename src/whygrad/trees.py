"""Nested tuples, lists, dicts and dataclasses of values: taken apart and put together again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, NamedTuple

__all__ = ["Tree", "broadcast_prefix", "flatten", "leaves_like"]


class Tree(NamedTuple):
    """The structure around a flat list of leaves."""

    kind: Any  # a type; None for a leaf
    keys: tuple[Any, ...]  # of a dict, or the fields of a dataclass
    children: tuple[Tree, ...]

    def build(self, leaves: Sequence[Any]) -> Any:
        """The nested value with these leaves."""
        return self._build(iter(leaves))

    def _build(self, leaves: Iterator[Any]) -> Any:
        if self.kind is None:
            return next(leaves)
        made = [child._build(leaves) for child in self.children]
        if issubclass(self.kind, dict):
            return self.kind(zip(self.keys, made, strict=True))
        if self.has_fields:
            return self.kind(**dict(zip(self.keys, made, strict=True)))
        return self.kind(*made) if hasattr(self.kind, "_fields") else self.kind(made)

    @property
    def has_fields(self) -> bool:
        """Whether it is a dataclass."""
        return is_dataclass(self.kind)

    @property
    def size(self) -> int:
        """The number of leaves."""
        return 1 if self.kind is None else sum(child.size for child in self.children)

    def __str__(self) -> str:
        if self.kind is None:
            return "*"
        inside = [str(child) for child in self.children]
        if issubclass(self.kind, dict):
            pairs = zip(self.keys, inside, strict=True)
            return "{" + ", ".join(f"{key!r}: {text}" for key, text in pairs) + "}"
        if self.has_fields:
            pairs = zip(self.keys, inside, strict=True)
            return f"{self.kind.__name__}({', '.join(f'{key}={text}' for key, text in pairs)})"
        if issubclass(self.kind, list):
            return f"[{', '.join(inside)}]"
        return f"({inside[0]},)" if len(inside) == 1 else f"({', '.join(inside)})"


_LEAF = Tree(None, (), ())


def flatten(value: Any) -> tuple[list[Any], Tree]:
    """The leaves of a nested value in order, and its structure."""
    apart = _apart(value)
    if apart is None:
        return [value], _LEAF
    keys, parts = apart
    flat = [flatten(part) for part in parts]
    leaves = [leaf for found, _ in flat for leaf in found]
    return leaves, Tree(type(value), keys, tuple(tree for _, tree in flat))


def _apart(value: Any) -> tuple[tuple[Any, ...], list[Any]] | None:
    """The keys and the parts of a container; None for anything else."""
    if isinstance(value, dict):
        return tuple(value), list(value.values())
    if isinstance(value, (tuple, list)):
        return (), list(value)
    if is_dataclass(value) and not isinstance(value, type):
        names = tuple(field.name for field in fields(value) if field.init)
        return names, [getattr(value, name) for name in names]
    return None


def leaves_like(value: Any, tree: Tree) -> list[Any] | None:
    """The leaves of ``value`` in the order of ``tree``; None if its structure is another one."""
    return _fitted(value, tree, repeat=False)


def broadcast_prefix(prefix: Any, tree: Tree) -> list[Any] | None:
    """One value per leaf of ``tree``: a leaf of ``prefix`` counts for everything below it.

    None if the two structures do not fit together.
    """
    return _fitted(prefix, tree, repeat=True)


def _fitted(value: Any, tree: Tree, repeat: bool) -> list[Any] | None:
    apart = _apart(value)
    if apart is None:
        return [value] * tree.size if repeat or tree.kind is None else None
    keys, parts = apart
    if type(value) is not tree.kind or set(keys) != set(tree.keys):
        return None
    if len(parts) != len(tree.children):
        return None
    if keys:
        named = dict(zip(keys, parts, strict=True))
        parts = [named[key] for key in tree.keys]
    found: list[Any] = []
    for part, child in zip(parts, tree.children, strict=True):
        below = _fitted(part, child, repeat)
        if below is None:
            return None
        found += below
    return found
