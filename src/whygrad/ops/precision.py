"""In which dtype to compute, where the caller names one."""

from __future__ import annotations

from typing import Any

from whygrad import dtypes
from whygrad.errors import describe, fail
from whygrad.tensor import Tensor

__all__ = ["in_norm_dtype"]


def in_norm_dtype(name: str, input: Tensor, dtype: Any) -> Tensor:
    """The input in the dtype to compute in, which may be wider and nothing else."""
    if dtype is None:
        return input
    chosen, given, cause = dtypes.of(dtype), input.dtype, ""
    if chosen.category < dtypes.FLOAT:
        cause = f"dtype should be floating point or complex, but got {chosen.name}"
    elif chosen.is_complex != given.is_complex:
        kind = "complex" if given.is_complex else "real"
        cause = f"dtype should be {kind} for {kind} inputs, but got {chosen.name}"
    elif dtypes.promote_types(given, chosen) is not chosen:
        cause = (
            f"the dtype of the input ({given.name}) should be convertible without narrowing to the "
            f"specified dtype ({chosen.name})"
        )
    if cause:
        raise fail(
            RuntimeError,
            call=f"{name}({describe(input)}, dtype={chosen})",
            cause=f"{name}: {cause}",
            fix=f"convert first, x.to({chosen}), if the numbers allow it",
        )
    return input.to(chosen)
