"""How far numbers lie from their mean (var, std) or from zero (norm)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from whygrad.errors import describe, fail
from whygrad.ops.batching import shift_dims
from whygrad.ops.complex_numbers import is_complex, real_product
from whygrad.ops.define import define, table
from whygrad.ops.geometry import dims_or_all
from whygrad.ops.reduction import sums  # noqa: F401  (declares mean)
from whygrad.ops.reduction.shared import count, reduced_shape, require_float, with_kept_dims
from whygrad.ops.totals import add_up, equal_lanes, mean_and_deviation
from whygrad.ops.undefined import SPREAD
from whygrad.tensor import Tensor, dtypes

Array = Any
Dims = tuple[int, ...]

# NumPy's stubs want to know keepdims before the program runs.
_largest: Any = np.maximum.reduce
_smallest: Any = np.minimum.reduce


def _var(x: Array, dim: Dims, correction: float, keepdim: bool) -> Array:
    size = count(x.shape, dim)
    mean = add_up(x, dim, True)
    mean /= size
    deviation = x - mean
    squares = np.square(deviation) if x.dtype.kind == "f" else np.abs(deviation) ** 2
    total = add_up(squares, dim, True)
    equal = equal_lanes(x, mean, total, dim, size)
    if equal is not None:
        total = np.where(equal, 0.0, total)  # without dimensions it is a number
    total /= max(size - correction, 0)
    return total if keepdim else total.reshape(reduced_shape(x.shape, dim, False))


define(
    "deviation(x; dim)",
    "y = x − mean(x) over dim, and 0 where all are equal;  ∂x = incoming − mean(incoming)",
    forward=lambda x, dim: mean_and_deviation(x, dim)[1],
    vjp={"x": lambda xp, incoming, dim: xp.deviation(incoming, dim)},
    linear=True,
    meta=lambda x, dim: (x.shape, x.dtype),
    batching=shift_dims("dim"),
    internal=True,
    samples=lambda make: [
        make.call(make(3, 4), (1,)),
        make.call(make(2, 3, 4), (0, 2)),
        make.call(make(), ()),
        make.call(make(0, 3), (0,)),
    ],
)


def _pull(xp: Any, x: Array, dim: Dims, correction: float) -> Array:
    """∂var/∂x; with too few samples every direction is infinitely (or not at all) steep."""
    freedom = count(x.shape, dim) - correction
    deviation = xp.deviation(x, dim)
    if freedom > 0:
        return 2.0 / freedom * deviation
    return math.inf * (deviation * deviation)


def _var_meta(x: Array, dim: Dims, correction: float, keepdim: bool) -> Any:
    return reduced_shape(x.shape, dim, keepdim), x.dtype if x.dtype.kind == "f" else x.real.dtype


def _var_args(name: str) -> Any:
    """PyTorch's three forms: ``(unbiased)``, ``(dim, unbiased)`` and ``(dim, correction=)``."""

    def prepare(
        input: Any,
        dim: Any = None,
        unbiased: bool | None = None,
        keepdim: bool = False,
        *,
        correction: float | None = None,
    ) -> Any:
        if isinstance(dim, bool):
            dim, unbiased = None, dim
        if unbiased is not None and correction is not None:
            raise fail(
                TypeError,
                call=f"{name}(unbiased={unbiased}, correction={correction})",
                cause="invalid combination of arguments: both say what to subtract from n",
                fix="pass correction alone: unbiased=True is correction=1, unbiased=False is 0",
            )
        if correction is None:
            correction = 0 if unbiased is False else 1
        cause = "std and var only support floating point and complex dtypes"
        input = require_float(name, input, None, cause)
        return input, dims_or_all(dim, input.ndim, name), correction, keepdim

    return prepare


def _var_samples(make: Any) -> Any:
    return [
        make.call(make(3, 4)),
        make.call(make(3, 4), 1),
        make.call(make(2, 3, 4), (0, -1), keepdim=True),
        make.call(make(3, 4), False),
        make.call(make(3, 4), 0, False, True),
        make.call(make(3, 4), 0, correction=2),
        make.call(make(3, 4), correction=0.5),
        make.call(make(3, 4), unbiased=False),
    ]


