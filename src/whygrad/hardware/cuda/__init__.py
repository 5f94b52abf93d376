"""PyTorch's names for GPUs, answered as by PyTorch on a machine without one.

``device = "cuda" if torch.cuda.is_available() else "cpu"`` runs with the import swapped.  Questions
and settings are answered; what needs a GPU raises an error that says so.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from whygrad.hardware.missing import absent, absent_class, raising
from whygrad.refused import refusal
from whygrad.tensor import Tensor

CUDAGraph = absent_class("cuda", "CUDAGraph")
Event = absent_class("cuda", "Event")
ExternalStream = absent_class("cuda", "ExternalStream")
Stream = absent_class("cuda", "Stream")
can_device_access_peer = raising("cuda", "can_device_access_peer")
current_blas_handle = raising("cuda", "current_blas_handle")
current_device = raising("cuda", "current_device")
current_stream = raising("cuda", "current_stream")
cudart = raising("cuda", "cudart")
default_stream = raising("cuda", "default_stream")
get_device_capability = raising("cuda", "get_device_capability")
get_device_name = raising("cuda", "get_device_name")
get_device_properties = raising("cuda", "get_device_properties")
get_rng_state = raising("cuda", "get_rng_state")
init = raising("cuda", "init")
initial_seed = raising("cuda", "initial_seed")
ipc_collect = raising("cuda", "ipc_collect")
mem_get_info = raising("cuda", "mem_get_info")
memory_snapshot = raising("cuda", "memory_snapshot")
memory_summary = raising("cuda", "memory_summary")
set_per_process_memory_fraction = raising("cuda", "set_per_process_memory_fraction")
set_sync_debug_mode = raising("cuda", "set_sync_debug_mode")
synchronize = raising("cuda", "synchronize")
utilization = raising("cuda", "utilization")

default_generators: tuple[Any, ...] = ()
has_half = False
has_magma = False

_TYPES = (
    "BFloat16Tensor", "BoolTensor", "ByteTensor", "CharTensor", "DoubleTensor", "FloatTensor",
    "HalfTensor", "IntTensor", "LongTensor", "ShortTensor",
)  # fmt: skip
_MODULES = ("amp", "nvtx")
_by_hand = [
    "CUDAGraph", "CudaError", "Event", "ExternalStream", "OutOfMemoryError", "Stream",
    "can_device_access_peer", "cudart", "current_blas_handle", "current_device", "current_stream",
    "default_generators", "default_stream", "device", "device_count", "device_of", "empty_cache",
    "get_arch_list", "get_device_capability", "get_device_name", "get_device_properties",
    "get_gencode_flags", "get_rng_state", "get_rng_state_all", "has_half", "has_magma", "init",
    "initial_seed", "ipc_collect", "is_available", "is_bf16_supported", "is_initialized",
    "is_tf32_supported", "manual_seed", "manual_seed_all", "max_memory_allocated",
    "max_memory_cached", "max_memory_reserved", "mem_get_info", "memory_allocated",
    "memory_cached", "memory_reserved", "memory_snapshot", "memory_stats", "memory_summary",
    "reset_accumulated_memory_stats", "reset_max_memory_allocated", "reset_max_memory_cached",
    "reset_peak_memory_stats", "seed", "seed_all", "set_device",
    "set_per_process_memory_fraction", "set_rng_state", "set_rng_state_all", "set_stream",
    "set_sync_debug_mode", "stream", "synchronize", "utilization",
]  # fmt: skip
__all__ = sorted([*_by_hand, *_MODULES, *_TYPES])


class CudaError(RuntimeError):
    """Never raised; for ``except`` clauses."""


class OutOfMemoryError(RuntimeError):
    """Never raised; for ``except`` clauses."""


def is_available() -> bool:
    """False: everything is computed on the CPU."""
    return False


def is_initialized() -> bool:
    """False."""
    return False


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """False: there is no GPU that could."""
    return False


def is_tf32_supported() -> bool:
    """False: there is no GPU that could."""
    return False


def device_count() -> int:
    """0."""
    return 0


def get_arch_list() -> list[str]:
    """No architectures."""
    return []


def get_gencode_flags() -> str:
    """No flags."""
    return ""


def manual_seed(seed: int) -> None:
    """Nothing: there is no generator to seed."""


def manual_seed_all(seed: int) -> None:
    """Nothing: there are no generators to seed."""


def seed() -> None:
    """Nothing: there is no generator to seed."""


def seed_all() -> None:
    """Nothing: there are no generators to seed."""


def get_rng_state_all() -> list[Tensor]:
    """The states of no generators."""
    return []


def set_rng_state(new_state: Tensor, device: Any = "cuda") -> None:
    """Nothing: there is no generator."""


def set_rng_state_all(new_states: Iterable[Tensor]) -> None:
    """Nothing: there are no generators."""


def empty_cache() -> None:
    """Nothing: there is no cache to empty."""


def _no_bytes(name: str) -> Any:
    def amount(device: Any = None) -> int:
        """0: no memory of a GPU is in use."""
        return 0

    amount.__name__ = amount.__qualname__ = name
    return amount


max_memory_allocated = _no_bytes("max_memory_allocated")
max_memory_cached = _no_bytes("max_memory_cached")
max_memory_reserved = _no_bytes("max_memory_reserved")
memory_allocated = _no_bytes("memory_allocated")
memory_cached = _no_bytes("memory_cached")
memory_reserved = _no_bytes("memory_reserved")


def memory_stats(device: Any = None) -> dict[str, Any]:
    """No statistics."""
    return {}


def reset_peak_memory_stats(device: Any = None) -> None:
    """Nothing: the statistics are 0 and stay so."""


reset_accumulated_memory_stats = reset_peak_memory_stats
reset_max_memory_allocated = reset_peak_memory_stats
reset_max_memory_cached = reset_peak_memory_stats


def set_device(device: Any) -> None:
    """Raises for a GPU; a negative number means none, and is fine."""
    if not isinstance(device, int) or device >= 0:
        raise absent(f"set_device({device!r})", "cuda")


class device:
    """A block in which a GPU is the current one: raises when it is entered, but for ``-1``."""

    def __init__(self, device: Any) -> None:
        self.idx = device

    def __enter__(self) -> None:
        if self.idx is not None:
            set_device(self.idx)

    def __exit__(self, *_: object) -> None:
        pass


class device_of(device):
    """A block on the GPU of a tensor; no tensor is on one, so nothing happens."""

    def __init__(self, obj: Any) -> None:
        super().__init__(None)


@contextmanager
def stream(stream: Any) -> Iterator[None]:
    """A block whose work goes to a stream; there are none to pass but None, which does nothing."""
    yield


def set_stream(stream: Any) -> None:
    """Nothing for None; there are no streams to pass."""


def __getattr__(name: str) -> Any:
    if name in _TYPES:
        from whygrad.ops.public.legacy import tensor_type

        return tensor_type(name, "cuda")
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    raise refusal("cuda", name)
