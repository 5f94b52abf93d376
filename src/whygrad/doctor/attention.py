"""Where the doctor listens: in one thread of one process, and not while it is told to look away.

Hooks and wrappers are seen by every thread, and a forked worker inherits them.  What happens there
is carried out as if nobody watched.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from threading import get_ident

__all__ = ["Attention", "nobody_listens"]


class Attention:
    """Listens in the thread that made it."""

    def __init__(self) -> None:
        self.thread = get_ident()  # 0: nowhere
        _all.add(self)

    def turn_here(self) -> None:
        """Listen in this thread from now on."""
        self.thread = get_ident()

    def turn_away(self) -> None:
        """Listen no more."""
        self.thread = 0

    @property
    def here(self) -> bool:
        """Whether what happens in this thread now is of interest."""
        return get_ident() == self.thread

    def elsewhere(self) -> AbstractContextManager[None]:
        """Nothing inside this block is listened to."""
        return _Elsewhere(self)


class _Elsewhere(AbstractContextManager[None]):
    """A class, because it is entered twice a step."""

    __slots__ = ("_attention", "_before")

    def __init__(self, attention: Attention) -> None:
        self._attention = attention

    def __enter__(self) -> None:
        self._before = self._attention.thread
        self._attention.thread = 0

    def __exit__(self, *_: object) -> None:
        self._attention.thread = self._before


_all: weakref.WeakSet[Attention] = weakref.WeakSet()


@contextmanager
def nobody_listens() -> Iterator[None]:
    """Whoever watches the program does not hear of what happens inside this block."""
    with ExitStack() as stack:
        for each in list(_all):
            stack.enter_context(each.elsewhere())
        yield


def _in_a_forked_process() -> None:
    for each in _all:
        each.turn_away()


if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
    os.register_at_fork(after_in_child=_in_a_forked_process)
