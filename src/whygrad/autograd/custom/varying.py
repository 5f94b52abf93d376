"""Which values inside a custom function depend on its arguments.

``forward`` runs unrecorded, so a value it computes on the way has no history.  If ``backward`` uses
such a value and is then differentiated itself, the value looks like a constant, and the result is
wrong without notice.  To tell it from a true constant (a dropout mask, a comparison, a step
function) the arguments carry one key bit while ``forward`` runs, and this layer passes it on along
every path that a derivative could take.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from whygrad.dispatch import register_layer
from whygrad.ops.arithmetic.rounding import no_slope
from whygrad.tensor import Tensor, keys

if TYPE_CHECKING:
    from whygrad.dispatch.paths import Entry
    from whygrad.ops.define import Op

__all__ = ["is_varying", "mark"]


def mark(tensor: Tensor) -> None:
    """``tensor`` depends on an argument; numbers that cannot have a derivative do not."""
    if tensor.dtype.is_differentiable:
        tensor._keys |= keys.VARYING


def is_varying(tensor: Tensor) -> bool:
    """Whether a value depends on an argument, itself or by what was written into its base."""
    base = tensor._base
    return bool((tensor._keys | (0 if base is None else base._keys)) & keys.VARYING)


def _layer(op: Op, bits: int) -> Entry:
    below = op.table[bits & ~keys.VARYING]
    slopes = [_has_slope(op, name) for name in op.tensor_names]
    if not any(slopes):
        return below
    count = len(op.tensor_names)

    def passed_on(*args: Any) -> Any:
        result = below(*args)
        if op.variadic:
            depends = any(each._keys & keys.VARYING for each in args[0])
        else:
            depends = any(
                slope and isinstance(each, Tensor) and each._keys & keys.VARYING
                for each, slope in zip(args[:count], slopes)
            )
        if depends:
            for each in result if isinstance(result, tuple) else (result,):
                mark(each)
        return result

    return passed_on


def _has_slope(op: Op, name: str) -> bool:
    if isinstance(op.vjp, dict):
        return op.vjp.get(name, no_slope) is not no_slope
    return op.vjp is not None


register_layer(keys.VARYING, _layer)
