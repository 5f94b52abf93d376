"""Sizes of vectors and matrices: ``linalg.norm`` and its two halves."""

from __future__ import annotations

import math
from typing import Any

from whygrad.errors import describe, fail
from whygrad.ops.define import composite, table
from whygrad.ops.geometry import normalize_dim
from whygrad.ops.linalg.matrices import require_floats, require_matrices
from whygrad.ops.namespace import recorded
from whygrad.ops.reduction.moments import in_norm_dtype
from whygrad.tensor import Tensor, dtypes


def linalg_vector_norm(
    x: Tensor, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None
) -> Tensor:
    """(Σ |x|^ord)^(1/ord) over ``dim``, or over all elements."""
    require_floats("linalg.vector_norm", x)
    return table["norm"].public(x, ord, dim, keepdim, dtype)


def linalg_matrix_norm(
    A: Tensor, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False, *, dtype: Any = None
) -> Tensor:
    """A norm of the matrices in two dimensions: 'fro', 'nuc', ±inf, ±1 or ±2."""
    require_matrices("linalg.matrix_norm", A)
    rows, columns = _two_dims(A, dim)
    A = in_norm_dtype("linalg.matrix_norm", A, dtype)
    if ord == "fro":
        return recorded.norm(A, 2.0, (rows, columns), keepdim)
    if ord in ("nuc", 2, -2):
        return _spectral_norm(A, ord, rows, columns, keepdim)
    if ord in (1, -1, math.inf, -math.inf):
        summed, compared = (rows, columns) if abs(ord) == 1 else (columns, rows)
        totals = recorded.sum(recorded.abs(A), (summed,), True)
        result = _extreme(totals, ord, compared)
        return result if keepdim else recorded.squeeze(result, (rows, columns))
    raise fail(
        RuntimeError,
        call=f"linalg.matrix_norm({describe(A)}, ord={ord!r})",
        cause=f"linalg.matrix_norm: Order {ord} not supported.",
        fix="choose 'fro', 'nuc', inf, -inf, 1, -1, 2 or -2, or use linalg.vector_norm",
    )


def _spectral_norm(A: Tensor, ord: Any, rows: int, columns: int, keepdim: bool) -> Tensor:
    """The sum, the largest or the smallest of the singular values."""
    others = tuple(each for each in range(A.ndim) if each not in (rows, columns))
    values = recorded.linalg_svdvals(recorded.permute(A, (*others, rows, columns)))
    last = values.ndim - 1
    if ord == "nuc" or not values.shape[-1]:
        result = recorded.sum(values, (last,), True)
    else:
        result = _extreme(values, ord, last)
    result = recorded.squeeze(result, (last,))
    if keepdim:
        for each in sorted((rows, columns)):
            result = recorded.unsqueeze(result, each)
    return result


def _extreme(x: Tensor, ord: float, dim: int) -> Tensor:
    """The largest along ``dim``, or the smallest for a negative order."""
    return (recorded.amax if ord > 0 else recorded.amin)(x, (dim,), True)


def _two_dims(A: Tensor, dim: Any) -> tuple[int, int]:
    dims = tuple(dim) if isinstance(dim, (tuple, list)) else (dim,)
    normal = [normalize_dim(each, A.ndim, "linalg.matrix_norm") for each in dims]
    cause = ""
    if len(normal) != 2:
        cause = f"linalg.matrix_norm: dim must be a 2-tuple. Got {', '.join(map(str, dims))}"
    elif normal[0] == normal[1]:
        cause = f"linalg.matrix_norm: dims must be different. Got {dims}"
    if cause:
        raise fail(
            RuntimeError,
            call=f"linalg.matrix_norm({describe(A)}, dim={dim!r})",
            cause=cause,
            fix="name the dimension of the rows and that of the columns, such as dim=(-2, -1)",
        )
    return normal[0], normal[1]


def linalg_norm(
    A: Tensor, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None
) -> Tensor:
    """A vector norm or a matrix norm, whichever ``ord`` and ``dim`` ask for."""
    if ord is None:
        return linalg_vector_norm(A, 2, dim, keepdim, dtype=dtype)
    if dim is None:
        if A.ndim not in (1, 2):
            raise fail(
                RuntimeError,
                call=f"linalg.norm({describe(A)}, ord={ord!r})",
                cause="linalg.norm: If dim is not specified but ord is, the input must be 1D or "
                f"2D. Got {A.ndim}D.",
                fix="say which dimensions: dim=-1 for vectors, dim=(-2, -1) for matrices",
            )
        dim = tuple(range(A.ndim))
    dims = tuple(dim) if isinstance(dim, (tuple, list)) else (dim,)
    if len(dims) not in (1, 2):
        raise fail(
            RuntimeError,
            call=f"linalg.norm({describe(A)}, ord={ord!r}, dim={dim!r})",
            cause="linalg.norm: If dim is specified, it must be of length 1 or 2. "
            f"Got {list(dims)}",
            fix="use linalg.vector_norm for more dimensions",
        )
    if len(dims) == 2 or isinstance(ord, str):
        return linalg_matrix_norm(A, ord, dims, keepdim, dtype=dtype)
    return linalg_vector_norm(A, ord, dims, keepdim, dtype=dtype)


composite(
    linalg_vector_norm,
    "y = (Σ |x|ᵖ)^(1/p)",
    torch="linalg.vector_norm",
    samples=lambda make: [
        make.call(make(3, 4)),
        make.call(make(3, 4), 1, 0),
        make.call(make(2, 3, 2), 3.0, (0, -1), keepdim=True),
        make.call(make(3, 4), math.inf, 1),
        make.call(make(3, 4), -math.inf),
        make.call(make(3, 4), 0, 1),
        make.call(make(3, 4), 0.5, 1),
        make.call(make(3, 4), 2, 1, dtype=dtypes.float64),
        make.call(make()),
        make.call(make(0, 3), 2, 0),
    ],
)
composite(
    linalg_matrix_norm,
    "y = the Frobenius, nuclear, spectral, row-sum or column-sum norm",
    torch="linalg.matrix_norm",
    samples=lambda make: [
        *(make.call(make(3, 2), ord) for ord in ("fro", "nuc", 2, -2, 1, -1, math.inf, -math.inf)),
        make.call(make(2, 3, 2), "nuc", (0, 2), keepdim=True),
        make.call(make(2, 3, 2), -1, (2, 0), keepdim=True),
        make.call(make(2, 3, 2), math.inf, (2, 0)),
        make.call(make(2, 3), "fro", dtype=dtypes.float64),
        make.call(make.constant(make(0, 2)), 2),
    ],
)
composite(
    linalg_norm,
    "y = a vector norm or a matrix norm, by ord and dim",
    torch="linalg.norm",
    samples=lambda make: [
        make.call(make(2, 3, 2)),
        make.call(make(4), 3),
        make.call(make(3, 2), "nuc"),
        make.call(make(3, 2), -2),
        make.call(make(3, 2), 1, 0),
        make.call(make(2, 3, 2), 2, (-1, 0), keepdim=True),
        make.call(make(3, 2), dim=1),
        make.call(make(), dtype=dtypes.float64),
    ],
)
