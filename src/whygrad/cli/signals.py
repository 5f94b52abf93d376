"""SIGTERM and SIGHUP (Slurm, ``timeout``, a closed terminal): a report before the program dies.

The program dies as it would have: by the same signal, at once, and none of its ``finally`` blocks
runs.  A handler of its own goes before ours, and ours is out of sight: libraries ask whether there
is one before they put theirs.  Processes that the program forks have none.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from whygrad.recording.patching import patched

__all__ = ["Ending", "reporting"]

_get, _set = signal.getsignal, signal.signal
_SIGNALS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]


class Ending:
    """What is done about a signal that ends the program."""

    def __init__(self, report: Callable[[str], None]) -> None:
        self._report = report
        self._process = os.getpid()
        self._waiting: int | None = None  # a signal that came while the report was made
        self.examining = False  # whether the program is over and the report is being made

    def __call__(self, number: int, frame: FrameType | None) -> None:
        _set(number, signal.SIG_DFL)  # whoever sends it again does not want to wait
        if self.examining:
            self._waiting = number
            raise KeyboardInterrupt  # which ends the examination with what is known
        if os.getpid() == self._process:
            with contextlib.suppress(Exception):
                self._report(signal.Signals(number).name)
        os.kill(os.getpid(), number)

    def die(self) -> None:
        """End by the signal that came in the meantime, if one did."""
        if self._waiting is not None:
            os.kill(os.getpid(), self._waiting)


_active: list[Ending] = []


def _in_a_forked_process() -> None:
    for number in _SIGNALS:
        if _active and _get(number) in _active:
            _set(number, signal.SIG_DFL)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_a_forked_process)


@contextmanager
def reporting(report: Callable[[str], None]) -> Iterator[Ending]:
    """While inside, a signal that would end the process makes ``report(its name)`` first."""
    ending = Ending(report)
    if threading.current_thread() is not threading.main_thread():  # nobody else may put handlers
        yield ending
        return

    def shown(handler: Any) -> Any:
        return signal.SIG_DFL if handler is ending else handler

    def getsignal(inner: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        return shown(inner(*args, **kwargs))

    def put(inner: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        before = shown(inner(*args, **kwargs))
        for number in ours:  # the default action is ours
            if _get(number) is signal.SIG_DFL and os.getpid() == process and _active:
                _set(number, ending)
        return before

    ours = [number for number in _SIGNALS if _get(number) is signal.SIG_DFL]
    process = os.getpid()
    _active.append(ending)
    for number in ours:
        _set(number, ending)
    try:
        with patched(signal, "signal", put), patched(signal, "getsignal", getsignal):
            yield ending
    finally:
        _active.remove(ending)
        for number in ours:
            if _get(number) is ending:
                _set(number, signal.SIG_DFL)
