"""Memory that died is used again.

For large arrays the cost of an op is fresh memory, not arithmetic.  By default glibc gives freed
memory back to the system as soon as a few hundred kilobytes are free at the end of the heap, and
the next array has to be mapped in again, page by page: that alone can triple the time of a step.
Here glibc is told to keep up to 64 MB, once the process computes with whygrad: a program that only
has it imported, such as one of PyTorch's that the doctor watches, keeps the allocator it had.  Who
has set its own variables for this is left alone.
"""

from __future__ import annotations

import ctypes
import os
import sys

__all__ = ["keep_freed_memory"]

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # of glibc's mallopt()
_KEPT = 64 * 2**20
_LARGEST = 32 * 2**20  # what glibc accepts; larger arrays are mapped on their own


def keep_freed_memory() -> None:
    """Ask the allocator of this process to keep what is freed, where there is one to ask."""
    chosen = {"MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "GLIBC_TUNABLES"} & set(
        os.environ
    )
    if chosen or not sys.platform.startswith("linux"):
        return
    try:
        mallopt = ctypes.pythonapi.mallopt  # every symbol of the process, not only Python's
    except (AttributeError, OSError):  # another C library
        return
    mallopt(_TRIM_THRESHOLD, _KEPT)
    mallopt(_MMAP_THRESHOLD, _LARGEST)
