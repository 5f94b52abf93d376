"""What the numbers are computed with, in words."""

from __future__ import annotations

import numpy

__all__ = ["parallel_info", "show"]


def show() -> str:
    """NumPy and the library behind its matrix products."""
    blas = numpy.show_config(mode="dicts")["Build Dependencies"]["blas"]
    return f"whygrad computes with:\n  - NumPy {numpy.__version__}\n  - {blas['name']}\n"


def parallel_info() -> str:
    """How many threads there are."""
    from whygrad.compat.environment import get_num_threads

    return f"threads that share one op: {get_num_threads()}\n"
