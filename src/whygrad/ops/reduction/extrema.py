"""The largest and the smallest element, and where they are."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from whygrad.errors import fail
from whygrad.ops.batching import shift, shift_dims
from whygrad.ops.define import define, public_form, table
from whygrad.ops.geometry import dims_or_all, normalize_dim
from whygrad.ops.public import return_types
from whygrad.ops.reduction.chosen import (
    INDEX,
    NO_ORDER,
    declare_along,
    declare_of_all,
    refuse_empty,
    share_among_tied,
    tied_average,
)
from whygrad.ops.reduction.shared import operand, reduced_shape, with_kept_dims
from whygrad.tensor import Tensor

Array = Any
Dims = tuple[int, ...]
Kernel = Callable[..., Array]


def _tied(xp: Any, x: Array, y: Array, dim: Dims, keepdim: bool) -> Array:
    return x == with_kept_dims(xp, y, x.shape, dim, keepdim)


def _declare_reduction(name: str, formula: str, reduce: Kernel) -> None:
    """amax, amin: over any dims; ties share the gradient."""

    def prepare(input: Any, dim: Any = (), keepdim: bool = False) -> Any:
        input = operand(input)
        dims = dims_or_all(dim, input.ndim, name)
        refuse_empty(name, input, dims, full=dim is None or dim == () or dim == [])
        return input, dims, keepdim

    def vjp(xp: Any, incoming: Array, x: Array, y: Array, dim: Dims, keepdim: bool) -> Array:
        incoming = with_kept_dims(xp, incoming, x.shape, dim, keepdim)
        return share_among_tied(xp, incoming, _tied(xp, x, y, dim, keepdim), x, dim)

    define(
        f"{name}(x; dim, keepdim)",
        formula,
        forward=lambda x, dim, keepdim: reduce(x, axis=dim, keepdims=keepdim),
        vjp={"x": vjp},
        jvp=lambda xp, tangents, x, y, dim, keepdim: tied_average(
            xp, tangents[0], _tied(xp, x, y, dim, keepdim), dim, keepdim
        ),
        kind="reduction",
        meta=lambda x, dim, keepdim: (reduced_shape(x.shape, dim, keepdim), x.dtype),
        batching=shift_dims("dim"),
        public=prepare,
        refuses=NO_ORDER,
        subgradient="tied elements share evenly",
        kinks={"x": (1.0,)},
        samples=lambda make: [
            make.call(make.distinct(3, 4)),
            make.call(make.distinct(3, 4), 1),
            make.call(make.distinct(2, 3, 4), (0, -1), keepdim=True),
            make.call(make.distinct(2, 3), ()),
            make.call(make()),
            make.call(make(3, 0), 0),
        ],
    )


_declare_reduction("amax", "y = max x over dim;  ∂y/∂x = 1 at the maximum", np.maximum.reduce)
_declare_reduction("amin", "y = min x over dim;  ∂y/∂x = 1 at the minimum", np.minimum.reduce)


def _both_vjp(
    xp: Any, incoming: Any, x: Array, low: Array, high: Array, dim: Dims, keepdim: bool
) -> Array:
    parts = []
    for gradient, y in zip(incoming, (low, high), strict=True):
        if gradient is not None:
            kept = with_kept_dims(xp, gradient, x.shape, dim, keepdim)
            parts.append(share_among_tied(xp, kept, _tied(xp, x, y, dim, keepdim), x, dim))
    return parts[0] if len(parts) == 1 else parts[0] + parts[1]


_aminmax = define(
    "aminmax(x; dim, keepdim)",
    "(min x, max x) over dim;  ∂y/∂x = 1 at the minimum and at the maximum",
    forward=lambda x, dim, keepdim: (
        np.minimum.reduce(x, axis=dim, keepdims=keepdim),
        np.maximum.reduce(x, axis=dim, keepdims=keepdim),
    ),
    vjp={"x": _both_vjp},
    jvp=lambda xp, tangents, x, low, high, dim, keepdim: tuple(
        tied_average(xp, tangents[0], _tied(xp, x, y, dim, keepdim), dim, keepdim)
        for y in (low, high)
    ),
    kind="reduction",
    outputs=("low", "high"),
    meta=lambda x, dim, keepdim: [(reduced_shape(x.shape, dim, keepdim), x.dtype)] * 2,
    batching=shift_dims("dim"),
    refuses=NO_ORDER,
    subgradient="tied elements share evenly",
    samples=lambda make: [
        make.call(make.distinct(3, 4)),
        make.call(make.distinct(3, 4), dim=1),
        make.call(make.distinct(3, 4), dim=-2, keepdim=True),
        make.call(make.distinct(3, 4), keepdim=True),
        make.call(make(), dim=0),
    ],
)


@public_form(_aminmax)
def aminmax(input: Any, *, dim: Any = None, keepdim: bool = False) -> Any:
    """The smallest and the largest element, as a named tuple ``(min, max)``."""
    input = operand(input)
    if dim is None:
        dims = tuple(range(input.ndim))
    else:
        axis = normalize_dim(dim, input.ndim, "aminmax")
        dims = (axis,) if input.ndim else ()
    refuse_empty("aminmax", input, dims, full=dim is None)
    return return_types.aminmax(*_aminmax.call(input, dims, keepdim))


def _declare_position(name: str, formula: str, find: Kernel) -> None:
    def prepare(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
        input = operand(input)
        axis = None if dim is None else normalize_dim(dim, input.ndim, name)
        dims = tuple(range(input.ndim)) if axis is None or not input.ndim else (axis,)
        refuse_empty(name, input, dims, full=dim is None)
        return input, axis if input.ndim else None, keepdim

    def batching(xp: Any, x: Array, dim: int | None, keepdim: bool, batch: int) -> Array:
        call = getattr(xp, name)
        if dim is not None:
            return call(x, shift(dim), keepdim)
        rank = x.ndim - 1
        flat = xp.reshape(x, (batch, prod(x.shape[1:])))
        return xp.reshape(call(flat, 1, False), (batch, *(1,) * rank * keepdim))

    define(
        f"{name}(x; dim, keepdim)",
        formula,
        forward=lambda x, dim, keepdim: np.asarray(find(x, axis=dim, keepdims=keepdim)),
        vjp=None,
        kind="reduction",
        meta=lambda x, dim, keepdim: (
            reduced_shape(x.shape, tuple(range(x.ndim)) if dim is None else (dim,), keepdim),
            INDEX,
        ),
        batching=batching,
        public=prepare,
        refuses=NO_ORDER,
        samples=lambda make: [
            make.call(make.distinct(3, 4)),
            make.call(make.distinct(3, 4), 1),
            make.call(make.distinct(3, 4), dim=-2, keepdim=True),
            make.call(make.distinct(3, 4), keepdim=True),
            make.call(make.ints(3, 4), 0),
            make.call(make(), 0),
        ],
    )


_declare_position("argmax", "y = position of the first maximum (along dim)", np.argmax)
_declare_position("argmin", "y = position of the first minimum (along dim)", np.argmin)


declare_of_all(
    "max",
    "y = max x;  ∂y/∂x = 1 at the maximum",
    np.max,
    batching=lambda xp, x: xp.amax(x, tuple(range(1, x.ndim)), False),
)
declare_of_all(
    "min",
    "y = min x;  ∂y/∂x = 1 at the minimum",
    np.min,
    batching=lambda xp, x: xp.amin(x, tuple(range(1, x.ndim)), False),
)


def _declare_overloaded(name: str, word: str, find: Kernel, elementwise: str) -> None:
    """max, min: of everything, along a dimension, or of two tensors."""
    op = declare_along(
        f"{name}(x; dim, keepdim)",
        f"values = {word} x along dim, at indices;  ∂values/∂x = 1 at indices",
        lambda x, dim: find(x, axis=dim, keepdims=True),
        subgradient="without dim tied elements share evenly; with dim the first one gets it all",
        samples=lambda make: [
            make.call(make.distinct(3, 4)),
            make.call(make.distinct(3, 4), 1),
            make.call(make.distinct(2, 3, 4), -2, keepdim=True),
            make.call(make.distinct(2, 3, 4), 0, True),
            make.call(make(), 0),
            make.call(make(3, 0), 0),
            make.call(make.ints(3, 4), 1),
            make.call(make.bools(3, 4), 1),
            make.call(make.distinct(3, 4), make.distinct(4) + 0.05),
            make.call(make.distinct(3, 4), other=make.distinct(3, 1) + 0.05),
        ],
    )
    result = getattr(return_types, name)

    @public_form(op)
    def overloaded(
        input: Any, dim: Any = None, keepdim: bool | None = None, *, other: Any = None
    ) -> Any:
        input = operand(input)
        if isinstance(dim, Tensor):
            dim, other = None, dim
        if other is not None:
            return table[elementwise].call(input, other)
        if dim is None:
            _refuse_keepdim(name, keepdim)
            refuse_empty(name, input, tuple(range(input.ndim)), full=True)
            return table[f"{name}_of_all"].call(input)
        axis = normalize_dim(dim, input.ndim, name)
        refuse_empty(name, input, (axis,) if input.ndim else (), full=False)
        return result(*op.call(input, axis, bool(keepdim)))

    overloaded.__doc__ = (
        f"``{name}(x)``: the {word}imum of all elements.  ``{name}(x, dim)``: along a dimension, "
        f"as ``(values, indices)``.  ``{name}(x, other)``: the larger or smaller of each pair."
    )


def _refuse_keepdim(name: str, keepdim: bool | None) -> None:
    if keepdim is not None:
        raise fail(
            TypeError,
            call=f"{name}(keepdim={keepdim}) without dim",
            cause="invalid combination of arguments: keepdim belongs to the form with dim",
            fix=f"pass dim as well, or use a{name}(x, keepdim={keepdim})",
        )


_declare_overloaded("max", "max", np.argmax, "maximum")
_declare_overloaded("min", "min", np.argmin, "minimum")
