"""The threads of the library behind NumPy's matrix products.

NumPy has no function for it, but the library has: OpenBLAS, which NumPy's and SciPy's wheels bring,
exports ``openblas_set_num_threads``, with a prefix and a suffix that depend on how it was built.
Another library is left as it is.
"""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from typing import Any

__all__ = ["set_threads", "thread_counts"]

_NAMES = [
    f"{prefix}openblas_{{}}_num_threads{suffix}"
    for prefix in ("", "scipy_")
    for suffix in ("", "64_", "_64", "_")
]


def _libraries() -> list[Any]:
    """The copies of OpenBLAS that this process has loaded."""
    maps = Path("/proc/self/maps")
    if maps.exists():
        lines = maps.read_text(encoding="utf-8", errors="replace").splitlines()
        paths = {line.split(maxsplit=5)[-1] for line in lines if "openblas" in line}
    else:
        import numpy

        folder = Path(numpy.__file__).parent
        places = (folder.parent / "numpy.libs", folder / ".dylibs")
        paths = {str(path) for place in places for path in place.glob("*openblas*")}
    return [ctypes.CDLL(path) for path in sorted(paths) if os.path.exists(path)]


def set_threads(number: int) -> None:
    """Let matrix products use this many threads, where the library can be told."""
    for library in _libraries():
        for name in _NAMES:
            function = getattr(library, name.format("set"), None)
            if function is not None:
                function.argtypes, function.restype = [ctypes.c_int], None
                function(number)
                break


def thread_counts() -> list[int]:
    """How many threads each copy of the library uses."""
    found = []
    for library in _libraries():
        for name in _NAMES:
            function = getattr(library, name.format("get"), None)
            if function is not None:
                function.argtypes, function.restype = [], ctypes.c_int
                found.append(int(function()))
                break
    return found
