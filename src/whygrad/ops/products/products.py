"""Matrix and vector products.

They all come down to one primitive, ``matmul``, whose rules are matmul again with the other factor
transposed.  A transpose is a view, so BLAS reads the saved arrays where they lie; a stack of
matrices times one matrix is folded into one tall product, forward and backward.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from whygrad.errors import describe_call, fail
from whygrad.ops.batching import align
from whygrad.ops.define import alias, composite, define
from whygrad.ops.namespace import recorded
from whygrad.tensor import Tensor

__all__ = [
    "NO_BOOL",
    "add_terms",
    "batch_to_columns",
    "left_gradient",
    "matmul_meta",
    "matmul_of_batch",
    "multiply",
    "product_tangent",
    "require_equal_batches",
    "require_rank",
    "right_gradient",
]

Array = Any
Shape = tuple[int, ...]


def add_terms(*terms: Array | None) -> Array:
    """The sum of the terms that exist: how tangents of several arguments meet."""
    total = None
    for term in terms:
        if term is not None:
            total = term if total is None else total + term
    return total


# Products of bools: PyTorch has none either.  A count needs integers, a logical or has its own op.
NO_BOOL = {"bool": ("matmul is not implemented for 'Bool'", "convert first: x.to(whygrad.int64)")}


def multiply(a: Array, b: Array) -> Array:
    try:
        if a.dtype == b.dtype:
            if b.ndim == 2 < a.ndim:
                rows = a.reshape(prod(a.shape[:-1]), a.shape[-1])
                return rows.dot(b).reshape(*a.shape[:-1], b.shape[1])
            if a.ndim > 2 or b.ndim > 2:
                return _multiply_stacks(a, b)
            if a.ndim and b.ndim:
                return a.dot(b)  # a third of the call cost of np.matmul, the same BLAS behind it
    except (AttributeError, ValueError):
        pass
    raise _cannot_multiply(a, b)


def _multiply_stacks(a: Array, b: Array) -> Array:
    """Stacks of matrices; BLAS is called once per matrix, which some stacks can do without."""
    if min(a.ndim, b.ndim) > 1:
        if a.shape[-1] == b.shape[-2] == 1:
            return a * b
        if a.shape[:-2] == b.shape[:-2]:
            if _repeats(b):
                rows = a.reshape(-1, a.shape[-1]).dot(_first(b))
                return rows.reshape(*a.shape[:-1], b.shape[-1])
            if _repeats(a) and b.shape[-1] == 1:
                rows = b.reshape(-1, b.shape[-2]).dot(_first(a).T)
                return rows.reshape(*a.shape[:-1], 1)
    return np.matmul(a, b)


def _repeats(stack: Array) -> bool:
    """Whether a stack shows one matrix again and again, as ``expand`` makes it."""
    return stack.size > 0 and not any(stack.strides[:-2])


def _first(stack: Array) -> Array:
    return stack[(0,) * (stack.ndim - 2)]


def matmul_meta(a: Array, b: Array) -> tuple[Shape, Any]:
    """Shape and dtype of a @ b."""
    rows, columns = a.shape[:-1], b.shape[-2:][1:]
    if a.dtype != b.dtype or not (a.ndim and b.ndim) or a.shape[-1] != _inner_size(b):
        raise _cannot_multiply(a, b)
    if b.ndim <= 2:
        return (*rows, *columns), a.dtype
    try:
        batch = np.broadcast_shapes(rows[:-1], b.shape[:-2])
    except ValueError:
        raise _cannot_multiply(a, b) from None
    return (*batch, *rows[-1:], *columns), a.dtype


def _inner_size(b: Array) -> int:
    size: int = b.shape[-2] if b.ndim > 1 else b.shape[0]
    return size


def _cannot_multiply(a: Array, b: Array) -> Exception:
    """PyTorch's complaint about a pair of factors, and what would help."""
    kind: type[Exception] = RuntimeError
    if not (hasattr(a, "ndim") and hasattr(b, "ndim")):
        kind = TypeError
        cause = "matmul takes two tensors"
        fix = "use * to multiply by a number"
    elif not (a.ndim and b.ndim):
        cause = (
            f"both arguments to matmul need to be at least 1D, but they are {a.ndim}D and {b.ndim}D"
        )
        fix = "use * to multiply by a single number"
    elif a.dtype != b.dtype:
        cause = f"expected m1 and m2 to have the same dtype, but got: {a.dtype} != {b.dtype}"
        fix = f"convert one of them: b.to(whygrad.{a.dtype})"
    elif a.shape[-1] != _inner_size(b):
        cause, fix = _inner_mismatch(a, b)
    else:
        cause = f"the batch dimensions {a.shape[:-2]} and {b.shape[:-2]} do not broadcast"
        fix = "batch sizes must be equal or 1, counted from the last one"
    return fail(
        kind,
        call=describe_call("matmul", ("a", "b"), (a, b)),
        cause=cause,
        fix=fix,
    )


