"""Many numbers into fewer: sums, products and questions about all elements."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from whygrad.errors import describe, fail
from whygrad.ops.batching import shift, shift_dims
from whygrad.ops.define import composite, define, table
from whygrad.ops.geometry import dims_or_all, normalize_dim
from whygrad.ops.reduction.shared import (
    count,
    operand,
    reduced_meta,
    reduced_shape,
    require_float,
    spread,
    widened,
    with_kept_dims,
)
from whygrad.ops.totals import add_up
from whygrad.ops.undefined import Undefined, from_nothing
from whygrad.tensor import Tensor, dtypes

Array = Any
Dims = tuple[int, ...]
Shape = tuple[int, ...]


def _sum_args(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    input = widened(input, dtype)
    return input, dims_or_all(dim, input.ndim, "sum"), keepdim


define(
    "sum(x; dim, keepdim)",
    "y = Σ x over dim;  ∂y/∂x = 1",
    forward=add_up,
    vjp={
        "x": lambda xp, incoming, x_shape, dim, keepdim: spread(xp, incoming, x_shape, dim, keepdim)
    },
    kind="reduction",
    linear=True,
    meta=reduced_meta,
    batching=shift_dims("dim"),
    public=_sum_args,
    samples=lambda make: [
        make.call(make(3, 4)),
        make.call(make(3, 4), 1),
        make.call(make(2, 3, 4), (0, -1), keepdim=True),
        make.call(make(2, 3), []),
        make.call(make()),
        make.call(make(), 0),
        make.call(make(0, 3), 0),
        make.call(make(2, 3), -1, True, dtype=dtypes.float64),
        make.call(make.ints(2, 3).astype("int32"), 0),
        make.call(make.bools(2, 3)),
    ],
)


def _mean_args(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    cause = (
        "mean(): could not infer output dtype. Input dtype must be either a floating point or "
        "complex dtype"
    )
    input = require_float("mean", input, dtype, cause)
    return input, dims_or_all(dim, input.ndim, "mean"), keepdim


define(
    "mean(x; dim, keepdim)",
    "y = Σ x / n over dim;  ∂y/∂x = 1/n",
    undefined=(
        Undefined(from_nothing, "the mean of no elements", "check for an empty tensor first"),
    ),
    forward=lambda x, dim, keepdim: np.true_divide(
        add_up(x, dim, keepdim), count(x.shape, dim), dtype=x.dtype
    ),
    vjp={
        "x": lambda xp, incoming, x_shape, dim, keepdim: spread(
            xp, incoming / count(x_shape, dim), x_shape, dim, keepdim
        )
    },
    kind="reduction",
    linear=True,
    meta=reduced_meta,
    batching=shift_dims("dim"),
    public=_mean_args,
    samples=lambda make: [
        make.call(make(3, 4)),
        make.call(make(3, 4), 1),
        make.call(make(2, 3, 4), (0, -1), keepdim=True),
        make.call(make()),
        make.call(make(2, 0, 3), -1),
        make.call(make.constant(make(2, 0)), 1),
        make.call(make(2, 3), dtype=dtypes.float64),
    ],
)


def _product_of_others(xp: Any, x: Array, dim: Dims) -> Array:
    """Π of all elements but one, for each; no division, so zeros are as good as any number."""
    shape = x.shape
    if len(dim) == 1:
        axis = dim[0]
    else:
        x, axis = xp.reshape(x, (-1,)), 0
    before = xp.shift(xp.cumprod(x, axis), axis, 1, 1.0)
    after = xp.shift(xp.cumprod(xp.flip(x, (axis,)), axis), axis, 1, 1.0)
    return xp.reshape(before * xp.flip(after, (axis,)), shape)


def _prod_args(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    input = widened(input, dtype)
    if dim is None:
        return input, tuple(range(input.ndim)), keepdim
    return input, (normalize_dim(dim, input.ndim, "prod"),) if input.ndim else (), keepdim


def _prod_of_batch(xp: Any, x: Array, dim: Dims, keepdim: bool, batch: int) -> Array:
    if len(dim) == 1:
        return xp.prod(x, shift(dim), keepdim)
    shape = x.shape[1:]  # of a sample, all of which is multiplied up
    flat = xp.reshape(x, (batch, math.prod(shape)))
    return xp.reshape(xp.prod(flat, (1,), False), (batch, *(1,) * len(shape) * keepdim))


define(
    "prod(x; dim, keepdim)",
    "y = Π x over dim;  ∂y/∂x_j = Π_{k≠j} x_k",
    complex_rule="holomorphic",
    forward=lambda x, dim, keepdim: np.multiply.reduce(
        x, axis=dim, dtype=x.dtype, keepdims=keepdim
    ),
    vjp={
        "x": lambda xp, incoming, x, dim, keepdim: (
            with_kept_dims(xp, incoming, x.shape, dim, keepdim) * _product_of_others(xp, x, dim)
            if x.ndim
            else incoming
        )
    },
    jvp=lambda xp, tangents, x, dim, keepdim: xp.sum(
        _product_of_others(xp, x, dim) * tangents[0], dim, keepdim
    ),
    kind="reduction",
    meta=reduced_meta,
    batching=_prod_of_batch,
    public=_prod_args,
    notes="the rule multiplies prefix and suffix products instead of dividing y by x",
    samples=lambda make: [
        make.call(make(3, 4)),
        make.call(make(3, 4), 1),
        make.call(make(2, 3, 2), -2, keepdim=True),
        make.call(make()),
        make.call(make(1), 0),
        make.call(make(0, 3), 0),
        make.call(np.array([2.0, 0.0, 3.0])),
        make.call(np.array([[2.0, 0.0, 3.0], [0.0, 5.0, 0.0], [0.0, 0.0, 0.0]]), 1),
        make.call(make.ints(2, 3).astype("int32"), 0),
    ],
    autocast="float32",
)


def _without_nan(x: Array) -> Array:
    return np.where(np.isnan(x), 0, x) if x.dtype.kind in "fc" else x


def _nansum_args(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    input, chosen = operand(input), None if dtype is None else dtypes.of(dtype)
    is_float = input.dtype.is_floating_point
    if input.dtype.is_complex or (is_float and chosen is not None and chosen.is_complex):
        raise fail(
            RuntimeError if input.dtype.is_complex else NotImplementedError,
            call=f"nansum(dtype={chosen}) of {describe(input)}",
            cause="nansum does not support complex numbers",
            fix="replace NaN first: x.nan_to_num(0.0).sum()",
        )
    if is_float and chosen is not None and chosen.category < dtypes.FLOAT:
        input = table["nan_to_num"].public(input, 0.0, math.inf, -math.inf)  # no integer is NaN
    input = widened(input, dtype)
    return input, dims_or_all(dim, input.ndim, "nansum"), keepdim


def _some_nan(array: Array) -> Array:
    array[..., 0] = np.nan
    return array


define(
    "nansum(x; dim, keepdim)",
    "y = Σ x over dim, NaN counted as 0;  ∂y/∂x = 1, or 0 where x is NaN",
    forward=lambda x, dim, keepdim: add_up(_without_nan(x), dim, keepdim),
    vjp={
        "x": lambda xp, incoming, x, dim, keepdim: (
            spread(xp, incoming, x.shape, dim, keepdim) * (x == x)
        )
    },
    jvp=lambda xp, tangents, x, dim, keepdim: xp.sum(tangents[0] * (x == x), dim, keepdim),
    kind="reduction",
    meta=reduced_meta,
    batching=shift_dims("dim"),
    public=_nansum_args,
    samples=lambda make: [
        make.call(make(3, 4)),
        make.call(make.constant(_some_nan(make(3, 4))), 0),
        make.call(make(3, 4), (0, 1), True),
        make.call(make()),
        make.call(make.ints(3)),
    ],
)


def nanmean(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The mean of the elements that are not NaN."""
    input = require_float(
        "nanmean", input, None, "nanmean(): expected input to have floating point or complex dtype"
    )
    cause = "nanmean(): could not infer output dtype. It must be a floating point or complex dtype"
    if dtype is not None and dtypes.of(dtype).category < dtypes.FLOAT:
        require_float("nanmean", input, dtype, cause)
    present = input.detach()
    return input.nansum(dim, keepdim, dtype=dtype) / (present == present).sum(dim, keepdim)


