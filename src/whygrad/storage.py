"""Memory with a history: who wrote last, and how often.

Tensors over the same memory share one Storage.  A saved value remembers the version it saw; if
the storage has moved on by the time backward needs the value, that is an error which can name
the op that wrote and its source line, never a silently wrong gradient.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from whygrad.autograd.source import Where
    from whygrad.tensor import Tensor

__all__ = ["Storage"]


class Storage:
    """One block of memory, its version counter and its last writer."""

    __slots__ = ("_views", "array", "last_writer", "version")

    def __init__(self, array: Any) -> None:
        self.array = array
        self.version = 0
        self.last_writer: tuple[str, Where] | None = None
        self._views: list[weakref.ref[Tensor]] = []

    def bump(self, op_name: str, where: Where) -> None:
        """Record a write."""
        self.version += 1
        self.last_writer = (op_name, where)

    def add_view(self, view: Tensor) -> None:
        """Remember that ``view`` looks at this memory, for as long as it lives."""
        views = self._views
        views.append(weakref.ref(view))
        if len(views) & (len(views) - 1) == 0:  # at powers of two, so the cost is amortised
            self._views = [each for each in views if each() is not None]

    def live_views(self) -> list[Tensor]:
        return [view for each in self._views if (view := each()) is not None]

    @property
    def nbytes(self) -> int:
        return int(self.array.nbytes)
