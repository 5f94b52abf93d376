"""Combining everything that an index sends to the same place: products, extremes, means."""

from __future__ import annotations

from typing import Any

import numpy as np

from whygrad.errors import describe, fail
from whygrad.ops.batching import leading_dims, shift_dims
from whygrad.ops.define import composite, define, table
from whygrad.ops.indexing.scatter import accumulating, same_as_input, with_source
from whygrad.ops.namespace import raw
from whygrad.tensor import Tensor, dtypes

Array = Any


def _others(x: Array, index: Array, source: Array, dim: int) -> Array:
    """For each element of ``source``, the product of everything else that meets it."""
    zero = source == 0
    is_zero = np.where(zero, np.ones_like(source), 0)
    zeros = raw.gather(raw.scatter_add(np.zeros_like(x), index, is_zero, dim), index, dim)
    safe = np.where(zero, np.ones_like(source), source)
    product = raw.gather(raw.scatter_prod(x, index, safe, dim), index, dim)
    return np.where(zeros == is_zero, product / safe, np.zeros_like(source))


def _factors(x: Array) -> Array:
    if not x.all():
        raise fail(
            RuntimeError,
            call="the second derivative of scatter_reduce(…, reduce='prod')",
            cause="a factor is 0, and the product of all factors but two is not computed there",
            fix="write the product with index_select and prod(), which handle zeros at every order",
        )
    return x.copy()


define(
    "nonzero_factors(x)",
    "y = x, refused if any element is 0",
    forward=_factors,
    vjp={"x": lambda xp, incoming: incoming},
    jvp=lambda xp, tangents: tangents[0],
    meta=lambda x: (x.shape, x.dtype),
    batching=leading_dims,
    internal=True,
    samples=lambda make: [make.call(make(3, low=0.5, high=2.0))],
)


def _others_source_rule(
    xp: Any, incoming: Array, index: Array, source: Array, y: Array, x_shape: Any, dim: int
) -> Array:
    weighted = incoming * y
    met = xp.scatter_add(xp.new_zeros(weighted, x_shape), index, weighted, dim)
    return (xp.gather(met, index, dim) - weighted) / xp.nonzero_factors(source)


def _others_x_rule(
    xp: Any, incoming: Array, index: Array, source: Array, x_shape: Any, dim: int
) -> Array:
    nothing = xp.new_zeros(source, x_shape)
    others = xp.scatter_others(xp.ones_like(nothing), index, source, dim)
    return xp.scatter_add(nothing, index, incoming * others, dim)


def _others_jvp(
    xp: Any, tangents: tuple[Array, ...], x: Array, index: Array, source: Array, y: Array, dim: int
) -> Array:
    from_x, _, from_source = tangents
    total = xp.zeros_like(y)
    if from_x is not None:
        others = xp.scatter_others(xp.ones_like(x), index, source, dim)
        total = total + xp.gather(from_x, index, dim) * others
    if from_source is not None:
        relative = from_source / xp.nonzero_factors(source)
        met = xp.gather(xp.scatter_add(xp.zeros_like(x), index, relative, dim), index, dim)
        total = total + y * (met - relative)
    return total


define(
    "scatter_others(x, index, source; dim)",
    "y = for each element of source, x times all others that index sends to the same place;  "
    "∂source = Σ incoming · (product of all but two)",
    forward=_others,
    vjp={"x": _others_x_rule, "source": _others_source_rule},
    jvp=_others_jvp,
    meta=lambda x, index, source, dim: (source.shape, source.dtype),
    batching=shift_dims("dim"),
    notes="Differentiating it where source holds a 0 is refused.",
    internal=True,
    samples=lambda make: [
        make.call(make(3, 4), make.ints(3, 3, high=4), make(3, 3, low=0.5, high=2.0), 1),
        make.call(make(3), np.array([0, 0, 1]), make(3, low=-2.0, high=-0.5), 0),
    ],
)


def _scatter_prod_jvp(
    xp: Any, tangents: tuple[Array, ...], x: Array, index: Array, source: Array, dim: int
) -> Array:
    from_x, _, from_source = tangents
    total = xp.zeros_like(x)
    if from_x is not None:
        total = from_x * xp.scatter_prod(xp.ones_like(x), index, source, dim)
    if from_source is not None:
        moved = from_source * xp.scatter_others(x, index, source, dim)
        total = xp.scatter_add(total, index, moved, dim)
    return total


