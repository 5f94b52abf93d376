"""What ``autocast`` is set to in this thread, by kind of device.

Only the CPU computes here, so only its switch changes anything; those of other devices are kept for
programs that ask.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from whygrad.errors import fail
from whygrad.tensor import Tensor, devices, dtypes, keys, modes

__all__ = [
    "autocast_decrement_nesting",
    "autocast_increment_nesting",
    "clear_autocast_cache",
    "get_autocast_cpu_dtype",
    "get_autocast_dtype",
    "get_autocast_gpu_dtype",
    "is_autocast_cache_enabled",
    "is_autocast_cpu_enabled",
    "is_autocast_enabled",
    "set_autocast_cache_enabled",
    "set_autocast_cpu_dtype",
    "set_autocast_cpu_enabled",
    "set_autocast_dtype",
    "set_autocast_enabled",
    "set_autocast_gpu_dtype",
    "surroundings",
]

# Kinds of device that PyTorch can autocast on, and the precision they have at first.
_FIRST_DTYPE = {
    "cpu": dtypes.bfloat16,
    "cuda": dtypes.float16,
    "hpu": dtypes.bfloat16,
    "ipu": dtypes.float16,
    "maia": dtypes.bfloat16,
    "mps": dtypes.float16,
    "mtia": dtypes.bfloat16,
    "privateuseone": dtypes.float16,
    "xla": dtypes.bfloat16,
    "xpu": dtypes.float16,
}


class _State(threading.local):
    def __init__(self) -> None:
        self.elsewhere: dict[str, bool] = {}  # switched on for devices that are not here
        self.dtype: dict[str, Any] = {}
        self.keeps_casts = True
        self.nesting = 0
        # Casts of leaves, by the identity of the leaf: (leaf, version, cast).
        self.casts: dict[int, tuple[Tensor, int, Tensor]] = {}


state = _State()


def _checked(device_type: Any, call: str) -> str:
    name = devices.Device(device_type).type
    if name in _FIRST_DTYPE:
        return name
    raise fail(
        RuntimeError,
        call=f"{call}({name!r})",
        cause=f"there is no autocast on {name}",
        fix="use 'cpu'",
    )


def is_autocast_enabled(device_type: str = "cuda") -> bool:
    """Whether this thread is inside ``autocast`` for this kind of device."""
    name = _checked(device_type, "is_autocast_enabled")
    if name == "cpu":
        return bool(modes.state.added & keys.AUTOCAST)
    return state.elsewhere.get(name, False)


def set_autocast_enabled(device_type: Any, enabled: bool | None = None) -> None:
    """Switch ``autocast`` on or off; better use it as a context, which restores what it found."""
    if enabled is None:
        device_type, enabled = "cuda", device_type
    name = _checked(device_type, "set_autocast_enabled")
    if name == "cpu":
        modes.set_autocast(bool(enabled))
    else:
        state.elsewhere[name] = bool(enabled)


def get_autocast_dtype(device_type: str) -> Any:
    """The lower precision of ``autocast`` for this kind of device."""
    name = _checked(device_type, "get_autocast_dtype")
    return state.dtype.get(name, _FIRST_DTYPE[name])


def set_autocast_dtype(device_type: str, dtype: Any) -> None:
    """Choose the lower precision of ``autocast`` for this kind of device."""
    state.dtype[_checked(device_type, "set_autocast_dtype")] = dtype


def is_autocast_cpu_enabled() -> bool:
    """``is_autocast_enabled("cpu")``."""
    return is_autocast_enabled("cpu")


def set_autocast_cpu_enabled(enabled: bool) -> None:
    """``set_autocast_enabled("cpu", enabled)``."""
    set_autocast_enabled("cpu", enabled)


def get_autocast_cpu_dtype() -> Any:
    """``get_autocast_dtype("cpu")``."""
    return get_autocast_dtype("cpu")


def set_autocast_cpu_dtype(dtype: Any) -> None:
    """``set_autocast_dtype("cpu", dtype)``."""
    set_autocast_dtype("cpu", dtype)


def get_autocast_gpu_dtype() -> Any:
    """``get_autocast_dtype("cuda")``."""
    return get_autocast_dtype("cuda")


def set_autocast_gpu_dtype(dtype: Any) -> None:
    """``set_autocast_dtype("cuda", dtype)``."""
    set_autocast_dtype("cuda", dtype)


def is_autocast_cache_enabled() -> bool:
    """Whether the cast of a parameter is kept until the outermost ``autocast`` ends."""
    return state.keeps_casts


def set_autocast_cache_enabled(enabled: bool) -> None:
    """Whether to keep the cast of a parameter until the outermost ``autocast`` ends."""
    state.keeps_casts = bool(enabled)


def clear_autocast_cache() -> None:
    """Forget the casts of parameters."""
    state.casts.clear()


def autocast_increment_nesting() -> int:
    """Enter one more ``autocast``; returns how many are open."""
    state.nesting += 1
    return state.nesting


def autocast_decrement_nesting() -> int:
    """Leave one ``autocast``; returns how many are still open."""
    state.nesting -= 1
    return state.nesting


def surroundings() -> Callable[[], AbstractContextManager[None]]:
    """The ``autocast`` around this moment, to be put around a later one.

    Casts of parameters are not shared with what is outside: the block does the same work whenever
    it runs.
    """
    enabled, dtype = is_autocast_enabled("cpu"), get_autocast_dtype("cpu")

    @contextmanager
    def as_it_was() -> Iterator[None]:
        before, casts = (is_autocast_enabled("cpu"), get_autocast_dtype("cpu")), state.casts
        modes.set_autocast(enabled)
        state.dtype["cpu"], state.casts = dtype, {}
        state.nesting += 1
        try:
            yield
        finally:
            state.nesting -= 1
            modes.set_autocast(before[0])
            state.dtype["cpu"], state.casts = before[1], casts

    return as_it_was
