"""Switches of computing on NVIDIA's GPUs: they keep what is set, and decide nothing here.

Which implementation of attention runs is such a switch, too; on the CPU there is one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = [
    "cudnn_sdp_enabled", "enable_cudnn_sdp", "enable_flash_sdp", "enable_math_sdp",
    "enable_mem_efficient_sdp", "flash_sdp_enabled", "is_built", "is_flash_attention_available",
    "math_sdp_enabled", "matmul", "mem_efficient_sdp_enabled", "preferred_linalg_library",
    "sdp_kernel",
]  # fmt: skip


class MatmulSwitches:
    """How a GPU may round in matrix products."""

    allow_bf16_reduced_precision_reduction: bool = True
    allow_fp16_accumulation: bool = False
    allow_fp16_reduced_precision_reduction: bool = True
    allow_tf32: bool = False
    fp32_precision: str = "none"


matmul = MatmulSwitches()
_attention = {"flash": True, "mem_efficient": True, "math": True, "cudnn": True}


def is_built() -> bool:
    """False."""
    return False


def is_flash_attention_available() -> bool:
    """False."""
    return False


def flash_sdp_enabled() -> bool:
    """Whether flash attention may be chosen."""
    return _attention["flash"]


def mem_efficient_sdp_enabled() -> bool:
    """Whether memory-efficient attention may be chosen."""
    return _attention["mem_efficient"]


def math_sdp_enabled() -> bool:
    """Whether attention by its formula may be chosen."""
    return _attention["math"]


def cudnn_sdp_enabled() -> bool:
    """Whether cuDNN's attention may be chosen."""
    return _attention["cudnn"]


def enable_flash_sdp(enabled: bool) -> None:
    """Whether flash attention may be chosen."""
    _attention["flash"] = bool(enabled)


def enable_mem_efficient_sdp(enabled: bool) -> None:
    """Whether memory-efficient attention may be chosen."""
    _attention["mem_efficient"] = bool(enabled)


def enable_math_sdp(enabled: bool) -> None:
    """Whether attention by its formula may be chosen."""
    _attention["math"] = bool(enabled)


def enable_cudnn_sdp(enabled: bool) -> None:
    """Whether cuDNN's attention may be chosen."""
    _attention["cudnn"] = bool(enabled)


@contextmanager
def sdp_kernel(
    enable_flash: bool = True,
    enable_math: bool = True,
    enable_mem_efficient: bool = True,
    enable_cudnn: bool = True,
) -> Iterator[None]:
    """Other switches of attention inside a block."""
    before = dict(_attention)
    _attention.update(
        flash=enable_flash, math=enable_math, mem_efficient=enable_mem_efficient,
        cudnn=enable_cudnn,
    )  # fmt: skip
    try:
        yield
    finally:
        _attention.update(before)


def preferred_linalg_library(backend: str | None = None) -> str:
    """The library for linear algebra on a GPU: always the default one."""
    return "default"
