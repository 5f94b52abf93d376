"""Which array takes a fused kernel: decided by its size, dtype and memory order alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from whygrad.dispatch import register
from whygrad.ops.define import table
from whygrad.ops.namespace import raw
from whygrad.tensor import keys

__all__ = ["FLOATS", "faster", "register_all"]

Kernel = Callable[..., Any]

SINGLE = np.dtype(np.float32)
FLOATS = (SINGLE, np.dtype(np.float64))

_offers: list[tuple[str, Kernel, int, tuple[Any, ...]]] = []


def faster(name: str, least: int, dtypes: tuple[Any, ...] = FLOATS) -> Callable[[Kernel], Kernel]:
    """Offer a kernel in place of the op or kernel ``name``.

    It is asked if the first argument has at least ``least`` elements in C order and one of the
    ``dtypes``; it takes the arguments of the reference and returns None if others do not suit it.
    """

    def add(kernel: Kernel) -> Kernel:
        _offers.append((name, kernel, least, dtypes))
        return kernel

    return add


def register_all() -> None:
    """Put every kernel that was offered where the dispatcher and the rules find it."""
    from whygrad.fast import kernels  # noqa: F401  (makes the offers)

    for name, kernel, least, dtypes in _offers:
        chosen = _choice(kernel, getattr(raw, name), least, dtypes)
        setattr(raw, name, chosen)
        if name in table:
            for dtype in dtypes:
                register(table[name], keys.CPU | keys.DTYPE_BITS[dtype.name], chosen)


def _choice(kernel: Kernel, reference: Kernel, least: int, dtypes: tuple[Any, ...]) -> Kernel:
    def choose(x: Any, *rest: Any) -> Any:
        if x.size >= least and x.flags.c_contiguous and x.dtype in dtypes:
            answer = kernel(x, *rest)
            if answer is not None:
                return answer
        return reference(x, *rest)

    choose.__name__ = f"{kernel.__name__}_or_reference"
    choose.kernel, choose.reference = kernel, reference  # type: ignore[attr-defined]
    return choose
