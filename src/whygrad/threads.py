"""State that each thread has for itself, and a second stack for a thread that has used up its own.

Backward calls inside hooks and custom functions nest; Python counts frames and gives up at a
thousand.  So a call that finds itself deep down goes on in a thread of its own, which begins with
an empty stack, while the caller waits.  To everybody else it is the same thread: what
:class:`PerThread` objects hold moves there and back.
"""

from __future__ import annotations

import contextvars
import sys
import threading
from collections.abc import Callable
from typing import Any

__all__ = ["PerThread", "is_deep", "on_new_stack"]

_SHARE = 0.4  # of Python's recursion limit that one stack may use before the next one begins

_states: list[PerThread] = []


class PerThread(threading.local):
    """Attributes that each thread has for itself; class attributes are what it begins with."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        made = super().__new__(cls)
        _states.append(made)
        return made


def is_deep() -> bool:
    """Whether the stack of this thread is a good part of what Python allows."""
    left = int(sys.getrecursionlimit() * _SHARE)
    frame = sys._getframe()
    while frame.f_back is not None:
        frame = frame.f_back
        left -= 1
        if left < 0:
            return True
    return False


def on_new_stack(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call ``function`` in a thread of its own that counts as this one, and wait for it."""
    moved = [dict(each.__dict__) for each in _states]
    result: list[Any] = []
    raised: list[BaseException] = []

    def there() -> None:
        for state, values in zip(_states, moved, strict=True):
            state.__dict__.update(values)
        try:
            result.append(function(*args, **kwargs))
        except BaseException as error:
            raised.append(error)
        finally:
            moved[:] = [dict(each.__dict__) for each in _states]

    context = contextvars.copy_context()
    thread = threading.Thread(target=context.run, args=(there,), name="whygrad-stack", daemon=True)
    thread.start()
    thread.join()
    for state, values in zip(_states, moved, strict=True):
        state.__dict__.clear()
        state.__dict__.update(values)
    if raised:
        raise raised[0]
    return result[0]
