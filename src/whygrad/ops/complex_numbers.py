"""What derivative rules need to know of complex numbers.

A complex gradient is PyTorch's: ∂L/∂Re z + i·∂L/∂Im z for a real loss L, the direction of steepest
ascent.  A rule of a holomorphic op is written as for real numbers, and the engine conjugates around
it; the few ops that are not holomorphic (``abs``, ``sgn``, ``real``, ``conj``, …) write their rules
with what is here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from whygrad.tensor.dtypes import DType

if TYPE_CHECKING:
    from whygrad.ops.namespace import Namespace

__all__ = ["is_complex", "real_product"]

Array = Any


def is_complex(value: Array) -> bool:
    """Of an array or a tensor."""
    dtype = value.dtype
    return dtype.is_complex if isinstance(dtype, DType) else dtype.kind == "c"


def real_product(xp: Namespace, a: Array, b: Array) -> Array:
    """Re(a·b̄), how far two numbers go in the same direction; a·b for real ones."""
    return xp.real_part(a * xp.conj_physical(b)) if is_complex(a) else a * b
