"""The CPU by the questions that programs ask of any device."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from whygrad.refused import refusal

__all__ = [
    "Stream",
    "amp",
    "current_device",
    "current_stream",
    "device_count",
    "is_available",
    "is_initialized",
    "set_device",
    "stream",
    "synchronize",
]


class Stream:
    """The order in which the CPU works: one thing after the other."""

    def __init__(self, priority: int = -1) -> None:
        pass

    def wait_stream(self, stream: Any) -> None:
        """Nothing: what came before is done."""


_only = Stream()


def is_available() -> bool:
    """True."""
    return True


def is_initialized() -> bool:
    """True."""
    return True


def device_count() -> int:
    """1."""
    return 1


def current_device() -> str:
    """``"cpu"``."""
    return "cpu"


def set_device(device: Any) -> None:
    """Nothing: there is one."""


def synchronize(device: Any = None) -> None:
    """Nothing: what was called is done."""


def current_stream(device: Any = None) -> Stream:
    """The only stream."""
    return _only


@contextmanager
def stream(stream: Any) -> Iterator[None]:
    """A block whose work goes to a stream; there is one."""
    yield


def __getattr__(name: str) -> Any:
    if name == "amp":
        return importlib.import_module(f"{__name__}.amp")
    raise refusal("cpu", name)
