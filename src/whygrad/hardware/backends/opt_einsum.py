"""The package opt_einsum: not used; ``einsum`` chooses its order by itself."""

from __future__ import annotations

__all__ = ["enabled", "is_available", "strategy"]

enabled = False
strategy: str | None = None


def is_available() -> bool:
    """False."""
    return False