define(
    "var(x; dim, correction, keepdim)",
    "y = Σ (x − mean)² / (n − correction);  ∂y/∂x = 2 (x − mean) / (n − correction)",
    undefined=SPREAD,
    forward=_var,
    vjp={
        "x": lambda xp, incoming, x, dim, correction, keepdim: (
            with_kept_dims(xp, incoming, x.shape, dim, keepdim) * _pull(xp, x, dim, correction)
        )
    },
    jvp=lambda xp, tangents, x, dim, correction, keepdim: xp.sum(
        real_product(xp, tangents[0], _pull(xp, x, dim, correction)), dim, keepdim
    ),
    complex_rule="own",
    kind="reduction",
    meta=_var_meta,
    batching=shift_dims("dim"),
    public=_var_args("var"),
    samples=_var_samples,
)


define(
    "std(x; dim, correction, keepdim)",
    "y = √var(x);  ∂y/∂x = (x − mean) / ((n − correction)·y)",
    undefined=SPREAD,
    forward=lambda x, dim, correction, keepdim: np.sqrt(_var(x, dim, correction, keepdim)),
    vjp={
        "x": lambda xp, incoming, x, y, dim, correction, keepdim: (
            with_kept_dims(xp, xp.div_or_zero(0.5 * incoming, y), x.shape, dim, keepdim)
            * _pull(xp, x, dim, correction)
        )
    },
    jvp=lambda xp, tangents, x, y, dim, correction, keepdim: xp.div_or_zero(
        xp.sum(real_product(xp, tangents[0], _pull(xp, x, dim, correction)), dim, keepdim), 2.0 * y
    ),
    complex_rule="own",
    kind="reduction",
    meta=_var_meta,
    batching=shift_dims("dim"),
    public=_var_args("std"),
    subgradient="0 where all elements are equal",
    kinks={"x": (1.0,)},
    samples=_var_samples,
)


def _declare_with_mean(name: str, formula: str) -> None:
    """``{name}_mean``: one op and one node, made of the rows of its halves."""
    spread, mean = table[name], table["mean"]
    has_value = "y" in spread.saves()

    def pull(
        xp: Any, incoming: Any, *saved: Array, dim: Dims, correction: float, keepdim: bool
    ) -> Array:
        of_spread, of_mean = incoming
        parts = []
        if of_spread is not None:
            parts.append(spread.vjp["x"](xp, of_spread, *saved, dim, correction, keepdim))  # type: ignore[index]
        if of_mean is not None:
            parts.append(mean.vjp["x"](xp, of_mean, saved[0].shape, dim, keepdim))  # type: ignore[index]
        return parts[0] if len(parts) == 1 else parts[0] + parts[1]

    def push(
        xp: Any, tangents: Any, *saved: Array, dim: Dims, correction: float, keepdim: bool
    ) -> tuple[Array, Array]:
        assert spread.jvp is not None
        of_spread = spread.jvp(xp, tangents, *saved, dim, correction, keepdim)
        return of_spread, xp.mean(tangents[0], dim, keepdim)

    def rule(way: Any) -> Any:
        """With the names of what ``name`` saves: what is not named may be written over."""
        if has_value:
            return lambda xp, given, x, y, dim, correction, keepdim: way(
                xp, given, x, y, dim=dim, correction=correction, keepdim=keepdim
            )
        return lambda xp, given, x, dim, correction, keepdim: way(
            xp, given, x, dim=dim, correction=correction, keepdim=keepdim
        )

    def meta(x: Array, dim: Dims, correction: float, keepdim: bool) -> list[Any]:
        shape, dtype = _var_meta(x, dim, correction, keepdim)
        return [(shape, dtype), (shape, x.dtype)]

    def prepare(*args: Any, **kwargs: Any) -> Any:
        return _var_args(name)(*args, **kwargs)

    prepare.__doc__ = f"``{name}`` and mean, of which the first takes its arguments."
    define(
        f"{name}_mean(x; dim, correction, keepdim)",
        formula,
        forward=lambda x, dim, correction, keepdim: (
            spread.forward(x, dim, correction, keepdim),
            mean.forward(x, dim, keepdim),
        ),
        vjp={"x": rule(pull)},
        jvp=rule(push),
        complex_rule="own",
        kind="reduction",
        outputs=("y", "mean"),
        meta=meta,
        batching=shift_dims("dim"),
        public=prepare,
        subgradient=spread.subgradient,
        method=False,
        samples=_var_samples,
    )


_declare_with_mean("var", "(var x, mean x)")
_declare_with_mean("std", "(std x, mean x)")


