"""A product added to something: one kernel, one node, no temporary for the product.

``addmm`` is what a linear layer computes, so it is worth fusing.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from whygrad.errors import fail
from whygrad.ops.batching import align, repeat_over
from whygrad.ops.define import composite, define
from whygrad.ops.namespace import recorded
from whygrad.ops.numbers import number_for
from whygrad.ops.products.products import (
    NO_BOOL,
    add_terms,
    batch_to_columns,
    left_gradient,
    matmul_meta,
    matmul_of_batch,
    multiply,
    product_tangent,
    require_equal_batches,
    require_rank,
    right_gradient,
)
from whygrad.tensor import Tensor, dtypes

Array = Any


def _add_product(input: Array, a: Array, b: Array, beta: Any, alpha: Any) -> Array:
    y = np.asarray(multiply(a, b))
    if alpha != 1:
        y *= alpha
    if beta != 0:  # PyTorch's promise: with beta=0 not even a nan in input counts
        y += input if beta == 1 else beta * input
    return y


def _scaled(x: Array, factor: Any) -> Array:
    return x if factor == 1 else x * factor


def _add_product_tangent(
    xp: Any, tangents: Any, a: Array, b: Array, y: Array, beta: Any, alpha: Any
) -> Array:
    moved, *factors = tangents
    product = product_tangent(xp, factors, a, b)
    return add_terms(
        None if moved is None else xp.expand(_scaled(moved, beta), y.shape),
        None if product is None else _scaled(product, alpha),
    )


def _add_product_args(
    call: str, input: Tensor, a: Tensor, b: Tensor, beta: Any, alpha: Any
) -> tuple[Any, ...]:
    shape, _ = matmul_meta(a._array, b._array)
    if input.dtype is not a.dtype:
        raise fail(
            RuntimeError,
            call=f"{call}: input is {input.dtype}, the factors are {a.dtype}",
            cause="self and mat2 must have the same dtype",
            fix=f"convert it: input.to({a.dtype})",
        )
    extra = len(shape) - input.ndim
    if extra < 0 or any(m not in (n, 1) for m, n in zip(input.shape, shape[extra:])):
        raise fail(
            RuntimeError,
            call=f"{call}: input of shape {tuple(input.shape)}, product of shape {shape}",
            cause="The expanded size of the tensor must match the existing size: "
            f"{tuple(input.shape)} does not broadcast to {shape}",
            fix="give input the shape of the product, with sizes of 1 where it repeats",
        )
    if not (a.dtype.is_floating_point or a.dtype.is_complex):
        beta, alpha = (number_for(a, factor, call) for factor in (beta, alpha))
    return input, a, b, beta, alpha


def _addmm_args(
    input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1
) -> tuple[Any, ...]:
    """beta·input + alpha·(mat1 @ mat2)"""
    require_rank("addmm", mat1=(mat1, 2), mat2=(mat2, 2))
    return _add_product_args("addmm", input, mat1, mat2, beta, alpha)


def _addmv_args(
    input: Tensor, mat: Tensor, vec: Tensor, *, beta: Any = 1, alpha: Any = 1
) -> tuple[Any, ...]:
    """beta·input + alpha·(mat @ vec)"""
    require_rank("addmv", mat=(mat, 2), vec=(vec, 1))
    return _add_product_args("addmv", input, mat, vec, beta, alpha)


def _baddbmm_args(
    input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1
) -> tuple[Any, ...]:
    """beta·input + alpha·(batch1 @ batch2)"""
    require_rank("baddbmm", batch1=(batch1, 3), batch2=(batch2, 3))
    require_equal_batches("baddbmm", batch1, batch2)
    return _add_product_args("baddbmm", input, batch1, batch2, beta, alpha)


def _add_product_of_batch(
    xp: Any,
    input: Array,
    a: Array,
    b: Array,
    beta: Any,
    alpha: Any,
    batched: tuple[bool, ...],
    batch: int,
) -> Array:
    if any(batched[1:]):
        product = matmul_of_batch(xp, a, b, batched[1:])
    else:
        product = repeat_over(xp.matmul(a, b), batch)
    if alpha != 1:
        product = product * alpha
    if batched[0]:
        input = align(input, product.ndim - 1)
    if beta == 0:  # what input holds does not count then, not even NaN
        return product + xp.fill(input, 0)
    return product + _scaled(input, beta)


def _declare_add_product(name: str, public: Any, samples: Any) -> None:
    """The fused forms differ in the ranks they take, not in what they compute."""
    define(
        f"{name}(input, a, b; beta, alpha)",
        "y = β·input + α·(a·b);  ∂input = β·incoming,  ∂a = α·incoming·bᵀ,  ∂b = α·aᵀ·incoming",
        complex_rule="holomorphic",
        forward=_add_product,
        vjp={
            "input": lambda xp, incoming, beta: _scaled(incoming, beta),
            "a": lambda xp, incoming, b, a_shape, alpha: _scaled(
                left_gradient(xp, incoming, b, a_shape), alpha
            ),
            "b": lambda xp, incoming, a, b_shape, alpha: _scaled(
                right_gradient(xp, incoming, a, b_shape), alpha
            ),
        },
        jvp=_add_product_tangent,
        meta=lambda input, a, b, beta, alpha: matmul_meta(a, b),
        batching=_add_product_of_batch,
        refuses=NO_BOOL,
        public=public,
        inplace=True,
        samples=samples,
        autocast=None if name == "addmv" else "lower",
    )


_declare_add_product(
    "addmm",
    _addmm_args,
    lambda make: [
        make.call(make(3, 2), make(3, 4), make(4, 2)),
        make.call(make(2), make(3, 4), make(4, 2), beta=0.5, alpha=-2.0),
        make.call(make(3, 1), make(3, 4), make(4, 2), beta=0),
        make.call(make(), make(3, 0), make(0, 2)),
        make.call(make.ints(3), make.ints(2, 2), make.ints(2, 3), beta=2),
    ],
)
_declare_add_product(
    "addmv",
    _addmv_args,
    lambda make: [
        make.call(make(3), make(3, 4), make(4)),
        make.call(make(1), make(3, 4), make(4), beta=0.5, alpha=3),
    ],
)
_declare_add_product(
    "baddbmm",
    _baddbmm_args,
    lambda make: [
        make.call(make(2, 3, 2), make(2, 3, 4), make(2, 4, 2)),
        make.call(make(3, 1), make(2, 3, 4), make(2, 4, 2), beta=0.5, alpha=-2.0),
    ],
)


def addbmm(
    input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1
) -> Tensor:
    """beta·input + alpha·Σ batch1 @ batch2, the sum over the batch as one long product."""
    require_rank("addbmm", batch1=(batch1, 3), batch2=(batch2, 3))
    require_equal_batches("addbmm", batch1, batch2)
    wide = batch_to_columns(recorded, batch1)
    tall = recorded.reshape(batch2, (prod(batch2.shape[:2]), batch2.shape[2]))
    return recorded.addmm(*_addmm_args(input, wide, tall, beta=beta, alpha=alpha))


def addr(input: Tensor, vec1: Tensor, vec2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """beta·input + alpha·(vec1 ⊗ vec2)"""
    require_rank("addr", vec1=(vec1, 1), vec2=(vec2, 1))
    common = dtypes.result_type(input, vec1, vec2)
    for label, factor in (("beta", beta), ("alpha", alpha)):
        _check_factor(label, factor, common)
    input, vec1, vec2 = (each.to(common) for each in (input, vec1, vec2))
    column, row = recorded.unsqueeze(vec1, -1), recorded.unsqueeze(vec2, 0)
    if common is dtypes.bool_:
        return (input & bool(beta)) | (column & row & bool(alpha))
    return recorded.addmm(*_addmm_args(input, column, row, beta=beta, alpha=alpha))


def _check_factor(label: str, factor: Any, dtype: dtypes.DType) -> None:
    cause = ""
    if isinstance(factor, bool) and dtype is not dtypes.bool_:
        cause = f"Boolean {label} only supported for Boolean results."
    elif isinstance(factor, (float, complex)) and dtype.category < dtypes.FLOAT:
        cause = f"For integral input tensors, argument {label} must not be a floating point number."
    if cause:
        raise fail(
            RuntimeError,
            call=f"addr({label}={factor}) in {dtype.name}",
            cause=cause,
            fix=f"pass a {label} of the tensors' kind",
        )


composite(
    addbmm,
    "y = β·input + α·Σₙ aₙ·bₙ",
    inplace=True,
    samples=lambda make: [
        make.call(make(3, 2), make(2, 3, 4), make(2, 4, 2)),
        make.call(make(2), make(2, 3, 4), make(2, 4, 2), beta=0.5, alpha=-2.0),
    ],
    autocast="lower",
)
composite(
    addr,
    "y = β·input + α·a⊗b",
    inplace=True,
    samples=lambda make: [
        make.call(make(3, 2), make(3), make(2)),
        make.call(make(2), make(3), make(2), beta=0.5, alpha=-2.0),
    ],
    autocast="keep",
)
