"""PyTorch's names for Apple's GPUs, answered as by PyTorch on a machine without one."""

from __future__ import annotations

from whygrad.hardware.missing import absent_class, raising

__all__ = [
    "Event", "current_allocated_memory", "device_count", "driver_allocated_memory", "empty_cache",
    "get_rng_state", "is_available", "manual_seed", "recommended_max_memory", "seed",
    "set_per_process_memory_fraction", "set_rng_state", "synchronize",
]  # fmt: skip

Event = absent_class("mps", "Event")
current_allocated_memory = raising("mps", "current_allocated_memory")
driver_allocated_memory = raising("mps", "driver_allocated_memory")
empty_cache = raising("mps", "empty_cache")
get_rng_state = raising("mps", "get_rng_state")
recommended_max_memory = raising("mps", "recommended_max_memory")
set_per_process_memory_fraction = raising("mps", "set_per_process_memory_fraction")
set_rng_state = raising("mps", "set_rng_state")
synchronize = raising("mps", "synchronize")


def is_available() -> bool:
    """False: everything is computed on the CPU."""
    return False


def device_count() -> int:
    """0."""
    return 0


def manual_seed(seed: int) -> None:
    """Nothing: there is no generator to seed."""


def seed() -> None:
    """Nothing: there is no generator to seed."""
