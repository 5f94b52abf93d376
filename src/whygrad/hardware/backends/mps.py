"""Apple's GPUs: not there."""

from __future__ import annotations

__all__ = ["is_available", "is_built"]


def is_available() -> bool:
    """False."""
    return False


def is_built() -> bool:
    """False."""
    return False