def vector_lengths(x: Array, p: float, dim: Dims, keepdim: bool) -> Array:
    if p == 2 and x.dtype.kind == "f":
        return np.sqrt(add_up(np.square(x), dim, keepdim))
    size = np.abs(x)
    if p == 0:
        return add_up((size != 0).astype(size.dtype), dim, keepdim)
    if p == 1:
        return add_up(size, dim, keepdim)
    if math.isinf(p):
        return (_largest if p > 0 else _smallest)(size, axis=dim, keepdims=keepdim)
    return add_up(size**p, dim, keepdim) ** (1 / p)


def _norm_slope(xp: Any, x: Array, y: Array, p: float, dim: Dims) -> Array:
    """∂y/∂x; ``y`` has kept its dims.  Zero, at every order, where a power of zero is infinite."""
    sign = xp.sgn if is_complex(x) else xp.sign
    if p == 1:
        return sign(x)
    if p == 2:
        return xp.div_or_zero(x, y)
    if math.isinf(p):
        tied = (xp.abs(x) == y) * xp.ones_like(x)
        return sign(x) * tied / xp.sum(tied, dim, True)
    return sign(x) * _power_or_zero(xp, xp.abs(x), p - 1) * _power_or_zero(xp, y, 1 - p)


def _power_or_zero(xp: Any, base: Array, exponent: float) -> Array:
    zero = base == 0
    return xp.where(zero, 0.0, xp.where(zero, 1.0, base) ** exponent)


def _norm_vjp(
    xp: Any, incoming: Array, x: Array, y: Array, p: float, dim: Dims, keepdim: bool
) -> Array | None:
    if p == 0:
        return None
    y = with_kept_dims(xp, y, x.shape, dim, keepdim)
    incoming = with_kept_dims(xp, incoming, x.shape, dim, keepdim)
    return incoming * _norm_slope(xp, x, y, p, dim)


def _norm_jvp(
    xp: Any, tangents: Any, x: Array, y: Array, p: float, dim: Dims, keepdim: bool
) -> Array:
    if p == 0:
        return xp.zeros_like(y)
    kept = with_kept_dims(xp, y, x.shape, dim, keepdim)
    slope = _norm_slope(xp, x, kept, p, dim)
    return xp.sum(real_product(xp, tangents[0], slope), dim, keepdim)


def _norm_args(
    input: Any, p: Any = "fro", dim: Any = None, keepdim: bool = False, dtype: Any = None
) -> Any:
    cause = "linalg.vector_norm: Expected a floating point or complex tensor as input"
    input = in_norm_dtype("linalg.vector_norm", require_float("norm", input, None, cause), dtype)
    if p is None or p == "fro":
        p = 2.0
    if isinstance(p, str):
        planes = (-2, -1) if dim is None else dim
        return table["linalg_matrix_norm"].public(input, p, planes, keepdim)
    dim = dims_or_all(dim, input.ndim, "norm")
    if (p < 0 or math.isinf(p)) and not count(input.shape, dim):
        raise fail(
            RuntimeError,
            call=f"norm(p={p}, dim={dim}) of {describe(input)}",
            cause=f"cannot compute the {p} norm on an empty tensor because the operation does "
            "not have an identity",
            fix="skip empty batches, or reduce over another dimension",
        )
    if p and count(input.shape, dim) == 1:
        p = 1.0  # every norm of one number is its size; only this one has no square to underflow
    return input, float(p), dim, keepdim


define(
    "norm(x; p, dim, keepdim)",
    "y = (Σ |x|ᵖ)^(1/p);  ∂y/∂x = sign x·|x|ᵖ⁻¹·y^(1−p)",
    forward=vector_lengths,
    vjp={"x": _norm_vjp},
    jvp=_norm_jvp,
    complex_rule="own",
    kind="reduction",
    meta=lambda x, p, dim, keepdim: _var_meta(x, dim, 0, keepdim),
    batching=shift_dims("dim"),
    public=_norm_args,
    subgradient="0 at x = 0; for p = ±inf the elements that attain it share evenly",
    kinks={"x": (0.0,)},
    samples=lambda make: [
        make.call(make(3, 4)),
        make.call(make(3, 4), dim=1),
        make.call(make(2, 3, 4), "fro", (0, -1), keepdim=True),
        make.call(make(3, 4), 1, 0),
        make.call(make(3, 4), 3, 1),
        make.call(make(3, 4), 1.5, -1, True),
        make.call(make(3, 4), 0.5, 1),
        make.call(make(3, 4), float("inf"), 1),
        make.call(make(3, 4), -float("inf"), 0),
        make.call(make()),
        make.call(make(0, 3), 2, 0),
    ],
)


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
