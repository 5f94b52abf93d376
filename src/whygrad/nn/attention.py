"""Which implementation of attention may run: names that programs for a GPU use.

There is one implementation here, and it is exact; choosing among PyTorch's changes nothing as long
as one that a CPU has is among them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum
from typing import Any

from whygrad.errors import fail

__all__ = ["SDPBackend", "sdpa_kernel"]


class SDPBackend(IntEnum):
    """PyTorch's implementations of scaled dot-product attention."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


_ON_A_CPU = {SDPBackend.MATH, SDPBackend.FLASH_ATTENTION}


@contextmanager
def sdpa_kernel(backends: Any, set_priority: bool = False) -> Iterator[dict[str, Any]]:
    """Allow only these implementations inside the ``with`` block."""
    chosen = [backends] if isinstance(backends, SDPBackend) else list(backends)
    if not _ON_A_CPU.intersection(chosen):
        raise fail(
            RuntimeError,
            call=f"sdpa_kernel({[SDPBackend(each).name for each in chosen]})",
            cause="No viable backend for scaled_dot_product_attention was found: these need a GPU",
            fix="allow SDPBackend.MATH, too",
        )
    yield {}
