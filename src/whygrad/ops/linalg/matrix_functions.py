"""Powers, exponentials, chains and vector products of matrices: ops built on the other families."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from whygrad.errors import describe, fail
from whygrad.ops.batching import leading_dims, shift_dims
from whygrad.ops.complex_numbers import real_product
from whygrad.ops.define import composite, define
from whygrad.ops.geometry import normalize_dim
from whygrad.ops.linalg.matrices import (
    matrix_transpose,
    require_floats,
    require_matrices,
    require_square,
)
from whygrad.ops.linalg.singular_values import linalg_matrix_rank, pinv_args
from whygrad.ops.namespace import recorded
from whygrad.ops.products.products import add_terms
from whygrad.ops.public import return_types
from whygrad.ops.shape.parts import distinct_dims
from whygrad.tensor import Tensor

Array = Any


def linalg_matrix_power(A: Tensor, n: int) -> Tensor:
    """A·A·…·A, by repeated squaring; the inverse for negative ``n``."""
    try:
        power = operator.index(n)
    except TypeError:
        raise fail(
            TypeError,
            call=f"linalg.matrix_power({describe(A)}, n={n!r})",
            cause=f"argument 'n' must be int, not {type(n).__name__}",
            fix="roots of a symmetric matrix come from linalg.eigh: V·diag(λ**n)·Vᵀ",
        ) from None
    require_square("linalg.matrix_power", A, floats=False)
    if power == 0:
        never = recorded.zeros_like(A) != 0
        return recorded.where(never, A, recorded.identity_like(A))  # keeps A's place in the graph
    if power < 0:
        require_square("linalg.inv", A)
        A, power = recorded.linalg_inv(A), -power
    given = A
    result: Any = None
    while True:
        if power & 1:
            result = A if result is None else recorded.matmul(result, A)
        power >>= 1
        if not power:
            return result.clone() if result is given else result
        A = recorded.matmul(A, A)


def matrix_power(input: Tensor, n: int) -> Tensor:
    """``linalg.matrix_power``."""
    return linalg_matrix_power(input, n)


composite(
    linalg_matrix_power,
    "y = xⁿ",
    torch="linalg.matrix_power",
    samples=lambda make: [
        *(make.call(make(2, 2), n) for n in (0, 1, 2, 5)),
        make.call(make.positive_definite(2, 2), -3),
        make.call(make.ints(2, 2), 3),
    ],
)
composite(matrix_power, "y = xⁿ", samples=lambda make: [make.call(make(2, 2), 3)])


def _matrix_exp(x: Array) -> Array:
    from scipy.linalg import expm

    return expm(x) if x.size else np.empty_like(x)


def _along(xp: Any, x: Array, direction: Array) -> Array:
    """The derivative of the exponential at ``x``: a corner of a larger exponential."""
    size = x.shape[-1]
    top = xp.cat([x, direction], x.ndim - 1)
    bottom = xp.cat([xp.zeros_like(x), x], x.ndim - 1)
    large = xp.linalg_matrix_exp(xp.cat([top, bottom], x.ndim - 2))
    return xp.slice(large, (Ellipsis, slice(None, size), slice(size, None)))


def _exp_args(A: Tensor) -> tuple[Tensor]:
    """Σ Aᵏ/k!"""
    require_square("linalg.matrix_exp", A)
    return (A,)


define(
    "linalg_matrix_exp(x)",
    "y = Σ xᵏ/k!;  dy = the upper right corner of exp of [x, dx; 0, x]",
    complex_rule="holomorphic",
    forward=_matrix_exp,
    vjp={"x": lambda xp, incoming, x: _along(xp, matrix_transpose(xp, x), incoming)},
    jvp=lambda xp, tangents, x: _along(xp, x, tangents[0]),
    meta=lambda x: (x.shape, x.dtype),
    batching=leading_dims,
    public=_exp_args,
    torch="linalg.matrix_exp",
    samples=lambda make: [
        make.call(make(2, 2)),
        make.call(make(2, 2, 2)),
        make.call(make(0, 0)),
    ],
)


def matrix_exp(input: Tensor) -> Tensor:
    """``linalg.matrix_exp``."""
    return recorded.linalg_matrix_exp(*_exp_args(input))


composite(matrix_exp, "y = Σ xᵏ/k!", samples=lambda make: [make.call(make(2, 2))])


def linalg_multi_dot(tensors: Sequence[Tensor]) -> Tensor:
    """The product of a chain of matrices in the order that takes the fewest multiplications."""
    chain = list(tensors)
    _check_chain(chain)
    first_is_row, last_is_column = chain[0].ndim == 1, chain[-1].ndim == 1
    if first_is_row:
        chain[0] = recorded.unsqueeze(chain[0], 0)
    if last_is_column:
        chain[-1] = recorded.unsqueeze(chain[-1], -1)
    split = _cheapest_splits([each.shape[0] for each in chain] + [chain[-1].shape[1]])
    product = _product(chain, split, 0, len(chain) - 1)
    ones = (0,) * first_is_row + (1,) * last_is_column
    return recorded.squeeze(product, ones) if ones else product


def _product(
    chain: list[Tensor], split: dict[tuple[int, int], int], start: int, stop: int
) -> Tensor:
    if start == stop:
        return chain[start]
    middle = split[start, stop]
    left, right = _product(chain, split, start, middle), _product(chain, split, middle + 1, stop)
    return recorded.matmul(left, right)


def _check_chain(chain: list[Tensor]) -> None:
    cause = ""
    if len(chain) < 2:
        cause = f"multi_dot(): expected at least 2 tensors but got {len(chain)}"
    for position, tensor in enumerate(chain):
        inside = 0 < position < len(chain) - 1
        if not cause and tensor.ndim != 2 and (inside or tensor.ndim != 1):
            allowed = "2D" if inside else "1D or 2D"
            cause = f"multi_dot(): tensor {position} must be {allowed} but got {tensor.ndim}D"
    for position, (left, right) in enumerate(pairwise(chain)):
        if not cause and left.shape[-1] != right.shape[0]:
            cause = (
                f"multi_dot(): tensors {position} and {position + 1} with shapes "
                f"{list(left.shape)} and {list(right.shape)} cannot be multiplied"
            )
    if cause:
        raise fail(
            RuntimeError,
            call=f"linalg.multi_dot({describe(chain)})",
            cause=cause,
            fix="pass matrices in the order of the product; the first and last may be vectors",
        )


def _cheapest_splits(sizes: list[int]) -> dict[tuple[int, int], int]:
    """Where to cut each stretch of the chain, by dynamic programming over its length."""
    count = len(sizes) - 1
    cost = {(each, each): 0 for each in range(count)}
    split: dict[tuple[int, int], int] = {}
    for length in range(1, count):
        for start in range(count - length):
            stop = start + length
            options = {
                cut: cost[start, cut]
                + cost[cut + 1, stop]
                + sizes[start] * sizes[cut + 1] * sizes[stop + 1]
                for cut in range(start, stop)
            }
            split[start, stop] = min(options, key=lambda cut: options[cut])
            cost[start, stop] = options[split[start, stop]]
    return split


def chain_matmul(*matrices: Tensor) -> Tensor:
    """``linalg.multi_dot`` with the matrices as arguments."""
    return linalg_multi_dot(matrices)


composite(
    linalg_multi_dot,
    "y = a·b·c·…",
    torch="linalg.multi_dot",
    samples=lambda make: [
        make.call([make(2, 3), make(3, 2)]),
        make.call([make(3), make(3, 2), make(2, 4), make(4)]),
        make.call([make(2, 3), make(3, 1), make(1, 4), make(4, 2)]),
    ],
)
composite(
    chain_matmul,
    "y = a·b·c·…",
    torch="",
    method=False,
    samples=lambda make: [make.call(make(2, 3), make(3, 1), make(1, 4))],
)


def _cross_jvp(xp: Any, tangents: Any, a: Array, b: Array, dim: int) -> Array:
    da, db = tangents
    return add_terms(
        None if da is None else xp.linalg_cross(da, b, dim),
        None if db is None else xp.linalg_cross(a, db, dim),
    )


def _cross_args(input: Tensor, other: Tensor, *, dim: int = -1) -> Any:
    """The vector at right angles to both, along a dimension of size 3."""
    cause = fix = ""
    if input.ndim != other.ndim:
        cause = "linalg.cross: inputs must have the same number of dimensions."
        fix = "add dimensions with unsqueeze()"
    else:
        place = normalize_dim(dim, input.ndim, "linalg.cross")
        sizes = input.shape[place], other.shape[place]
        if sizes != (3, 3):
            cause = (
                f"linalg.cross: inputs dimension {dim} must have length 3. "
                f"Got {sizes[0]} and {sizes[1]}"
            )
            fix = "say with dim which dimension holds the three components"
    if cause:
        raise fail(
            RuntimeError,
            call=f"linalg.cross({describe(input)}, {describe(other)}, dim={dim})",
            cause=cause,
            fix=fix,
        )
    return input, other, place


define(
    "linalg_cross(a, b; dim)",
    "y = a × b;  ∂a = b × incoming,  ∂b = incoming × a",
    complex_rule="holomorphic",
    forward=lambda a, b, dim: np.cross(a, b, axis=dim),
    vjp={
        "a": lambda xp, incoming, b, dim: xp.linalg_cross(b, incoming, dim),
        "b": lambda xp, incoming, a, dim: xp.linalg_cross(incoming, a, dim),
    },
    jvp=_cross_jvp,
    promote="same",
    meta=lambda a, b, dim: (np.broadcast_shapes(a.shape, b.shape), a.dtype),
    batching=shift_dims("dim"),
    refuses={"bool": ("cross is not implemented for bool", "convert first: x.to(whygrad.int64)")},
    public=_cross_args,
    torch="linalg.cross",
    samples=lambda make: [
        make.call(make(2, 3), make(2, 3)),
        make.call(make(3, 2), make(3, 1), dim=0),
        make.call(make(2, 1, 3), make(1, 2, 3)),
    ],
)


def cross(input: Tensor, other: Tensor, dim: int | None = None) -> Tensor:
    """``linalg.cross``; without ``dim``, along the first dimension of size 3."""
    if dim is None:
        if 3 not in input.shape:
            raise fail(
                RuntimeError,
                call=f"cross({describe(input)}, {describe(other)})",
                cause="no dimension of size 3 in input",
                fix="the cross product is defined for three components only",
            )
        dim = tuple(input.shape).index(3)
    return recorded.linalg_cross(*_cross_args(input, other, dim=dim))


def linalg_vecdot(x: Tensor, y: Tensor, *, dim: int = -1) -> Tensor:
    """Σ x̄·y along a dimension, the others broadcast."""
    for each in (x, y):
        require_floats("linalg.vecdot", each)
    product = (x.conj() if x.dtype.is_complex else x) * y
    return recorded.sum(product, (normalize_dim(dim, product.ndim, "linalg.vecdot"),), False)


def linalg_diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """The diagonals of the matrices, as a view."""
    dims = distinct_dims(A.ndim, dim1, dim2, "linalg.diagonal")
    return recorded.diagonal(A, offset, *dims)


composite(
    cross,
    "y = a × b",
    samples=lambda make: [
        make.call(make(3, 2), make(3, 2), 0),
        make.call(make(2, 3), make(2, 3), -1),
    ],
)
composite(
    linalg_vecdot,
    "y = Σ x·y along a dimension",
    torch="linalg.vecdot",
    samples=lambda make: [
        make.call(make(2, 3), make(3)),
        make.call(make(2, 3), make(2, 1), dim=0),
    ],
    autocast="lower",
)
composite(
    linalg_diagonal,
    "y = the diagonals of the matrices",
    torch="linalg.diagonal",
    samples=lambda make: [make.call(make(2, 3, 3)), make.call(make(3, 4), offset=1)],
)


def linalg_lstsq(
    A: Tensor, B: Tensor, rcond: float | None = None, *, driver: str | None = None
) -> Any:
    """The X with the smallest ‖A·X − B‖, and the shortest such X if there are several.

    All drivers compute the same solution; as in PyTorch they differ in what else is returned.
    """
    require_matrices("linalg.lstsq", A)
    if driver not in (None, "gels", "gelsy", "gelsd", "gelss"):
        raise fail(
            RuntimeError,
            call=f"linalg.lstsq(driver={driver!r})",
            cause="linalg.lstsq: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)",
            fix="leave it out: the solution does not depend on it",
        )
    is_vector = B.ndim == A.ndim - 1
    right = recorded.unsqueeze(B, -1) if is_vector else B
    solution = recorded.matmul(recorded.linalg_pinv(*pinv_args(A, rcond)), right)
    residuals = recorded.abs(recorded.reshape(solution, (-1,))[:0])
    if driver not in (None, "gelsy") and A.shape[-2] > A.shape[-1]:
        misfit = recorded.matmul(A, solution) - right
        squares = real_product(recorded, misfit, misfit)
        residuals = recorded.sum(squares, (misfit.ndim - 2,), False)
    if is_vector:
        solution = recorded.squeeze(solution, (solution.ndim - 1,))
    nothing = recorded.abs(recorded.new_zeros(A, (0,)))
    return return_types.linalg_lstsq(
        solution,
        residuals,
        nothing.long() if driver == "gels" else linalg_matrix_rank(A, rtol=rcond),
        recorded.linalg_svdvals(A.detach()) if driver in ("gelsd", "gelss") else nothing,
    )


composite(
    linalg_lstsq,
    "y = a⁺·b, the least-squares solution of a·y = b",
    torch="linalg.lstsq",
    samples=lambda make: [
        make.around(lambda f, a, b: f(a, b).solution, make(3, 2), make(3, 2)),
        make.around(lambda f, a, b: f(a, b).solution, make(2, 2, 3), make(2, 2, 1)),
        make.around(lambda f, a, b: f(a, b).solution, make(2, 3, 2), make(2, 3)),
    ],
    autocast="float32",
)