define(
    "scatter_prod(x, index, source; dim)",
    "y = x multiplied by source at index along dim;  ∂x = incoming · Π source,  "
    "∂source = incoming · product of the others",
    forward=accumulating("scatter_prod", np.multiply),
    vjp={
        "x": lambda xp, incoming, x, index, source, dim: (
            incoming * xp.scatter_prod(xp.ones_like(x), index, source, dim)
        ),
        "source": lambda xp, incoming, x, index, source, dim: (
            xp.gather(incoming, index, dim) * xp.scatter_others(x, index, source, dim)
        ),
    },
    jvp=_scatter_prod_jvp,
    flat=("x",),
    meta=same_as_input,
    batching=shift_dims("dim"),
    notes="A second derivative is refused where source holds a 0.",
    internal=True,
    samples=lambda make: [
        make.call(make(3, 4), make.ints(3, 3, high=4), make(3, 3), 1),
        make.call(make(3), np.array([0, 0, 1]), make(3), 0),
    ],
)


def _tied(xp: Any, x: Array, index: Array, source: Array, y: Array, dim: int) -> Any:
    """Where x and source equal the winner, as 0 and 1, and how many share it."""
    from_x = xp.where(x == y, xp.ones_like(x), 0.0)
    from_source = xp.where(source == xp.gather(y, index, dim), xp.ones_like(source), 0.0)
    return from_x, from_source, xp.scatter_add(from_x, index, from_source, dim)


def _extreme_rule(
    xp: Any, incoming: Array, x: Array, index: Array, source: Array, y: Array, dim: int
) -> tuple[Array, None, Array]:
    from_x, from_source, count = _tied(xp, x, index, source, y, dim)
    share = incoming / count
    return from_x * share, None, from_source * xp.gather(share, index, dim)


def _extreme_jvp(
    xp: Any,
    tangents: tuple[Array, ...],
    x: Array,
    index: Array,
    source: Array,
    y: Array,
    dim: int,
) -> Array:
    from_x, from_source, count = _tied(xp, x, index, source, y, dim)
    total = xp.zeros_like(x) if tangents[0] is None else from_x * tangents[0]
    if tangents[2] is not None:
        total = xp.scatter_add(total, index, from_source * tangents[2], dim)
    return total / count


for _name, _ufunc, _word in (
    ("scatter_amax", np.maximum, "largest"),
    ("scatter_amin", np.minimum, "smallest"),
):
    define(
        f"{_name}(x, index, source; dim)",
        f"y = the {_word} of x and what source brings to index along dim;  "
        "∂ = incoming to the winner",
        forward=accumulating(_name, _ufunc),
        vjp=_extreme_rule,
        jvp=_extreme_jvp,
        meta=same_as_input,
        batching=shift_dims("dim"),
        subgradient="shared equally among ties",
        internal=True,
        torch="",
        samples=lambda make: [
            make.call(make.distinct(3, 4), make.ints(3, 3, high=4), make.distinct(3, 3), 1),
            make.call(make.distinct(3), make.ints(4, high=3), make.distinct(4, gap=0.13), 0),
        ],
    )

_REDUCTIONS = {
    "sum": "scatter_add",
    "mean": "scatter_add",
    "prod": "scatter_prod",
    "amax": "scatter_amax",
    "amin": "scatter_amin",
}


def scatter_reduce(
    input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    """Combine ``input`` with everything in ``src`` that ``index`` sends to the same place."""
    if reduce not in _REDUCTIONS:
        raise fail(
            RuntimeError,
            call=f"scatter_reduce({describe(input)}, …, reduce={reduce!r})",
            cause=f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}",
            fix="choose one of these",
        )
    base, index, src, dim = with_source("scatter_reduce", input, dim, index, src)
    if not include_self:
        base = table["scatter"].call(base, index, _identity(reduce, input.dtype), dim)
    result: Tensor = table[_REDUCTIONS[reduce]].call(base, index, src, dim)
    if reduce == "mean":
        start = input.new_full(input.shape, int(include_self))
        ones = src.new_full(src.shape, 1)
        count = table["scatter_add"].call(start, index, ones, dim)
        count = table["where"].call(count == 0, 1, count)
        whole = input.dtype.category <= dtypes.INTEGER
        return result // count if whole else result / count
    return result


def _identity(reduce: str, dtype: dtypes.DType) -> Any:
    """The number that leaves the reduction as it is."""
    if reduce in ("sum", "mean", "prod"):
        return int(reduce == "prod")
    if dtype.is_floating_point:
        return -np.inf if reduce == "amax" else np.inf
    if dtype is dtypes.bool_:
        return reduce == "amin"
    limits = dtypes.iinfo(dtype)
    return int(limits.min if reduce == "amax" else limits.max)


def _sample(make: Any) -> Any:
    return make.distinct(3, 4), 1, make.ints(3, 5, high=4), make.distinct(3, 5, gap=0.13)


composite(
    scatter_reduce,
    "y = input combined with src at index along dim: sum, mean, prod, amax or amin",
    inplace=True,
    notes="With include_self=False the input takes no part in ties of amax and amin; PyTorch "
    "lets it keep a share of the gradient all the same.",
    samples=lambda make: [
        make.call(*_sample(make), reduce, include_self=include)
        for reduce in _REDUCTIONS
        for include in (True, False)
    ],
)
