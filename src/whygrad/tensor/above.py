"""What the layers above do for the ones below.

Imports point one way: ``tensor`` does not know how ``backward()`` works, nor ``dispatch`` how a
result is written to memory that is already there.  Yet a tensor has a method ``backward``.  So a
layer that can do something says so when it is loaded, ``above.provide("whygrad.autograd.api",
"backward")``, and a layer below calls ``above.backward(…)``.  The module is loaded by the first
call; from then on the function is an ordinary attribute, and who wants to see the calls (the
doctor) puts another one in its place.
"""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["above"]


class _Above:
    """Functions by their name."""

    def __init__(self) -> None:
        self.homes: dict[str, str] = {}  # the module that has each of them

    def provide(self, module: str, *names: str) -> None:
        """``module`` has the functions of these names."""
        self.homes.update(dict.fromkeys(names, module))

    def __getattr__(self, name: str) -> Any:
        if name not in self.homes:
            raise AttributeError(f"no layer provides {name!r}")
        found = getattr(importlib.import_module(self.homes[name]), name)
        setattr(self, name, found)
        return found


above = _Above()
