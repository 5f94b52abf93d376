"""The two worlds a derivative rule can run in.

``raw`` maps op names to NumPy kernels, ``recorded`` maps the same names to dispatched ops on
tensors.  A rule gets one of them as ``xp`` and cannot tell which, so it is written once for every
order of derivative.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from whygrad.ops import late

__all__ = ["Namespace", "on_arrays", "raw", "recorded"]


class Namespace:
    """Ops by name; filled in as the table is declared."""

    def __init__(self, label: str) -> None:
        self.label = label

    def __getattr__(self, name: str) -> Any:
        """An op that is not declared yet."""
        if not late.load(name) or name not in vars(self):
            raise AttributeError(f"no op is called {name!r}")
        return vars(self)[name]


raw = Namespace("raw arrays")
recorded = Namespace("tensors")


def on_arrays(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Make a kernel that only ordinary backward uses reachable as ``raw.name``.

    Rules call it there, so that a faster one can take its place.
    """
    setattr(raw, kernel.__name__, kernel)
    return kernel
