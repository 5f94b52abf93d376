"""OpenMP: whygrad shares its loops among threads of its own."""

from __future__ import annotations

__all__ = ["is_available"]


def is_available() -> bool:
    """False."""
    return False