composite(
    nanmean,
    "y = Σ x / n over the elements that are not NaN",
    samples=lambda make: [
        make.call(make(3, 4)),
        make.call(make.constant(_some_nan(make(3, 4))), 1, keepdim=True),
        make.call(make(2, 3), 0),
    ],
)


def _kept_by_uint8(reduce: Any) -> Any:
    """PyTorch answers in bool, except for uint8, its older boolean."""

    def kernel(x: Array, dim: Dims, keepdim: bool) -> Array:
        answer = reduce(x, axis=dim, keepdims=keepdim)
        return answer.astype(x.dtype) if x.dtype == np.uint8 else answer

    return kernel


def _declare_question(name: str, formula: str, reduce: Any) -> None:
    def prepare(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
        input = operand(input)
        if isinstance(dim, (tuple, list)) and not dim:
            return input, (), keepdim
        return input, dims_or_all(dim, input.ndim, name), keepdim

    define(
        f"{name}(x; dim, keepdim)",
        formula,
        forward=_kept_by_uint8(reduce),
        vjp=None,
        kind="reduction",
        meta=lambda x, dim, keepdim: (
            reduced_shape(x.shape, dim, keepdim),
            x.dtype if x.dtype == np.uint8 else np.bool_,
        ),
        batching=shift_dims("dim"),
        public=prepare,
        samples=lambda make: [
            make.call(make.bools(3, 4)),
            make.call(make.bools(3, 4), 1),
            make.call(make.bools(3, 4), (0, -1), keepdim=True),
            make.call(make.bools(3, 4), ()),
            make.call(make(3)),
            make.call(make.ints(2, 3, high=2), 0),
            make.call(make.ints(3, high=2).astype("uint8")),
            make.call(make.bools(0, 3), 0),
            make.call(make.bools()),
        ],
    )


_declare_question("all", "y = whether every element over dim is nonzero", np.logical_and.reduce)
_declare_question("any", "y = whether some element over dim is nonzero", np.logical_or.reduce)


def _count_nonzero_args(input: Any, dim: Any = None) -> Any:
    input = operand(input)
    return input, dims_or_all(dim, input.ndim, "count_nonzero")


define(
    "count_nonzero(x; dim)",
    "y = how many elements over dim are not 0",
    forward=lambda x, dim: np.add.reduce(x != 0, axis=dim, dtype=np.int64),
    vjp=None,
    kind="reduction",
    meta=lambda x, dim: (reduced_shape(x.shape, dim, False), np.int64),
    batching=shift_dims("dim"),
    public=_count_nonzero_args,
    samples=lambda make: [
        make.call(make.ints(3, 4, high=2)),
        make.call(make.ints(3, 4, high=2), 1),
        make.call(make.bools(2, 3, 2), (0, -1)),
        make.call(make(3)),
        make.call(make.ints(0, 3), 0),
    ],
)


def _logsumexp(x: Array, dim: Dims, keepdim: bool) -> Array:
    # of complex numbers the real part says how large exp is
    highest = np.maximum.reduce(x.real, axis=dim, keepdims=True, initial=-np.inf)
    highest = np.where(np.isfinite(highest), highest, 0)  # ±inf − ±inf would be NaN
    y = np.log(add_up(np.exp(x - highest), dim, True)) + highest
    return y if keepdim else y.reshape(reduced_shape(x.shape, dim, False))


def _softmax_of(xp: Any, x: Array, y: Array, dim: Dims, keepdim: bool) -> Array:
    return xp.exp(x - with_kept_dims(xp, y, x.shape, dim, keepdim))


def _logsumexp_args(input: Any, dim: Any, keepdim: bool = False) -> Any:
    input = operand(input)
    return input, dims_or_all(dim, input.ndim, "logsumexp"), keepdim


define(
    "logsumexp(x; dim, keepdim)",
    "y = log Σ exp x over dim, computed without overflow;  ∂y/∂x = exp(x − y)",
    complex_rule="holomorphic",
    forward=_logsumexp,
    vjp={
        "x": lambda xp, incoming, x, y, dim, keepdim: (
            with_kept_dims(xp, incoming, x.shape, dim, keepdim)
            * _softmax_of(xp, x, y, dim, keepdim)
        )
    },
    jvp=lambda xp, tangents, x, y, dim, keepdim: xp.sum(
        tangents[0] * _softmax_of(xp, x, y, dim, keepdim), dim, keepdim
    ),
    kind="reduction",
    promote="float",
    meta=reduced_meta,
    batching=shift_dims("dim"),
    public=_logsumexp_args,
    samples=lambda make: [
        make.call(make(3, 4), 1),
        make.call(make(2, 3, 4), (0, -1), keepdim=True),
        make.call(make(3, 4) + 1000.0, -1),
        make.call(make(), 0),
        make.call(make(0, 3), 0),
        make.call(make.ints(2, 3), 0),
        make.call(np.array([-np.inf, 1.0, 2.0]), 0),
    ],
)
