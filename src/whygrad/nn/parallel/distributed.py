"""DistributedDataParallel: refused, with what to write instead."""

from __future__ import annotations

from typing import Any

from whygrad.errors import fail
from whygrad.nn.modules.module import Module

__all__ = ["DistributedDataParallel"]


class DistributedDataParallel(Module):
    """Needs a process group, and there is none here: making one says so."""

    def __init__(self, module: Module, *args: Any, **kwargs: Any) -> None:
        raise fail(
            ValueError,
            call=f"DistributedDataParallel({type(module).__name__}, …)",
            cause="Default process group has not been initialized: whygrad runs in one process and "
            "has no communication between several",
            fix="train the module itself; in a world of one the mean of all gradients is its own",
        )
