"""Put a wrapper in the place of a function for a while."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import get_ident
from typing import Any

from whygrad.recording.scope import Scope

__all__ = ["Patch", "patched", "wrapped"]

_MISSING: Any = object()

Function = Callable[..., Any]


class Patch:
    """One name of an owner (a class, a module) with stand-ins for recording and for idle times.

    Without an ``idle`` one, that for recording stays; without a ``recording`` one, what was there.
    """

    def __init__(
        self, owner: Any, name: str, recording: Any = _MISSING, idle: Any = _MISSING
    ) -> None:
        self._owner = owner
        self._name = name
        self._before = vars(owner).get(name, _MISSING)
        self._recording = self._before if recording is _MISSING else recording
        self._idle = self._recording if idle is _MISSING else idle

    def put(self) -> None:
        self._set(self._recording)

    def record(self) -> None:
        self._switch(self._recording)

    def idle(self) -> bool:
        """Whether that could be done: somebody else may have taken the place."""
        return self._switch(self._idle)

    def remove(self) -> None:
        """What was there is put back exactly, also when it was inherited."""
        self._set(self._before)

    def _switch(self, wanted: Any) -> bool:
        if self._recording is self._idle:
            return True
        current = vars(self._owner).get(self._name, _MISSING)
        if current is not self._recording and current is not self._idle:
            return False
        if current is not wanted:
            self._set(wanted)
        return True

    def _set(self, function: Any) -> None:
        if function is not _MISSING:
            setattr(self._owner, self._name, function)
        elif self._name in vars(self._owner):
            delattr(self._owner, self._name)


def wrapped(
    owner: Any, name: str, wrapper: Function, inner: Any = None, scope: Scope | None = None
) -> Any:
    """What calls ``wrapper(original, *args)`` in the place of ``owner.name(*args)``.

    In other threads than that of ``scope`` the original is called.  Classmethods stay classmethods.
    """
    own = vars(owner).get(name)
    if isinstance(own, classmethod):
        function = own.__func__

        @functools.wraps(function)
        def replaced(cls: Any, /, *args: Any, **kwargs: Any) -> Any:
            bound = functools.partial(function, cls)
            if scope is not None and get_ident() != scope.thread:
                return bound(*args, **kwargs)
            try:
                return wrapper(bound, *args, **kwargs)
            except TypeError as error:
                if not _refused(error):
                    raise
            return bound(*args, **kwargs)

        return classmethod(replaced)
    original = inner if inner is not None else getattr(owner, name)

    @functools.wraps(original)
    def replacement(*args: Any, **kwargs: Any) -> Any:
        # asked in this order because PyTorch's compiler can follow the first half
        if scope is not None and not (scope.thread and get_ident() == scope.thread):
            return original(*args, **kwargs)
        try:
            return wrapper(original, *args, **kwargs)
        except TypeError as error:
            if not _refused(error):
                raise
        return original(*args, **kwargs)

    return replacement


def _refused(error: TypeError) -> bool:
    """Whether a wrapper does not take the arguments at all, so that nothing has happened yet."""
    return error.__traceback__ is not None and error.__traceback__.tb_next is None


@contextmanager
def patched(
    owner: Any, name: str, wrapper: Function, inner: Any = None, scope: Scope | None = None
) -> Iterator[None]:
    """While inside, ``owner.name`` is :func:`wrapped`."""
    patch = Patch(owner, name, wrapped(owner, name, wrapper, inner, scope))
    patch.put()
    try:
        yield
    finally:
        patch.remove()
