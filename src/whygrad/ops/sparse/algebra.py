"""What the ops of the other families do when they meet a sparse tensor.

Each function here serves an op under the sparse keys.  It takes the values out, computes with
ordinary ops, and puts the result on a pattern, so its gradient is theirs.  ``install`` registers
them once the whole table is declared.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from whygrad.dispatch import register
from whygrad.errors import describe_call, fail
from whygrad.ops.define import define, table
from whygrad.ops.products.products import add_terms, matmul_meta
from whygrad.ops.sparse.layouts import (
    build,
    entries,
    is_sparse,
    lookup,
    merged,
    pattern_of,
    pick,
    rebuild,
    to_dense,
    to_sparse_csr,
)
from whygrad.ops.sparse.pattern import CooPattern, Pattern, matched
from whygrad.tensor import Tensor, dtypes, keys

__all__ = ["install"]

Array = Any


_served: dict[str, Callable[..., Any]] = {}


def _for_sparse(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Let the decorated function serve an op whenever an argument is sparse."""

    def attach(function: Callable[..., Any]) -> Callable[..., Any]:
        _served[name] = function
        return function

    return attach


def _refusal(name: str, args: tuple[Any, ...], cause: str, fix: str) -> RuntimeError:
    call = describe_call(name, table[name].tensor_names, args)
    return fail(RuntimeError, call=call, cause=cause, fix=fix)


def _same_layout(result: Tensor, *sources: Any) -> Tensor:
    """Compressed rows if a source has them, coordinates otherwise."""
    csr = any(isinstance(each, Tensor) and each._keys & keys.SPARSE_CSR for each in sources)
    return to_sparse_csr(result) if csr else result


# Functions with f(0) = 0: applied to the stored values, they keep the pattern.
_LINEAR = ("neg", "deg2rad", "rad2deg")
_CURVED = (
    "abs", "asin", "asinh", "atan", "atanh", "ceil", "erf", "erfinv", "expm1", "floor", "log1p",
    "relu", "sgn", "sign", "sin", "sinh", "sqrt", "tan", "tanh", "trunc",
)  # fmt: skip


def _on_values(name: str, merge: bool) -> Callable[[Tensor], Tensor]:
    call = table[name].call

    def apply(input: Tensor) -> Tensor:
        stored = merged(input) if merge else input  # f(a) + f(b) is not f(a + b) if f is curved
        return rebuild(stored, call(entries(stored)))

    return apply


@_for_sparse("cast")
def cast(input: Tensor, dtype: dtypes.DType) -> Tensor:
    return rebuild(input, entries(input).to(dtype))


@_for_sparse("clone")
def clone(input: Tensor, *_: Any) -> Tensor:
    return rebuild(input, entries(input).clone())


@_for_sparse("zeros_like")
def zeros_like(input: Tensor) -> Tensor:
    return rebuild(input, table["zeros_like"].call(entries(input)))


@_for_sparse("add")
def add(a: Any, b: Any) -> Tensor:
    if not (isinstance(a, Tensor) and isinstance(b, Tensor)):
        raise _refusal(
            "add",
            (a, b),
            "a number added to a sparse tensor would fill in every zero",
            "x.to_dense() + number, or add to x.values()",
        )
    if not (is_sparse(a) and is_sparse(b)):
        return to_dense(a) + to_dense(b)
    left, right = pattern_of(a), pattern_of(b)
    if left.shape != right.shape:
        raise _refusal(
            "add",
            (a, b),
            f"add: expected sizes of 'self' and 'other' to match, but {list(left.shape)} != "
            f"{list(right.shape)}",
            "sparse tensors do not broadcast; use to_dense()",
        )
    if left.same_as(right):
        return rebuild(a, entries(a) + entries(b))
    union = CooPattern(np.concatenate([left.indices, right.indices], axis=1), left.shape, False)
    both = build(table["cat"].call([entries(a), entries(b)], 0), union)
    tidy = left.coalesced and right.coalesced
    return _same_layout(merged(both) if tidy else both, a, b)


@_for_sparse("sub")
def sub(a: Any, b: Any) -> Tensor:
    return add(a, -b)


