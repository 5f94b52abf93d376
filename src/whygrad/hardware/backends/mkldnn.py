"""Intel's library of layers: not there; its switches may be set."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["allow_tf32", "deterministic", "enabled", "flags", "is_available"]

allow_tf32 = True
deterministic = False
enabled = True


def is_available() -> bool:
    """False."""
    return False


@contextmanager
def flags(
    enabled: bool = False, deterministic: bool = False, allow_tf32: bool = True
) -> Iterator[None]:
    """Other switches inside a block."""
    here = globals()
    before = {name: here[name] for name in ("enabled", "deterministic", "allow_tf32")}
    here.update(enabled=enabled, deterministic=deterministic, allow_tf32=allow_tf32)
    try:
        yield
    finally:
        here.update(before)
