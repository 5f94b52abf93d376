"""Fused kernels for large arrays, where Numba is installed (``pip install whygrad[fast]``).

The NumPy kernel of an op is its reference and computes everything small, strided or unusual.  Where
it would go through a large array several times, a loop of :mod:`~whygrad.fast.loops` goes through
it once: :mod:`~whygrad.fast.kernels` says for which ops and from which size on.  The size alone
decides, so that a program gives the same result whether or not a loop has been compiled before.

Numba takes about a second and a hundred megabytes to load, and is not loaded before the first array
that is large enough.  ``whygrad.fast.load()`` loads it beforehand.
``WHYGRAD_FAST=0`` in the environment switches all of this off.
"""

from __future__ import annotations

import os
from importlib.util import find_spec

from whygrad.dispatch.routes import before_first_op
from whygrad.fast.allocator import keep_freed_memory

__all__ = ["available", "install", "load"]


def available() -> bool:
    """Whether Numba is there and not switched off."""
    return os.environ.get("WHYGRAD_FAST", "1") != "0" and find_spec("numba") is not None


def install() -> None:
    """Prepare for large arrays: memory that is used again, and the fused kernels if available."""
    before_first_op.append(keep_freed_memory)
    if available():
        from whygrad.fast.choice import register_all

        register_all()


def load() -> bool:
    """Load Numba now, if it is available, so that the first large array does not wait for it."""
    if not available():
        return False
    import numpy as np

    from whygrad.fast.kernels import loops

    loops().gelu(np.zeros(1, np.float32), np.empty(1, np.float32))
    return True
