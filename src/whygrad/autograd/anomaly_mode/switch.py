"""Turning anomaly mode on and off: per thread, restored on every exit."""

from __future__ import annotations

from typing import Any

from whygrad.autograd import engine
from whygrad.autograd.anomaly_mode.walk import WatchfulWalk
from whygrad.autograd.anomaly_mode.watch import Watch
from whygrad.dispatch import interception
from whygrad.errors import fail
from whygrad.tensor import modes
from whygrad.threads import PerThread

__all__ = ["detect_anomaly", "report", "set_anomaly_enabled", "set_detect_anomaly"]


class _Last(PerThread):
    watch: Watch | None = None  # for report(), when the mode is off again


_last = _Last()
Setting = tuple[Watch | None, bool]  # who looks, and whether at values


def _setting() -> Setting:
    return modes.state.watch, modes.state.check_nan


def _use(setting: Setting) -> None:
    watch, check_nan = setting
    modes.state.watch = watch
    modes.state.check_nan = check_nan
    _last.watch = watch or _last.watch
    engine.chosen.walk = engine.Walk if watch is None else WatchfulWalk
    interception.watch(watch)


def _require_bools(call: str, **values: Any) -> None:
    for name, value in values.items():
        if not isinstance(value, bool):
            raise fail(
                TypeError,
                call=f"{call}({name}={value!r})",
                cause=f"argument '{name}' must be bool, not {type(value).__name__}",
                fix="pass True or False",
            )


class detect_anomaly:
    """Inside the ``with`` block, say who made a NaN or Inf that reaches a loss or a gradient.

    ``check_nan=False`` looks at no values; what remains is the forward stack in errors and the
    check that saved values still are what they were.  ``allow_inf=True`` lets infinite losses and
    gradients pass.  The block gets a :class:`Watch`, whose ``report()`` lists what was harmless.
    """

    def __init__(self, check_nan: bool = True, *, allow_inf: bool = False) -> None:
        _require_bools("detect_anomaly", check_nan=check_nan, allow_inf=allow_inf)
        self._watch = Watch(check_nan, allow_inf)
        self._outer: list[Setting] = []

    def __enter__(self) -> Watch:
        self._outer.append(_setting())
        _use((self._watch, self._watch.check_nan))
        return self._watch

    def __exit__(self, *_: object) -> None:
        _use(self._outer.pop())


class set_detect_anomaly:
    """Switch anomaly mode on or off, at once; as a ``with`` block, until its end."""

    def __init__(self, mode: bool, check_nan: bool = True, *, allow_inf: bool = False) -> None:
        _require_bools("set_detect_anomaly", mode=mode, check_nan=check_nan, allow_inf=allow_inf)
        self._outer = _setting()
        _use((Watch(check_nan, allow_inf) if mode else None, check_nan))

    def __enter__(self) -> Watch | None:
        watch: Watch | None = modes.state.watch
        return watch

    def __exit__(self, *_: object) -> None:
        _use(self._outer)


def set_anomaly_enabled(enabled: bool, check_nan: bool = True) -> None:
    """Switch anomaly mode on or off, for good."""
    set_detect_anomaly(enabled, check_nan)


def report() -> str:
    """What this thread's anomaly mode noted last, and whether it did harm."""
    return (_last.watch or Watch(True, False)).report()
