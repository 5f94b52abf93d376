"""PyTorch's names for Intel's GPUs, answered as by PyTorch on a machine without one."""

from __future__ import annotations

from whygrad.hardware.cuda import (
    device_count,
    empty_cache,
    get_arch_list,
    get_rng_state_all,
    is_available,
    is_bf16_supported,
    is_initialized,
    manual_seed,
    manual_seed_all,
    seed,
    seed_all,
    set_rng_state_all,
)
from whygrad.hardware.missing import absent_class, raising

__all__ = [
    "Event", "Stream", "current_device", "current_stream", "device_count", "empty_cache",
    "get_arch_list", "get_device_capability", "get_device_name", "get_device_properties",
    "get_rng_state", "get_rng_state_all", "init", "initial_seed", "is_available",
    "is_bf16_supported", "is_initialized", "manual_seed", "manual_seed_all", "mem_get_info",
    "seed", "seed_all", "set_rng_state_all", "synchronize",
]  # fmt: skip

Event = absent_class("xpu", "Event")
Stream = absent_class("xpu", "Stream")
current_device = raising("xpu", "current_device")
current_stream = raising("xpu", "current_stream")
get_device_capability = raising("xpu", "get_device_capability")
get_device_name = raising("xpu", "get_device_name")
get_device_properties = raising("xpu", "get_device_properties")
get_rng_state = raising("xpu", "get_rng_state")
init = raising("xpu", "init")
initial_seed = raising("xpu", "initial_seed")
mem_get_info = raising("xpu", "mem_get_info")
synchronize = raising("xpu", "synchronize")
