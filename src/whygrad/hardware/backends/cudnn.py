"""NVIDIA's library of layers: not there; its switches may be set, as PyTorch allows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = [
    "allow_tf32", "benchmark", "benchmark_limit", "deterministic", "enabled", "flags",
    "is_acceptable", "is_available", "version",
]  # fmt: skip

allow_tf32 = True
benchmark = False
benchmark_limit = 10
deterministic = False
enabled = True


def is_available() -> bool:
    """False."""
    return False


def version() -> int | None:
    """None: there is no version of what is not there."""
    return None


def is_acceptable(tensor: Any) -> bool:
    """False: no tensor is on a GPU."""
    return False


@contextmanager
def flags(
    enabled: bool = False,
    benchmark: bool = False,
    benchmark_limit: int = 10,
    deterministic: bool = False,
    allow_tf32: bool = True,
) -> Iterator[None]:
    """Other switches inside a block."""
    here = globals()
    inside = {
        "enabled": enabled, "benchmark": benchmark, "benchmark_limit": benchmark_limit,
        "deterministic": deterministic, "allow_tf32": allow_tf32,
    }  # fmt: skip
    before = {name: here[name] for name in inside}
    here.update(inside)
    try:
        yield
    finally:
        here.update(before)
