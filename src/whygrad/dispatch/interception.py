"""A look over the shoulder of every op call of this thread.

Anomaly mode, saved-tensor hooks and selective checkpointing want to see ops as they run.  While
somebody does, the thread adds one key bit to every call, and the layer for that bit hands the call
over.  It sits just above autograd: an interceptor sees promoted arguments and real memory, and the
node that was recorded.  When nobody looks, the bit is not there and nothing is spent.

There is one place more: a *watcher*, which outlives every ``with`` block and looks last, when the
call itself has run.  It calls no ops of its own, so nothing has to be switched for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from whygrad.dispatch.paths import Entry
from whygrad.dispatch.routes import register_layer
from whygrad.tensor import keys, modes
from whygrad.threads import PerThread

if TYPE_CHECKING:
    from whygrad.ops.define import Op

__all__ = [
    "Interceptor",
    "intercepting",
    "not_intercepting",
    "offer",
    "pause",
    "resume",
    "watch",
]

# (op, the call path below, its arguments) -> the result of the call
Interceptor = Callable[["Op", Entry, tuple[Any, ...]], Any]


class _Stack(PerThread):
    interceptors: tuple[Interceptor, ...] = ()
    watcher: Interceptor | None = None


_stack = _Stack()


def watch(watcher: Interceptor | None) -> None:
    """Let ``watcher`` carry out the calls that reach autograd in this thread; None: nobody."""
    _stack.watcher = watcher
    _switch(_stack.interceptors)


@contextmanager
def intercepting(interceptor: Interceptor, *, innermost: bool = True) -> Iterator[None]:
    """Let ``interceptor`` carry out the op calls of this thread; the latest one comes first.

    The ops that an interceptor calls itself are seen by the ones outside it only.  One that is not
    ``innermost`` comes last: the others see what it answers as if autograd had.
    """
    there = _stack.interceptors
    with _only((*there, interceptor) if innermost else (interceptor, *there)):
        yield


@contextmanager
def not_intercepting() -> Iterator[None]:
    """Nobody looks inside this block."""
    watcher = _stack.watcher
    _stack.watcher = None
    try:
        with _only(()):
            yield
    finally:
        watch(watcher)


def pause(interceptor: Interceptor) -> None:
    """Take an interceptor out of the ``with`` block that it is in, until :func:`resume`."""
    _switch(tuple(each for each in _stack.interceptors if each is not interceptor))


def resume(interceptor: Interceptor) -> None:
    """Put an interceptor back, outside all that came since."""
    pause(interceptor)
    _switch((interceptor, *_stack.interceptors))


@contextmanager
def _only(interceptors: tuple[Interceptor, ...]) -> Iterator[None]:
    outer = _stack.interceptors
    _switch(interceptors)
    try:
        yield
    finally:
        _switch(outer)


def _switch(interceptors: tuple[Interceptor, ...]) -> None:
    _stack.interceptors = interceptors
    modes.set_intercepted(bool(interceptors or _stack.watcher))


def offer(op: Op, below: Entry, *args: Any) -> Any:
    """Carry out a call, or let those who look carry it out."""
    interceptors, watcher = _stack.interceptors, _stack.watcher
    if interceptors:
        outer = interceptors[:-1]
        rest = partial(offer, op, below) if outer or watcher else below
        # What _switch does, without its bookkeeping: this runs at every op call, and is undone.
        _stack.interceptors = outer
        if not (outer or watcher):
            modes.state.added &= ~keys.INTERCEPTED
        try:
            return interceptors[-1](op, rest, args)
        finally:
            _stack.interceptors = interceptors
            modes.state.added |= keys.INTERCEPTED
    return below(*args) if watcher is None else watcher(op, below, args)


def _layer(op: Op, bits: int) -> Entry:
    return partial(offer, op, op.table[bits & ~keys.INTERCEPTED])


register_layer(keys.INTERCEPTED, _layer)
