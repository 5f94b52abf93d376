"""Intel's mathematical library: whygrad computes with whatever NumPy was built with."""

from __future__ import annotations

__all__ = ["is_available"]


def is_available() -> bool:
    """False."""
    return False
