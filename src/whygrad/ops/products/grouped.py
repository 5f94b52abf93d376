"""Products of groups of rows with a matrix each, as in a mixture of experts."""

from __future__ import annotations

from typing import Any

from whygrad.errors import describe, fail
from whygrad.ops.define import composite, table
from whygrad.tensor import Tensor, dtypes


def grouped_mm(
    mat_a: Tensor,
    mat_b: Tensor,
    *,
    offs: Tensor | None = None,
    bias: Tensor | None = None,
    out_dtype: Any = None,
) -> Tensor:
    """One matrix product per group.

    A matrix with two dimensions is cut where ``offs`` says that groups end: ``mat_a`` into rows or
    ``mat_b`` into columns if the other has a matrix per group, both along what is summed if
    neither has.  What lies behind the last group is left out, and 0 in the result.
    """
    _check(mat_a, mat_b, offs, bias, out_dtype)
    if offs is None:
        product: Tensor = table["bmm"].public(mat_a, mat_b)
        return product
    ends = offs.tolist()
    if ends != sorted(ends) or (ends and ends[0] < 0):
        raise _refusal(mat_a, mat_b, f"the offsets {ends} are not in order", "sort them")
    groups = [slice(start, end) for start, end in zip([0, *ends], ends, strict=False)]
    if mat_a.ndim == mat_b.ndim:
        sums = [mat_a[:, group] @ mat_b[group] for group in groups]
        return table["stack"].public(sums)
    dim, total = (0, mat_a.shape[0]) if mat_a.ndim == 2 else (1, mat_b.shape[1])
    if dim == 0:
        parts = [mat_a[group] @ each for group, each in zip(groups, mat_b.unbind(), strict=True)]
    else:
        parts = [each @ mat_b[:, group] for group, each in zip(groups, mat_a.unbind(), strict=True)]
    rest = total - sum(part.shape[dim] for part in parts)
    if rest:
        shape = [mat_a.shape[-2], mat_b.shape[-1]]
        shape[dim] = rest
        parts.append(mat_a.new_zeros(shape))
    return table["cat"].public(parts, dim)


def _refusal(mat_a: Tensor, mat_b: Tensor, cause: str, fix: str) -> RuntimeError:
    call = f"grouped_mm({describe(mat_a)}, {describe(mat_b)})"
    return fail(RuntimeError, call=call, cause=cause, fix=fix)


def _check(
    mat_a: Tensor, mat_b: Tensor, offs: Tensor | None, bias: Tensor | None, out_dtype: Any
) -> None:
    cause, fix = None, "see help(whygrad.nn.functional.grouped_mm)"
    if {mat_a.ndim, mat_b.ndim} - {2, 3}:
        cause = "both must have 2 or 3 dimensions"
    elif not mat_a.dtype.is_floating_point or mat_a.dtype is not mat_b.dtype:
        cause = "both must be floats of the same dtype"
    elif (offs is None) != (mat_a.ndim == mat_b.ndim == 3):
        cause = "Have to provide offsets if there is a 2d matrix, or no offset if both are 3d"
    elif offs is not None and offs.dtype is not dtypes.int32:
        cause, fix = "Offsets have to be int32", "use offs.int()"
    elif mat_a.shape[-1] != mat_b.shape[-2]:
        cause = "contraction dimension of mat_a and mat_b must match"
    elif bias is not None:
        cause, fix = "Bias not supported yet", "add it to the result"
    elif out_dtype not in (None, mat_a.dtype):
        cause, fix = "Grouped gemm output dtype must match `mat_a` dtype", "convert the result"
    else:
        counts = {each.shape[0] for each in (mat_a, mat_b) if each.ndim == 3}
        if offs is not None and mat_a.ndim != mat_b.ndim:
            counts.add(offs.shape[0])
        if len(counts) > 1:
            cause = "matrix batch sizes have to match"
    if cause is not None:
        raise _refusal(mat_a, mat_b, cause, fix)


def _samples(make: Any) -> list[Any]:
    def grouped(function: Any, a: Tensor, b: Tensor, offs: Tensor) -> Any:
        return function(a, b, offs=offs.int())

    ends = make.constant(make.ints(2, low=2, high=3).cumsum())  # 2 and 4
    return [
        make.call(make(2, 3, 2), make(2, 2, 3)),
        make.around(grouped, make(4, 3), make(2, 3, 2), ends),
        make.around(grouped, make(5, 3), make(2, 3, 2), ends),
        make.around(grouped, make(2, 3, 2), make(2, 5), ends),
        make.around(grouped, make(3, 5), make(5, 2), ends),
    ]


composite(
    grouped_mm,
    "y = a[group]·b[group], group by group",
    torch="",  # asks for float32 and for rows of whole 16 bytes; tests/ops compares
    method=False,
    samples=_samples,
)
