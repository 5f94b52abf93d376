"""Put a wrapper in the place of a function for a while."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import get_ident
from typing import Any

from whygrad.doctor.recording.scope import Scope

__all__ = ["Swap", "patched"]

_MISSING = object()


@contextmanager
def patched(
    owner: Any,
    name: str,
    wrapper: Callable[..., Any],
    inner: Any = None,
    scope: Scope | None = None,
) -> Iterator[None]:
    """While inside, ``owner.name(*args)`` is ``wrapper(original, *args)``.

    In other threads than that of ``scope`` the original is called.  Classmethods
    stay classmethods.  What was there is put back exactly, also when it was inherited.
    """
    own = vars(owner).get(name, _MISSING)
    original = inner if inner is not None else getattr(owner, name)
    if isinstance(own, classmethod):
        function = own.__func__

        @functools.wraps(function)
        def replaced(cls: Any, *args: Any, **kwargs: Any) -> Any:
            bound = functools.partial(function, cls)
            if scope is not None and get_ident() != scope.thread:
                return bound(*args, **kwargs)
            return wrapper(bound, *args, **kwargs)

        setattr(owner, name, classmethod(replaced))
    else:

        @functools.wraps(original)
        def replacement(*args: Any, **kwargs: Any) -> Any:
            # asked in this order because PyTorch's compiler can follow the first half
            if scope is not None and not (scope.thread and get_ident() == scope.thread):
                return original(*args, **kwargs)
            return wrapper(original, *args, **kwargs)

        setattr(owner, name, replacement)
    try:
        yield
    finally:
        if own is _MISSING:
            delattr(owner, name)
        else:
            setattr(owner, name, own)


class Swap:
    """A function that takes the place of another one and gives it back, many times."""

    def __init__(self, owner: Any, name: str, function: Any) -> None:
        self._owner = owner
        self._name = name
        self._function = function
        self._before = vars(owner).get(name, _MISSING)

    def put(self) -> bool:
        """Take the place, unless somebody else has taken it since this was made."""
        if vars(self._owner).get(self._name, _MISSING) is not self._before:
            return False
        setattr(self._owner, self._name, self._function)
        return True

    def take(self) -> None:
        """Give the place back, unless somebody else has taken it."""
        if vars(self._owner).get(self._name) is not self._function:
            return
        if self._before is _MISSING:
            delattr(self._owner, self._name)
        else:
            setattr(self._owner, self._name, self._before)
