"""The rules, a folder for each tier of the causal order.

:func:`load` imports them all; importing one registers it.
"""

from __future__ import annotations

import importlib
import pkgutil

__all__ = ["load"]


def load() -> None:
    """Register every rule of this package."""
    for module in pkgutil.walk_packages(__path__, f"{__name__}."):
        importlib.import_module(module.name)