@_for_sparse("mul")
def mul(a: Any, b: Any) -> Tensor:
    if not is_sparse(a):
        a, b = b, a
    if not isinstance(b, Tensor) or (not is_sparse(b) and b.ndim == 0):
        return rebuild(a, entries(a) * b)
    if not is_sparse(b):
        return rebuild(a, entries(a) * lookup(b.expand(a.shape), pattern_of(a)))
    if a.shape != b.shape:
        raise _refusal(
            "mul",
            (a, b),
            f"mul: expected sizes to match, but {list(a.shape)} != {list(b.shape)}",
            "sparse tensors do not broadcast; use to_dense()",
        )
    left, right = merged(a), merged(b)
    if pattern_of(left).same_as(pattern_of(right)):
        return rebuild(left, entries(left) * entries(right))
    here, there = matched(pattern_of(left), pattern_of(right))
    common = CooPattern(pattern_of(left).indices[:, here], left.shape, coalesced=True)
    product = pick(entries(left), here) * pick(entries(right), there)
    return _same_layout(build(product, common), a, b)


@_for_sparse("div")
def div(a: Any, b: Any) -> Tensor:
    if not is_sparse(a) or is_sparse(b) or (isinstance(b, Tensor) and b.ndim):
        shape = list(b.shape) if isinstance(b, Tensor) else "a number"
        raise _refusal(
            "div",
            (a, b),
            "Sparse division requires a scalar or zero-dim dense tensor divisor (got shape "
            f"{shape} for divisor)",
            "divide the values, or use to_dense()",
        )
    return rebuild(a, entries(a) / b)


@_for_sparse("pow")
def power(a: Any, b: Any) -> Tensor:
    if not is_sparse(a) or not isinstance(b, (int, float)) or b <= 0:
        raise _refusal(
            "pow",
            (a, b),
            "only a positive number as exponent keeps the zeros of a sparse base",
            "raise the values, or use to_dense()",
        )
    stored = merged(a)
    return rebuild(stored, entries(stored) ** b)


@_for_sparse("sum")
def sum_over(input: Tensor, dim: tuple[int, ...], keepdim: bool) -> Tensor:
    """A dense number if every dimension goes, a sparse tensor of the rest otherwise."""
    if len(dim) == input.ndim:
        total: Tensor = entries(input).sum()
        return total.reshape((1,) * input.ndim) if keepdim else total
    if input._keys & keys.SPARSE_CSR and not keepdim:
        raise _refusal(
            "sum",
            (input,),
            "reduction operations on CSR tensors with keepdim=False is unsupported",
            "pass keepdim=True, or convert with to_sparse_coo()",
        )
    pattern = pattern_of(input)
    kept = [axis for axis in range(input.ndim) if axis not in dim]
    indices, shape = pattern.indices[kept], tuple(pattern.shape[axis] for axis in kept)
    if keepdim:
        indices = np.array(pattern.indices)
        indices[list(dim)] = 0
        shape = tuple(1 if axis in dim else size for axis, size in enumerate(pattern.shape))
    summed = merged(build(entries(input), CooPattern(indices, shape, coalesced=False)))
    return _same_layout(summed, input)


@_for_sparse("transpose")
def transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:
    dims = list(range(input.ndim))
    dims[dim0], dims[dim1] = dims[dim1], dims[dim0]
    return permute(input, tuple(dims))


@_for_sparse("permute")
def permute(input: Tensor, dims: tuple[int, ...]) -> Tensor:
    if dims == tuple(range(input.ndim)):
        return input
    pattern = pattern_of(input)
    shape = tuple(pattern.shape[dim] for dim in dims)
    turned = build(entries(input), CooPattern(pattern.indices[list(dims)], shape, coalesced=False))
    return _same_layout(turned, input)


def _matrix_times(values: Array, dense: Array, pattern: Pattern) -> Array:
    from scipy.sparse import csr_array

    order, starts, columns = pattern.by_row
    rows, width = pattern.shape
    return csr_array((values[order], columns, starts), shape=(rows, width)) @ dense


