"""Per-thread switches: is autograd recording, and does a version have to be kept?

The hot path reads one global counter.  Only while some thread has a mode switched on does an op
call look at the thread's own state.
"""

from __future__ import annotations

import functools
import inspect
import threading
from abc import ABC, abstractmethod
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from whygrad.tensor import keys
from whygrad.threads import PerThread

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

__all__ = [
    "enable_grad",
    "inference_mode",
    "is_anomaly_check_nan_enabled",
    "is_anomaly_enabled",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "no_grad",
    "set_grad_enabled",
]


class _ThreadState(PerThread):
    grad = True
    inference = False
    recording = True  # grad, and not inference: enable_grad() does not end inference_mode()
    added = 0  # key bits every op call gets
    watch: Any = None  # who looks at values, in anomaly mode
    check_nan = True  # whether anomaly mode looks at values
    run: Any = None  # the innermost call of a function under a transform, see autograd.runs


state = _ThreadState()


class _Active:
    """How many mode changes are in force, over all threads."""

    __slots__ = ("count",)

    def __init__(self) -> None:
        self.count = 0


active = _Active()
_lock = threading.RLock()  # a signal handler may compute while this thread holds it


def _set(grad: bool, inference: bool) -> None:
    state.grad = grad
    state.inference = inference
    state.recording = grad and not inference
    _add(state.added & ~keys.UNRECORDED | (0 if state.recording else keys.UNRECORDED))


def set_intercepted(intercepted: bool) -> None:
    """Whether somebody wants to see every op call of this thread from now on."""
    _add(state.added & ~keys.INTERCEPTED | (keys.INTERCEPTED if intercepted else 0))


def set_autocast(enabled: bool) -> None:
    """Whether the op calls of this thread choose their precision from now on."""
    _add(state.added & ~keys.AUTOCAST | (keys.AUTOCAST if enabled else 0))


def set_overridden(overridden: bool) -> None:
    """Whether a mode takes over the op calls of this thread from now on."""
    _add(state.added & ~keys.OVERRIDDEN | (keys.OVERRIDDEN if overridden else 0))


@contextmanager
def without_autocast() -> Iterator[None]:
    """Ops inside compute in the precision they are given."""
    before = bool(state.added & keys.AUTOCAST)
    set_autocast(False)
    try:
        yield
    finally:
        set_autocast(before)


@contextmanager
def unfollowed() -> Iterator[None]:
    """What runs inside is the engine's own affair: nobody asks where its constants come from."""
    before = state.added & keys.UNFOLLOWED
    _add(state.added | keys.UNFOLLOWED)
    try:
        yield
    finally:
        _add(state.added & ~keys.UNFOLLOWED | before)


@contextmanager
def inside(run: Any) -> Iterator[None]:
    """A function under a transform runs inside."""
    outer, state.run = state.run, run
    _count(1)
    try:
        yield
    finally:
        _count(-1)
        state.run = outer


def _add(bits: int) -> None:
    was_plain = not state.added
    state.added = bits
    if was_plain is not (not bits):
        _count(was_plain - (not bits))


def _count(change: int) -> None:
    with _lock:
        active.count += change


class _Mode(ABC):
    """Context manager and decorator; restores what it found on every exit, re-entrant."""

    def __init__(self) -> None:
        self._outer: list[tuple[bool, bool]] = []

    @abstractmethod
    def _inner(self) -> tuple[bool, bool]:
        """(recording, inference) inside the block."""

    def __enter__(self) -> None:
        self._outer.append((state.grad, state.inference))
        _set(*self._inner())

    def __exit__(self, *_: object) -> None:
        _set(*self._outer.pop())

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def inside(*args: Any, **kwargs: Any) -> Any:
            with self._again():
                return function(*args, **kwargs)

        @functools.wraps(function)
        def steps_inside(*args: Any, **kwargs: Any) -> Any:
            return self._drive(function(*args, **kwargs))

        return steps_inside if inspect.isgeneratorfunction(function) else inside

    def _drive(self, steps: Generator[Any, Any, Any]) -> Generator[Any, Any, Any]:
        """Each step of a generator runs inside; what its user does between the steps does not."""
        proceed = functools.partial(next, steps)
        while True:
            try:
                with self._again():
                    produced = proceed()
            except StopIteration as end:
                return end.value
            try:
                proceed = functools.partial(steps.send, (yield produced))
            except GeneratorExit:
                with self._again():
                    steps.close()
                raise
            except BaseException as thrown:
                proceed = functools.partial(steps.throw, thrown)

    def _again(self) -> _Mode:
        return type(self)()


class _Decorating(_Mode):
    """Lets ``@no_grad`` work without parentheses, as in PyTorch."""

    def __new__(cls, function: Callable[..., Any] | None = None) -> Any:
        mode = super().__new__(cls)
        if function is None:
            return mode
        mode.__init__()  # type: ignore[misc]
        return mode(function)

    def __init__(self, function: Callable[..., Any] | None = None) -> None:
        super().__init__()


class no_grad(_Decorating):
    """Record nothing inside: results do not require grad."""

    def _inner(self) -> tuple[bool, bool]:
        return False, state.inference


class enable_grad(_Decorating):
    """Record inside a ``no_grad`` block."""

    def _inner(self) -> tuple[bool, bool]:
        return True, state.inference


class set_grad_enabled(_Mode):
    """Switch recording on or off, at once and until the end of a ``with`` block."""

    def __init__(self, mode: bool) -> None:
        super().__init__()
        self._mode = bool(mode)
        self._before = (state.grad, state.inference)
        _set(*self._inner())

    def _inner(self) -> tuple[bool, bool]:
        return self._mode, state.inference

    def __enter__(self) -> None:
        self._outer.append(self._before)
        _set(*self._inner())

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        _set(*self._before)  # as a decorator it acts only inside the function
        return super().__call__(function)

    def _again(self) -> _Mode:
        return set_grad_enabled(self._mode)


class inference_mode(_Mode):
    """``no_grad``, and the tensors made inside can never take part in autograd."""

    def __new__(cls, mode: Any = True) -> Any:
        made = super().__new__(cls)
        if callable(mode):
            made.__init__(True)  # type: ignore[misc]
            return made(mode)
        return made

    def __init__(self, mode: Any = True) -> None:
        super().__init__()
        self._mode = bool(mode)

    def _inner(self) -> tuple[bool, bool]:
        return (False, True) if self._mode else (True, False)

    def _again(self) -> _Mode:
        again: _Mode = inference_mode(self._mode)
        return again


def is_grad_enabled() -> bool:
    """Whether ops on tensors that require grad are being recorded in this thread."""
    return state.grad


def is_inference_mode_enabled() -> bool:
    """Whether this thread is inside ``inference_mode``."""
    return state.inference


def is_anomaly_enabled() -> bool:
    """Whether this thread is in anomaly mode."""
    return state.watch is not None


def is_anomaly_check_nan_enabled() -> bool:
    """Whether anomaly mode looks at values in this thread, when it is on."""
    return state.check_nan
