"""What is recorded: one thread of one process, and not what happens inside ``paused()``.

Hooks and wrappers are seen by every thread, and a forked worker inherits them.  What happens there
is carried out as if nobody watched.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from threading import get_ident

__all__ = ["Scope", "unrecorded"]


class Scope:
    """The thread that made it, until another one opens it."""

    def __init__(self) -> None:
        self.thread = get_ident()  # 0: nowhere
        _all.add(self)

    def open_here(self) -> None:
        """Record this thread from now on."""
        self.thread = get_ident()

    def close(self) -> None:
        """Record no more."""
        self.thread = 0

    @property
    def here(self) -> bool:
        """Whether what happens in this thread now is recorded."""
        return get_ident() == self.thread

    def paused(self) -> AbstractContextManager[None]:
        """Nothing inside this block is recorded."""
        return _Paused(self)


class _Paused(AbstractContextManager[None]):
    """A class, because it is entered twice a step."""

    __slots__ = ("_before", "_scope")

    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def __enter__(self) -> None:
        self._before = self._scope.thread
        self._scope.thread = 0

    def __exit__(self, *_: object) -> None:
        self._scope.thread = self._before


_all: weakref.WeakSet[Scope] = weakref.WeakSet()


@contextmanager
def unrecorded() -> Iterator[None]:
    """Nothing inside this block is recorded by anybody."""
    with ExitStack() as stack:
        for each in list(_all):
            stack.enter_context(each.paused())
        yield


def _in_a_forked_process() -> None:
    for each in _all:
        each.close()


if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
    os.register_at_fork(after_in_child=_in_a_forked_process)