def _inner_mismatch(a: Array, b: Array) -> tuple[str, str]:
    left, right = a.shape[-1], _inner_size(b)
    if a.ndim == 1 and b.ndim == 1:
        cause = (
            f"inconsistent tensor size, expected tensor [{left}] and src [{right}] to have the "
            f"same number of elements, but got {left} and {right} elements respectively"
        )
        return cause, "pass vectors of equal length"
    if b.ndim == 1:
        cause = f"size mismatch, got mat ({_by(a)}), vec ({right})"
    else:
        cause = f"mat1 and mat2 shapes cannot be multiplied ({_by(a)} and {_by(b)})"
    if a.ndim > 1 and a.shape[-2] == right:
        return cause, "transpose the first: a.mT @ b"
    if b.ndim > 1 and b.shape[-1] == left:
        return cause, "transpose the second: a @ b.mT"
    if a.ndim > 1 and b.ndim > 1 and a.shape[-2] == b.shape[-1]:
        return cause, "swap the arguments: b @ a"
    return cause, f"the last size of a ({left}) must equal the number of rows of b ({right})"


def _by(x: Array) -> str:
    rows = x.shape[-2] if x.ndim > 1 else 1
    return f"{rows}x{x.shape[-1]}"


def left_gradient(xp: Any, incoming: Array, b: Array, a_shape: Shape) -> Array:
    if b.ndim == 1:
        return xp.unsqueeze(incoming, -1) * b
    if len(a_shape) == 1:
        if b.ndim == 2:
            return xp.matmul(b, incoming)
        return xp.squeeze(xp.matmul(b, xp.unsqueeze(incoming, -1)), (b.ndim - 1,))
    if len(a_shape) == 2 < b.ndim:
        # one product over the whole batch, instead of a stack of products to add up
        return xp.matmul(batch_to_columns(xp, incoming), batch_to_columns(xp, b, flip=True))
    return xp.matmul(incoming, xp.transpose(b, -2, -1))


def right_gradient(xp: Any, incoming: Array, a: Array, b_shape: Shape) -> Array:
    if a.ndim == 1:
        if len(b_shape) == 1:
            return incoming * a
        return xp.unsqueeze(a, -1) * xp.unsqueeze(incoming, -2)
    if len(b_shape) <= 2 < a.ndim:
        rows = prod(a.shape[:-1])
        a = xp.reshape(a, (rows, a.shape[-1]))
        incoming = xp.reshape(incoming, (rows, *b_shape[1:]))
    return xp.matmul(xp.transpose(a, -2, -1), incoming)


def batch_to_columns(xp: Any, x: Array, flip: bool = False) -> Array:
    """(batch…, n, m) as (n, batch·m), or as its transpose."""
    last = x.ndim - 1
    batch = tuple(range(last - 1))
    size = prod(x.shape[:-2]) * x.shape[-1]
    wide = xp.reshape(xp.permute(x, (last - 1, *batch, last)), (x.shape[-2], size))
    return xp.transpose(wide, 0, 1) if flip else wide


def product_tangent(xp: Any, tangents: Any, a: Array, b: Array) -> Array:
    da, db = tangents
    return add_terms(
        None if da is None else xp.matmul(da, b),
        None if db is None else xp.matmul(a, db),
    )


def matmul_of_batch(xp: Any, a: Array, b: Array, batched: tuple[bool, ...]) -> Array:
    """Products of samples as one product, if need be with a column or row for a vector."""
    rank_a, rank_b = a.ndim - batched[0], b.ndim - batched[1]
    if not batched[1] and rank_b <= 2:
        return xp.matmul(a, b)
    if not batched[0] and rank_a <= 2:
        if rank_b >= 2:
            return xp.matmul(a, b)
        return xp.matmul(b, xp.transpose(a, 0, 1) if rank_a == 2 else a)
    if rank_a == 1:
        a = xp.unsqueeze(a, -2)
    if rank_b == 1:
        b = xp.unsqueeze(b, -1)
    rank = max(rank_a, rank_b, 2)
    y = xp.matmul(align(a, rank) if batched[0] else a, align(b, rank) if batched[1] else b)
    if rank_b == 1:
        y = xp.squeeze(y, (-1,))
    return xp.squeeze(y, (-2 if rank_b > 1 else -1,)) if rank_a == 1 else y


define(
    "matmul(a, b)",
    "y = a·b over the last dimension of a and the rows of b, batches broadcast;  "
    "∂a = incoming·bᵀ,  ∂b = aᵀ·incoming",
    complex_rule="holomorphic",
    forward=multiply,
    vjp={"a": left_gradient, "b": right_gradient},
    jvp=product_tangent,
    meta=matmul_meta,
    batching=matmul_of_batch,
    refuses=NO_BOOL,
    samples=lambda make: [
        make.call(make(3, 4), make(4, 2)),
        make.call(make(3), make(3)),
        make.call(make(2, 3), make(3)),
        make.call(make(3), make(3, 2)),
        make.call(make(2, 3, 4), make(4, 2)),
        make.call(make(2, 3, 4), make(4)),
        make.call(make(2, 3), make(2, 2, 3, 2)),
        make.call(make(3), make(2, 3, 2)),
        make.call(make(2, 2, 3), make(2, 3, 2)),
        make.call(make(2, 1, 2, 3), make(3, 3, 1)),
        make.call(make(0, 3), make(3, 2)),
        make.call(make(2, 0), make(0, 3)),
        make.call(make(2, 0, 3), make(3, 2)),
        make.call(make.ints(2, 3), make.ints(3, 2)),
        make.call(make.ints(2, 2, 3), make.ints(3)),
    ],
    autocast="lower",
)


