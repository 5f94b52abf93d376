"""The questions for any accelerator, answered as on a machine without one."""

from __future__ import annotations

from whygrad.hardware.missing import raising

__all__ = [
    "current_accelerator", "current_device_index", "current_stream", "device_count", "empty_cache",
    "is_available", "max_memory_allocated", "memory_allocated", "set_device_index", "set_stream",
    "synchronize",
]  # fmt: skip

current_device_index = raising("accelerator", "current_device_index")
current_stream = raising("accelerator", "current_stream")
empty_cache = raising("accelerator", "empty_cache")
max_memory_allocated = raising("accelerator", "max_memory_allocated")
memory_allocated = raising("accelerator", "memory_allocated")
set_device_index = raising("accelerator", "set_device_index")
set_stream = raising("accelerator", "set_stream")
synchronize = raising("accelerator", "synchronize")


def is_available() -> bool:
    """False: everything is computed on the CPU."""
    return False


def device_count() -> int:
    """0."""
    return 0


def current_accelerator(check_available: bool = False) -> None:
    """None."""
