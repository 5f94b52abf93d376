"""Steps of optimizers as one loop per parameter, where whole arrays would need a dozen passes.

These loops compute the same bits as the rule they stand for, so nobody can tell which of the two
ran, and small parameters may take the loop as soon as it is there for the sake of a large one.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from whygrad.fast import available
from whygrad.fast.kernels import LEAST, loops
from whygrad.fast.threads import shared

__all__ = ["stepped"]

_installed = lru_cache(1)(available)


def stepped(name: str, numbers: tuple[float, ...], operands: list[Any]) -> bool:
    """Run the loop ``name`` on a parameter, its gradient and its state; False if it cannot."""
    size = operands[0].size
    if not _installed() or (size < LEAST and not loops.cache_info().currsize):
        return False
    if not all(each.flags.c_contiguous for each in operands):
        return False
    shared(getattr(loops(), name), size, *[each.reshape(-1) for each in operands], rest=numbers)
    return True