def require_rank(call: str, **wanted: tuple[Tensor, int]) -> None:
    """Each ``name=(tensor, rank)`` must have exactly that many dimensions."""
    for name, (tensor, rank) in wanted.items():
        if tensor.ndim != rank:
            noun = {1: "vector", 2: "matrix", 3: "3D tensor"}[rank]
            raise fail(
                RuntimeError,
                call=f"{call}: {name} is {tensor.ndim}D, of shape {tuple(tensor.shape)}",
                cause=f"{name} must be a {noun}",
                fix="use whygrad.matmul, which takes every rank",
            )


def mm(input: Tensor, mat2: Tensor) -> Tensor:
    """The product of two matrices, without broadcasting."""
    require_rank("mm", self=(input, 2), mat2=(mat2, 2))
    return recorded.matmul(input, mat2)


def bmm(input: Tensor, mat2: Tensor) -> Tensor:
    """The products of two equally long stacks of matrices."""
    require_rank("bmm", batch1=(input, 3), batch2=(mat2, 3))
    require_equal_batches("bmm", input, mat2)
    return recorded.matmul(input, mat2)


def require_equal_batches(call: str, batch1: Tensor, batch2: Tensor) -> None:
    if batch1.shape[0] != batch2.shape[0]:
        expected = [batch1.shape[0], batch1.shape[2]]
        raise fail(
            RuntimeError,
            call=f"{call}: {tuple(batch1.shape)} and {tuple(batch2.shape)}",
            cause="Expected size for first two dimensions of batch2 tensor to be: "
            f"{expected} but got: {list(batch2.shape[:2])}",
            fix="pass batches of equal length, or use whygrad.matmul, which broadcasts them",
        )


def mv(input: Tensor, vec: Tensor) -> Tensor:
    """A matrix times a vector."""
    require_rank("mv", input=(input, 2), vec=(vec, 1))
    return recorded.matmul(input, vec)


def dot(input: Tensor, tensor: Tensor) -> Tensor:
    """The scalar product of two vectors."""
    if input.ndim != 1 or tensor.ndim != 1:
        raise fail(
            RuntimeError,
            call=f"dot: {tuple(input.shape)} and {tuple(tensor.shape)}",
            cause=f"1D tensors expected, but got {input.ndim}D and {tensor.ndim}D tensors",
            fix="use whygrad.matmul, or flatten() the arguments",
        )
    return recorded.matmul(input, tensor)


def vdot(input: Tensor, other: Tensor) -> Tensor:
    """The scalar product of two vectors, the first one conjugated."""
    if input.dtype.is_complex:
        input = input.conj()
    return dot(input, other)


def outer(input: Tensor, vec2: Tensor) -> Tensor:
    """Every element of one vector times every element of another."""
    for name, vector in (("input", input), ("vec2", vec2)):
        if vector.ndim != 1:
            raise fail(
                RuntimeError,
                call=f"outer: {tuple(input.shape)} and {tuple(vec2.shape)}",
                cause=f"outer: Expected 1-D argument {name}, but got {vector.ndim}-D",
                fix="flatten() it, or multiply with broadcasting: a.unsqueeze(-1) * b",
            )
    return recorded.unsqueeze(input, -1) * vec2


composite(
    mm,
    "y = a·b for two matrices",
    samples=lambda make: [make.call(make(3, 4), make(4, 2)), make.call(make(0, 3), make(3, 2))],
)
composite(
    bmm,
    "yₙ = aₙ·bₙ for two stacks of matrices",
    samples=lambda make: [
        make.call(make(2, 3, 4), make(2, 4, 2)),
        make.call(make(0, 3, 4), make(0, 4, 2)),
    ],
)
composite(
    mv,
    "y = A·v for a matrix and a vector",
    samples=lambda make: [make.call(make(3, 4), make(4))],
    autocast="keep",
)
composite(
    dot,
    "y = Σ a·b for two vectors",
    samples=lambda make: [make.call(make(4), make(4)), make.call(make.ints(3), make.ints(3))],
    autocast="keep",
)
composite(
    vdot,
    "y = Σ ā·b for two vectors",
    samples=lambda make: [make.call(make(4), make(4))],
    autocast="keep",
)
composite(
    outer,
    "yᵢⱼ = aᵢ·bⱼ for two vectors",
    samples=lambda make: [make.call(make(3), make(4)), make.call(make(3), make(0))],
)
alias("dsmm", "mm")
alias("ger", "outer")
alias("spmm", "mm")
