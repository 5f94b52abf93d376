"""How Python loops become machine code.

Numba keeps what it compiled on disk, next to this file or in the user's cache, so a machine
compiles each loop once.  That takes seconds, and who waits for it should know why: the first
compilation of a process says so, in one line, if somebody is looking.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from numba import njit
from numba.core import event

__all__ = ["compiled"]

# Without the error model of NumPy a division may raise, and loops with one are not vectorised.
# Several threads may run loops at once, because they do not hold Python's lock.
_OPTIONS = {"error_model": "numpy", "nogil": True, "boundscheck": False}


def compiled(*liberties: str, inline: bool = False) -> Callable[[Callable[..., Any]], Any]:
    """Compile a loop when it is first called.

    ``liberties`` may be ``contract`` (a·b + c rounded once) and ``reassoc`` (sums in another
    order, always the same one).  Infinities and NaN keep their meaning in any case.
    """
    options = {**_OPTIONS, "fastmath": set(liberties), "inline": "always" if inline else "never"}

    def decorate(function: Callable[..., Any]) -> Any:
        try:
            return njit(cache=True, **options)(function)
        except RuntimeError:  # there is no folder that Numba may write to
            return njit(**options)(function)

    return decorate


class _Announcement(event.Listener):  # type: ignore[misc]
    """Says once that compiling takes a moment."""

    made = False

    def on_start(self, _: Any) -> None:
        if not self.made and sys.stderr is not None and sys.stderr.isatty():
            print("whygrad: compiling fast kernels (once per machine) …", file=sys.stderr)
        self.made = True

    def on_end(self, _: Any) -> None:
        """Nothing to say."""


event.register("numba:compile", _Announcement())
