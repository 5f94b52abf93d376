"""The questions that scripts ask about GPUs, with the answer that there are none.

``device = "cuda" if torch.cuda.is_available() else "cpu"`` runs with the import swapped.
"""

from __future__ import annotations

__all__ = ["device_count", "empty_cache", "is_available", "manual_seed", "manual_seed_all"]


def is_available() -> bool:
    """False: everything is computed on the CPU."""
    return False


def device_count() -> int:
    """0."""
    return 0


def manual_seed(seed: int) -> None:
    """Nothing: there is no generator to seed.  As in PyTorch without a GPU."""


def manual_seed_all(seed: int) -> None:
    """Nothing: there are no generators to seed.  As in PyTorch without a GPU."""


def empty_cache() -> None:
    """Nothing: there is no cache to empty."""
