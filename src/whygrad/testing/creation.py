"""Random tensors of any dtype, for tests."""

from __future__ import annotations

from typing import Any

from whygrad.errors import fail
from whygrad.ops import functions
from whygrad.ops.geometry import shape_from
from whygrad.tensor import Tensor, dtypes

__all__ = ["make_tensor"]

_SPAN = 9  # values lie between −9 and 9 unless said otherwise


def make_tensor(
    *shape: Any,
    dtype: Any,
    device: Any = "cpu",
    low: float | None = None,
    high: float | None = None,
    requires_grad: bool = False,
    noncontiguous: bool = False,
    exclude_zero: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Uniform values from ``low`` up to ``high``, of any dtype.

    ``noncontiguous`` leaves a gap after each element; ``exclude_zero`` has the smallest positive
    number in place of 0.
    """
    kind, sizes = dtypes.of(dtype), tuple(shape_from(shape))
    least, most = _bounds(kind, low, high)
    if not least < most:
        raise fail(
            ValueError,
            call=f"make_tensor(…, low={low}, high={high})",
            cause=f"`low` has to be less than `high` for {kind}",
            fix="leave them out, or exchange them",
        )
    drawn = (*sizes[:-1], sizes[-1] * 2) if noncontiguous and sizes else sizes
    if kind.is_floating_point or kind.is_complex:
        made = functions["rand"](drawn, dtype=dtypes.float64) * (most - least) + least
        if kind.is_complex:
            other = functions["rand"](drawn, dtype=dtypes.float64) * (most - least) + least
            made = made + 1j * other
    else:
        made = functions["randint"](int(least), int(most), drawn)
    made = made.to(kind)
    if exclude_zero:
        tiny = dtypes.finfo(kind).tiny if kind.category >= dtypes.FLOAT else 1
        made = functions["where"](made == 0, functions["full_like"](made, tiny), made)
    if noncontiguous and sizes:
        made = made[..., ::2]
    return made.to(device).requires_grad_(requires_grad)


def _bounds(kind: dtypes.DType, low: float | None, high: float | None) -> tuple[float, float]:
    if kind.category == dtypes.BOOL:
        usual = (0, 2)
    elif kind.is_floating_point or kind.is_complex:
        usual = (-_SPAN, _SPAN)
    else:
        usual = (-_SPAN if kind.is_signed else 0, _SPAN + 1)
    return usual[0] if low is None else low, usual[1] if high is None else high
