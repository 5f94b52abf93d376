"""PyTorch's ``torch.serialization``: ``save`` and ``load``, and the list of allowed classes.

PyTorch builds an instance of any class that is on the list; ``whygrad.load`` builds tensors and
plain containers and nothing else, whatever is on it.  So the list can be kept, and a file that
needs it is refused by the name of the class.
"""

from __future__ import annotations

from typing import Any

from whygrad.files import load, save

__all__ = [
    "add_safe_globals",
    "clear_safe_globals",
    "get_safe_globals",
    "load",
    "safe_globals",
    "save",
]

_listed: list[Any] = []


def add_safe_globals(safe_globals: list[Any]) -> None:
    """Note these classes; ``load`` builds none of them."""
    _listed.extend(each for each in safe_globals if each not in _listed)


def get_safe_globals() -> list[Any]:
    """The classes that were noted."""
    return list(_listed)


def clear_safe_globals() -> None:
    """Forget them."""
    _listed.clear()


class safe_globals:
    """Note classes within a block."""

    def __init__(self, safe_globals: list[Any]) -> None:
        self.classes = safe_globals
        self.before: list[Any] = []

    def __enter__(self) -> None:
        self.before = get_safe_globals()
        add_safe_globals(self.classes)

    def __exit__(self, *_: object) -> None:
        _listed[:] = self.before
