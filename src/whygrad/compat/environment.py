"""Settings of the whole program that PyTorch has as functions of ``torch``.

Some change what happens here (the number of threads); others are kept because programs set them and
ask for them, and there is nothing to choose: results are always deterministic, and float32 products
are always computed in float32.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Any

from whygrad.errors import describe, fail
from whygrad.tensor import devices

__all__ = [
    "are_deterministic_algorithms_enabled",
    "compile",
    "get_deterministic_debug_mode",
    "get_device_module",
    "get_float32_matmul_precision",
    "get_num_interop_threads",
    "get_num_threads",
    "is_deterministic_algorithms_warn_only_enabled",
    "is_warn_always_enabled",
    "set_deterministic_debug_mode",
    "set_float32_matmul_precision",
    "set_flush_denormal",
    "set_num_interop_threads",
    "set_num_threads",
    "set_warn_always",
    "use_deterministic_algorithms",
]

_DEBUG_MODES = ("default", "warn", "error")
_PRECISIONS = ("highest", "high", "medium")


class _Settings:
    """What was set, for the whole process."""

    deterministic = 0  # a place in _DEBUG_MODES
    precision = "highest"
    warn_always = False
    interop_threads: int | None = None


_settings = _Settings()


# --- threads ----------------------------------------------------------------------------------


def get_num_threads() -> int:
    """How many threads share one op."""
    from whygrad.fast import threads

    return threads.count()


def set_num_threads(num: int) -> None:
    """Let this many threads share one op: in whygrad's own loops and in NumPy's matrix products."""
    from whygrad.fast import threads

    threads.limit(_positive("set_num_threads", num))


def get_num_interop_threads() -> int:
    """How many ops PyTorch would run side by side; here one comes after the other."""
    return get_num_threads() if _settings.interop_threads is None else _settings.interop_threads


def set_num_interop_threads(num: int) -> None:
    """Kept, and without effect: one op runs after the other.  Once only, as in PyTorch."""
    number = _positive("set_num_interop_threads", num)
    if _settings.interop_threads is not None:
        raise fail(
            RuntimeError,
            call=f"set_num_interop_threads({num})",
            cause="cannot set number of interop threads after set_num_interop_threads called",
            fix="set it once, at the start of the program",
        )
    _settings.interop_threads = number


def _positive(name: str, num: Any) -> int:
    if isinstance(num, int) and not isinstance(num, bool) and num > 0:
        return num
    raise fail(
        RuntimeError,
        call=f"{name}({num!r})",
        cause=f"{name} expects a positive integer, but got {describe(num)}",
        fix="pass 1 or more",
    )


# --- determinism ------------------------------------------------------------------------------


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Kept, and without effect: the same program gives the same bits anyway."""
    if not isinstance(mode, bool):
        raise fail(
            TypeError,
            call=f"use_deterministic_algorithms({mode!r})",
            cause=f"argument 'mode' must be bool, not {type(mode).__name__}",
            fix="pass True or False",
        )
    _settings.deterministic = (1 if warn_only else 2) if mode else 0


def are_deterministic_algorithms_enabled() -> bool:
    """Whether ``use_deterministic_algorithms(True)`` was called."""
    return _settings.deterministic > 0


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Whether it was called with ``warn_only=True``."""
    return _settings.deterministic == 1


def get_deterministic_debug_mode() -> int:
    """0, 1 or 2: nothing, a warning or an error where an op is not deterministic."""
    return _settings.deterministic


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """``"default"``, ``"warn"`` or ``"error"``, or their number."""
    if not isinstance(debug_mode, (int, str)):
        raise fail(
            TypeError,
            call=f"set_deterministic_debug_mode({debug_mode!r})",
            cause=f"debug_mode must be str or int, but got {type(debug_mode).__name__}",
            fix="pass 'default', 'warn' or 'error'",
        )
    known = _DEBUG_MODES if isinstance(debug_mode, str) else range(3)
    if debug_mode not in known:
        raise fail(
            RuntimeError,
            call=f"set_deterministic_debug_mode({debug_mode!r})",
            cause=f"invalid value of debug_mode, expected one of {', '.join(map(str, known))}",
            fix="pass 'default', 'warn' or 'error'",
        )
    number = _DEBUG_MODES.index(debug_mode) if isinstance(debug_mode, str) else int(debug_mode)
    _settings.deterministic = number


# --- precision --------------------------------------------------------------------------------


def get_float32_matmul_precision() -> str:
    """What was set; products of float32 matrices are computed in float32 anyway."""
    return _settings.precision


def set_float32_matmul_precision(precision: str) -> None:
    """Kept, and without effect: it lets a GPU round float32 products to fewer bits."""
    if precision not in _PRECISIONS:
        warnings.warn(
            f"{precision!r} is not one of 'highest', 'high' or 'medium': nothing changes",
            UserWarning,
            stacklevel=2,
        )
        return
    _settings.precision = precision


def set_flush_denormal(mode: bool) -> bool:
    """False: NumPy keeps the smallest numbers as they are, and this cannot be changed."""
    return False


def set_warn_always(b: bool) -> None:
    """Kept, and without effect: Python's ``warnings`` decides how often a warning is shown."""
    _settings.warn_always = bool(b)


def is_warn_always_enabled() -> bool:
    """What ``set_warn_always`` was told."""
    return _settings.warn_always


# --- devices and compilers --------------------------------------------------------------------


def get_device_module(device: Any = None) -> ModuleType:
    """``whygrad.cpu`` for the CPU, ``whygrad.cuda`` for CUDA, …"""
    kind = "cpu" if device is None else devices.Device(device).type
    if kind in ("cpu", "cuda", "mps", "xpu"):
        return importlib.import_module(f"whygrad.{kind}")
    raise fail(
        RuntimeError,
        call=f"get_device_module({kind!r})",
        cause=f"Device {kind!r} does not have a corresponding module",
        fix="there are modules for cpu, cuda, mps and xpu",
    )


def compile(
    model: Callable[..., Any] | None = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: Any = "inductor",
    mode: str | None = None,
    options: Any = None,
    disable: bool = False,
    **further: Any,
) -> Any:
    """The function or module itself: programs run as they are, and give what they would give.

    As ``@compile`` or ``@compile(mode=…)``, too; none of the options changes anything.
    """
    if model is None:
        return compile
    if not callable(model):
        raise fail(
            AssertionError,
            call=f"compile({describe(model)})",
            cause=f"A callable function is expected, but {type(model).__name__} is provided",
            fix="pass a function or a module",
        )
    return model