define(
    "sparse_matmul(values, dense; pattern)",
    "y = S·dense with S = values on pattern;  ∂values[k] = incoming[row k]·dense[column k],  "
    "∂dense = Sᵀ·incoming",
    forward=_matrix_times,
    vjp={
        "values": lambda xp, incoming, dense, pattern: xp.sparse_inner(incoming, dense, pattern),
        "dense": lambda xp, incoming, values, pattern: xp.sparse_matmul(
            values, incoming, pattern.transposed
        ),
    },
    jvp=lambda xp, tangents, values, dense, pattern: add_terms(
        None if tangents[0] is None else xp.sparse_matmul(tangents[0], dense, pattern),
        None if tangents[1] is None else xp.sparse_matmul(values, tangents[1], pattern),
    ),
    meta=lambda values, dense, pattern: ((pattern.shape[0], dense.shape[1]), dense.dtype),
    internal=True,
    samples=lambda make: [make.call(make(3), make(3, 2), _sample_pattern())],
)
define(
    "sparse_inner(a, b; pattern)",
    "y[k] = a[row k]·b[column k] for the stored places k of a·bᵀ;  "
    "∂a = Y·b,  ∂b = Yᵀ·a with Y = incoming on pattern",
    forward=lambda a, b, pattern: np.einsum(
        "kn,kn->k", a[pattern.indices[0]], b[pattern.indices[1]]
    ),
    vjp={
        "a": lambda xp, incoming, b, pattern: xp.sparse_matmul(incoming, b, pattern),
        "b": lambda xp, incoming, a, pattern: xp.sparse_matmul(incoming, a, pattern.transposed),
    },
    jvp=lambda xp, tangents, a, b, pattern: add_terms(
        None if tangents[0] is None else xp.sparse_inner(tangents[0], b, pattern),
        None if tangents[1] is None else xp.sparse_inner(a, tangents[1], pattern),
    ),
    meta=lambda a, b, pattern: ((pattern.count,), a.dtype),
    internal=True,
    samples=lambda make: [make.call(make(2, 4), make(3, 4), _sample_pattern())],
)


def _sample_pattern() -> Pattern:
    return CooPattern(np.array([[0, 1, 1], [2, 0, 2]]), (2, 3), coalesced=True)


@_for_sparse("matmul")
def matmul(a: Any, b: Any) -> Tensor:
    """Sparse times dense and dense times sparse are dense; sparse times sparse is sparse."""
    matmul_meta(a, b)
    if not (1 <= a.ndim <= 2 and 1 <= b.ndim <= 2):
        raise _refusal(
            "matmul",
            (a, b),
            f"sparse products are for matrices and vectors, but got {a.ndim}D and {b.ndim}D",
            "multiply one matrix at a time, or use to_dense()",
        )
    if is_sparse(a) and a.ndim == 1:
        return matmul(to_dense(a), b) if is_sparse(b) else to_dense(a) @ b
    if is_sparse(b) and b.ndim == 1:
        return matmul(a, to_dense(b)) if is_sparse(a) else a @ to_dense(b)
    if is_sparse(a) and is_sparse(b):
        return _sparse_product(a, b)
    if is_sparse(b):
        rows: Tensor = a if a.ndim == 2 else a.unsqueeze(0)
        product = _times(entries(b), rows.transpose(0, 1), pattern_of(b).transposed)
        return product.transpose(0, 1) if a.ndim == 2 else product.squeeze(1)
    if b.ndim == 2:
        return _times(entries(a), b, pattern_of(a))
    return _times(entries(a), b.unsqueeze(1), pattern_of(a)).squeeze(1)


def _times(values: Tensor, dense: Tensor, pattern: Pattern) -> Tensor:
    result: Tensor = table["sparse_matmul"].call(values, dense, pattern)
    return result


def _sparse_product(a: Tensor, b: Tensor) -> Tensor:
    """Pair every stored (i, k) with every stored (k, j), multiply, and add up by (i, j)."""
    left, right = merged(a), merged(b)
    (rows, inner), (_, columns) = pattern_of(left).indices, pattern_of(right).indices
    starts = np.searchsorted(pattern_of(right).indices[0], np.arange(b.shape[0] + 1))
    partners = np.diff(starts)[inner]
    from_left = np.repeat(np.arange(len(inner)), partners)
    first = np.repeat(starts[inner] - (np.cumsum(partners) - partners), partners)
    from_right = first + np.arange(len(from_left))
    places = np.stack([rows[from_left], columns[from_right]])
    terms = pick(entries(left), from_left) * pick(entries(right), from_right)
    shape = (a.shape[0], b.shape[1])
    return _same_layout(merged(build(terms, CooPattern(places, shape, False))), a, b)


@_for_sparse("addmm")
def addmm(input: Tensor, a: Tensor, b: Tensor, beta: Any, alpha: Any) -> Tensor:
    product = a @ b
    scaled = product if alpha == 1 else product * alpha
    return (input if beta == 1 else input * beta) + scaled


def install() -> None:
    """Register everything above with the ops it serves."""
    for name in _LINEAR:
        _served[name] = _on_values(name, merge=False)
    for name in _CURVED:
        _served[name] = _on_values(name, merge=True)
    for name, function in _served.items():
        for layout in ("sparse_coo", "sparse_csr"):
            register(table[name], layout, function, composite=True)
